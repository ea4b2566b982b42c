package kernel

import (
	"net/netip"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

func TestEnds(t *testing.T) {
	v4 := func(from, to netip.Addr) []byte {
		p := make([]byte, 20)
		p[0] = 0x45
		copy(p[12:], from.AsSlice())
		copy(p[16:], to.AsSlice())
		return p
	}
	v6 := func(from, to netip.Addr) []byte {
		p := make([]byte, 40)
		p[0] = 0x60
		copy(p[8:], from.AsSlice())
		copy(p[24:], to.AsSlice())
		return p
	}
	up4, down6 := newEnds(lab.Up, lab.IPv4), newEnds(lab.Down, lab.IPv6)
	for _, c := range []struct {
		name   string
		ends   ends
		packet []byte
		want   bool
	}{
		{"up", up4, v4(lab.ClientAddr4, lab.ServerAddr4), true},
		{"the other way", up4, v4(lab.ServerAddr4, lab.ClientAddr4), false},
		{"multicast", up4, v4(lab.ClientAddr4, netip.MustParseAddr("224.0.0.251")), false},
		{"cut short", up4, v4(lab.ClientAddr4, lab.ServerAddr4)[:19], false},
		{"empty", up4, nil, false},
		{"other version", up4, v6(lab.ClientAddr6, lab.ServerAddr6), false},
		{"down", down6, v6(lab.ServerAddr6, lab.ClientAddr6), true},
		{"router solicitation", down6, v6(netip.IPv6Unspecified(), netip.MustParseAddr("ff02::2")), false},
		{"to an alias", down6, v6(lab.ServerAddr6, lab.IPv6.Alias(0x1234)), true},
		{"from an alias", down6, v6(lab.IPv6.Alias(1), lab.ClientAddr6), false},
		{"to an alias of IPv4", newEnds(lab.Down, lab.IPv4), v4(lab.ServerAddr4, lab.IPv4.Alias(7)), true},
		{"beside the aliases", newEnds(lab.Down, lab.IPv4), v4(lab.ServerAddr4, netip.MustParseAddr("198.20.0.1")), false},
		{"the client has none", up4, v4(lab.ClientAddr4, lab.IPv4.Alias(7)), false},
		{"IPv4 on IPv6", down6, v4(lab.ServerAddr4, lab.ClientAddr4), false},
	} {
		if got := c.ends.match(c.packet); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
