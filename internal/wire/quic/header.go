package quic

import (
	"encoding/binary"
	"fmt"
)

// header is the part of a packet that anyone can read.
type header struct {
	kind       Kind
	version    uint32
	dcid, scid []byte
	token      []byte
	number     int      // where the packet number begins
	size       int      // of the packet, as its Length says
	versions   []uint32 // of VersionNegotiation
	problem    string   // why the packet ends what can be read of the datagram
}

const (
	longBit  = 0x80 // RFC 8999, section 5.1
	fixedBit = 0x40 // RFC 9000, section 17
	phaseBit = 0x04 // RFC 9000, section 17.3.1
)

const cutShort = "cut short by the log"

// kindOf reads the type of a long header, which versions number differently.
func kindOf(first byte, version uint32) Kind {
	t := first >> 4 & 3
	if version == Version2 { // RFC 9369, section 3.2
		t = (t + 3) & 3
	}
	return [...]Kind{Initial, ZeroRTT, Handshake, Retry}[t]
}

// readLong reads a long header at the front of b, the kept part of what is left
// of a datagram: size bytes.
func readLong(b []byte, size int) header {
	h := header{kind: Unknown, size: size}
	r := reader{rest: b}
	first := r.byte()
	h.version = r.uint32()
	dcid, scid := readIDs(&r)
	if r.short {
		h.problem = ended(b, size)
		return h
	}
	h.dcid, h.scid = dcid, scid
	switch {
	case h.version == 0:
		h.readVersions(r.rest, size-len(b))
	case h.version != Version1 && h.version != Version2:
		h.problem = fmt.Sprintf("version 0x%08x is not known", h.version)
	case len(dcid) > 20 || len(scid) > 20:
		h.problem = "a connection ID has more than 20 bytes"
	default:
		h.kind = kindOf(first, h.version)
		h.readRest(r, b, size)
	}
	return h
}

func readIDs(r *reader) (dcid, scid []byte) {
	dcid = r.bytes(uint64(r.byte()))
	scid = r.bytes(uint64(r.byte()))
	return dcid, scid
}

// ended says why a header ends too early.
func ended(b []byte, size int) string {
	if len(b) < size {
		return cutShort
	}
	return "the header ends beyond the datagram"
}

func (h *header) readVersions(rest []byte, missing int) {
	h.kind = VersionNegotiation
	for len(rest) >= 4 {
		h.versions = append(h.versions, binary.BigEndian.Uint32(rest))
		rest = rest[4:]
	}
	switch {
	case missing > 0:
		h.problem = cutShort
	case len(rest) > 0 || h.versions == nil:
		h.problem = "the list of versions is not whole"
	}
}

// readRest reads what follows the connection IDs in versions 1 and 2.
func (h *header) readRest(r reader, b []byte, size int) {
	if h.kind == Retry {
		if len(r.rest) < 16 {
			h.problem = ended(b, size)
			return
		}
		h.token = r.rest[:len(r.rest)-16]
		return
	}
	if h.kind == Initial {
		h.token = r.bytes(r.varint())
	}
	length := r.varint()
	if r.short {
		h.problem = ended(b, size)
		return
	}
	h.number = len(b) - len(r.rest)
	if length > uint64(size-h.number) {
		h.problem = fmt.Sprintf("the header says %d bytes, the datagram has %d", length, size-h.number)
		return
	}
	h.size = h.number + int(length)
}
