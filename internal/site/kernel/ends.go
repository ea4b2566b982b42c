package kernel

import (
	"bytes"
	"net/netip"

	"github.com/samewire/samewire/internal/lab"
)

// ends recognises the packets that one host sends to the other.
type ends struct {
	version byte
	offset  int    // of the source address in the IP header (RFC 791, RFC 8200)
	want    []byte // source and destination
	// aliases is a second destination, a prefix of whole bytes: the addresses
	// that address translation on the path gives to the client. Empty for none.
	aliases []byte
}

// newEnds returns the ends of direction d of a path.
func newEnds(d lab.Direction, f lab.Family) ends {
	source, dest := f.Hosts()
	var e ends
	if d == lab.Down {
		source, dest = dest, source
		e.aliases = prefixBytes(f.Aliases())
	}
	e.version, e.offset = 4, source4
	if source.Is6() {
		e.version, e.offset = 6, source6
	}
	e.want = append(source.AsSlice(), dest.AsSlice()...)
	return e
}

func prefixBytes(p netip.Prefix) []byte { return p.Addr().AsSlice()[:p.Bits()/8] }

func (e *ends) match(p []byte) bool {
	end := e.offset + len(e.want)
	if len(p) < end || p[0]>>4 != e.version {
		return false
	}
	have, half := p[e.offset:end], len(e.want)/2
	if bytes.Equal(have, e.want) {
		return true
	}
	return len(e.aliases) > 0 && bytes.Equal(have[:half], e.want[:half]) && bytes.HasPrefix(have[half:], e.aliases)
}
