package kernel

import "encoding/binary"

// vnetSize is the length of the header that stands before each packet of a
// device (struct virtio_net_hdr, virtio 1.3, section 5.1.6; linux/if_tun.h,
// IFF_VNET_HDR).
const vnetSize = 10

// The flags and types of that header that are used here.
const (
	needsChecksum = 1 // its sender left the transport checksum to the card

	gsoNone = 0
	gsoTCP4 = 1
	gsoTCP6 = 4
	gsoUDP  = 5    // UDP, cut into datagrams (USO), not into fragments (UFO)
	gsoECN  = 0x80 // TCP with the flag CWR, which only the first packet keeps
)

// vnet is the header. A packet with a type other than gsoNone is a
// super-packet: the sender left it to the card to cut it into wire packets.
type vnet struct {
	flags, gso    byte
	header        uint16 // bytes of headers; the kernel's own says more
	size          uint16 // payload bytes of a wire packet
	start, offset uint16 // of the transport checksum: what it covers, and where it stands from there
}

func parseVnet(b []byte) vnet {
	u16 := binary.NativeEndian.Uint16
	return vnet{
		flags: b[0], gso: b[1],
		header: u16(b[2:]), size: u16(b[4:]), start: u16(b[6:]), offset: u16(b[8:]),
	}
}

func (v vnet) put(b []byte) {
	_ = b[vnetSize-1]
	b[0], b[1] = v.flags, v.gso
	binary.NativeEndian.PutUint16(b[2:], v.header)
	binary.NativeEndian.PutUint16(b[4:], v.size)
	binary.NativeEndian.PutUint16(b[6:], v.start)
	binary.NativeEndian.PutUint16(b[8:], v.offset)
}
