package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/site/kernel"
)

func TestBackendFlag(t *testing.T) {
	var b kernel.Backend
	v := (*backendValue)(&b)
	for _, s := range backends() {
		if err := v.Set(s); err != nil || string(b) != s || v.String() != s {
			t.Errorf("%s: %v, %q", s, err, b)
		}
	}
	for _, s := range []string{"", "ns3", "TUN"} {
		if err := v.Set(s); err == nil || !strings.Contains(err.Error(), "tun, netem") {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestOtherwiseLeavesOutWhatIsRefused(t *testing.T) {
	aqm := lab.AQM{Kind: lab.CoDel} // which needs tbf, and so a bucket that the path has not
	p := lab.Path{Up: lab.Way{Rules: "drop every 3", Rate: 1e6, Queue: lab.Queue{Bytes: 1e4}, AQM: aqm}}
	list := otherwise(kernel.Netem, p)
	plain := func(s string) bool { return strings.Contains(s, "a plain wire") }
	if !slices.ContainsFunc(list, plain) {
		t.Errorf("the bucket is not named: %q", list)
	}
	for _, s := range list {
		if strings.Contains(s, "exact rules") {
			t.Errorf("a path that is refused is warned of: %q", s)
		}
	}
	if list := otherwise(kernel.TUN, p); len(list) != 0 {
		t.Errorf("samewire's own link: %q", list)
	}
}

func TestBackendIsOfTheKernelSite(t *testing.T) {
	p := lab.Plan{Runs: []lab.Run{{Cell: lab.Cell{Site: lab.Virtual}}}}
	if b := backendOf(p, kernel.Netem); b != "" {
		t.Errorf("a plan without runs on the kernel site has backend %q", b)
	}
	p.Runs = append(p.Runs, lab.Run{Cell: lab.Cell{Site: lab.Kernel}})
	if b := backendOf(p, kernel.Netem); b != "netem" {
		t.Errorf("backend %q", b)
	}
	for _, tt := range []struct {
		sites []lab.SiteName
		b     kernel.Backend
		ok    bool
	}{
		{[]lab.SiteName{lab.Virtual}, kernel.TUN, true},
		{[]lab.SiteName{lab.Virtual}, "", true},
		{[]lab.SiteName{lab.Virtual}, kernel.Netem, false},
		{[]lab.SiteName{lab.Virtual, lab.Kernel}, kernel.Netem, true},
	} {
		if err := needsKernel(tt.sites, tt.b); (err == nil) != tt.ok {
			t.Errorf("%v on %v: %v", tt.b, tt.sites, err)
		}
	}
}

func TestEnvironmentForNetem(t *testing.T) {
	super := lab.Path{Down: lab.Way{Loss: lab.Loss{Share: 0.1, Super: true}}}
	for _, tt := range []struct {
		b    kernel.Backend
		path lab.Path
		want bool // that QUIC leaves no cutting to the kernel
	}{{kernel.TUN, lab.Path{}, false}, {kernel.Netem, lab.Path{}, true}, {kernel.Netem, super, false}} {
		env := environmentFor(tt.b, tt.path)
		if slices.Contains(env, "QUIC_GO_DISABLE_GSO=1") != tt.want || (env == nil) == tt.want {
			t.Errorf("%s, super %v: %q", tt.b, tt.path.Down.Loss.Super, env)
		}
	}
}
