package load

import (
	"net/netip"
	"runtime/debug"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

func TestQUICVersion(t *testing.T) {
	other := &debug.Module{Path: "golang.org/x/net", Version: "v0.1.0"}
	for want, deps := range map[string][]*debug.Module{
		"":                   {other},
		" (quic-go v0.65.0)": {other, {Path: "github.com/quic-go/quic-go", Version: "v0.65.0"}},
		" (quic-go v0.66.0)": {{
			Path: "github.com/quic-go/quic-go", Version: "v0.65.0",
			Replace: &debug.Module{Path: "example.com/fork", Version: "v0.66.0"},
		}},
	} {
		if got := quicVersion(&debug.BuildInfo{Deps: deps}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

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
