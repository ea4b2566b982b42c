package load

import (
	"net/netip"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

func TestAuthority(t *testing.T) {
	for _, tc := range []struct{ name, addr, want string }{
		{"server.samewire.test", "198.18.0.2:443", "server.samewire.test"},
		{"server.samewire.test", "198.18.0.2:8443", "server.samewire.test:8443"},
		{"", "198.18.0.2:443", "198.18.0.2"},
		{"", "[2001:2::2]:443", "[2001:2::2]"},
		{"", "[2001:2::2]:8443", "[2001:2::2]:8443"},
	} {
		cfg := lab.ClientConfig{ServerName: tc.name, Addr: netip.MustParseAddrPort(tc.addr)}
		if got := authority(&cfg); got != tc.want {
			t.Errorf("%+v: %q", tc, got)
		}
	}
}
