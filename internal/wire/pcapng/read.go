package pcapng

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

// maxPacket is the longest packet that is read, in bytes: libpcap's limit.
const maxPacket = 262144

// Read reads a capture that Write wrote, or a foreign one. What Write wrote comes
// back as it was, but for a name of more than 4096 bytes. A file that ends in
// the middle of a packet is read up to there.
func Read(r io.Reader) (*wire.Capture, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	start, err := in.Peek(4)
	if err != nil {
		return nil, fmt.Errorf("read capture: too short for a pcapng or pcap file: %w", err)
	}
	c := &wire.Capture{}
	switch binary.LittleEndian.Uint32(start) {
	case sectionHeader:
		err = readNg(in, c)
	case 0xa1b2c3d4, 0xa1b23c4d, 0xd4c3b2a1, 0x4d3cb2a1: // µs and ns, in both byte orders
		err = readOld(in, c)
	default:
		err = errors.New("neither a pcapng nor a pcap file (compressed files have to be unpacked first)")
	}
	if err != nil {
		return nil, fmt.Errorf("read capture: %w", err)
	}
	return c, nil
}

// ended says whether err is only the end of the file.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// readNg reads pcapng.
func readNg(in io.Reader, c *wire.Capture) error {
	tap := &secretsTap{in: in}
	r, err := pcapgo.NewNgReader(tap, pcapgo.NgReaderOptions{WantMixedLinkType: true})
	if err != nil {
		return err
	}
	own := parseSection(r.SectionInfo().Comment, c)
	f := foreign{}
	for {
		data, info, options, err := r.ZeroCopyReadPacketDataWithOptions()
		if ended(err) {
			break
		}
		if err != nil {
			return err
		}
		p := wire.Packet{At: max(time.Duration(info.Timestamp.UnixNano()), 0)}
		face, err := r.Interface(info.InterfaceIndex)
		if err != nil {
			return err
		}
		if own && info.Length <= maxPacket && parsePacket(options.Comments, &p) {
			p.Way = lab.Up
			if face.Name == interfaces[lab.Down].Name {
				p.Way = lab.Down
			}
			p.Size, p.Data = info.Length, clone(data)
			c.Packets = append(c.Packets, p)
			continue
		}
		if !own {
			f.add(c, face.LinkType, info, data)
		}
	}
	c.Secrets = tap.secrets
	if !own {
		f.finish(c)
	}
	return nil
}

// readOld reads pcap.
func readOld(in io.Reader, c *wire.Capture) error {
	r, err := pcapgo.NewReader(in)
	if err != nil {
		return err
	}
	f := foreign{}
	for {
		data, info, err := r.ZeroCopyReadPacketData()
		if ended(err) {
			break
		}
		if err != nil {
			return err
		}
		f.add(c, r.LinkType(), info, data)
	}
	f.finish(c)
	return nil
}

// clone is a copy that is never nil: a packet of which nothing was kept has no
// other content than one that was empty.
func clone(b []byte) []byte { return append(make([]byte, 0, len(b)), b...) }

// foreign takes packets of captures that samewire did not make.
type foreign struct{ sides sides }

// add adds a packet, if it is IPv4 or IPv6.
func (f *foreign) add(c *wire.Capture, link layers.LinkType, info gopacket.CaptureInfo, data []byte) {
	data, before, ok := network(link, data)
	if !ok || info.Length-before > maxPacket {
		return
	}
	p := wire.Packet{At: time.Duration(info.Timestamp.UnixNano()), Size: total(data, info.Length-before)}
	p.Data = clone(data[:min(len(data), p.Size)])
	p.Way = f.sides.way(p.Data)
	c.Packets = append(c.Packets, p)
}

// finish puts the packets in the order of their times, which interfaces may have
// mixed, numbers them, and has the time begin with the first. The load is all
// that was captured.
func (f *foreign) finish(c *wire.Capture) {
	if len(c.Packets) == 0 {
		return
	}
	slices.SortStableFunc(c.Packets, func(a, b wire.Packet) int { return cmp.Compare(a.At, b.At) })
	first := c.Packets[0].At
	for i := range c.Packets {
		p := &c.Packets[i]
		p.N, p.At = i+1, max(p.At-first, 0) // times may be so far apart that they overflow
		p.Left, c.End = p.At, p.At
	}
}
