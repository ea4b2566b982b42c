package lab

import (
	"runtime/debug"
	"testing"
)

func TestProgram(t *testing.T) {
	other := &debug.Module{Path: "golang.org/x/net", Version: "v0.1.0"}
	for want, deps := range map[string][]*debug.Module{
		"":                   {other},
		" (quic-go v0.65.0)": {other, {Path: "github.com/quic-go/quic-go", Version: "v0.65.0"}},
		" (quic-go v0.64.0)": {{
			Path: "github.com/quic-go/quic-go", Version: "v0.64.0", Replace: &debug.Module{Path: "./patched", Version: "(devel)"},
		}},
		" (quic-go v0.66.0)": {{
			Path: "github.com/quic-go/quic-go", Version: "v0.65.0",
			Replace: &debug.Module{Path: "example.com/fork", Version: "v0.66.0"},
		}},
	} {
		if got := Program(&debug.BuildInfo{Deps: deps}, true); got != "samewire "+Version+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
