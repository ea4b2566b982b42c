package kernel

import (
	"bytes"
	"net/netip"
)

// ends recognises the packets that one host sends to the other.
type ends struct {
	version byte
	offset  int    // of the source address in the IP header (RFC 791, RFC 8200)
	want    []byte // source and destination
}

func newEnds(source, dest netip.Addr) ends {
	e := ends{version: 4, offset: 12}
	if source.Is6() {
		e = ends{version: 6, offset: 8}
	}
	e.want = append(source.AsSlice(), dest.AsSlice()...)
	return e
}

func (e ends) match(p []byte) bool {
	end := e.offset + len(e.want)
	return len(p) >= end && p[0]>>4 == e.version && bytes.Equal(p[e.offset:end], e.want)
}
