package cli

import (
	"fmt"
	"testing"

	"github.com/samewire/samewire/internal/gauge"
	"github.com/samewire/samewire/internal/lab"
)

// Each impairment of a path, end to end on the real TUN: carried as it was asked
// for, and found out by the check that is about it where the path is a plain one.
func TestLinkCheckImpairments(t *testing.T) {
	carrierOf(t, lab.Kernel, 1) // skips where it cannot run
	for _, c := range []struct {
		path  string
		about []string
	}{
		{"rtt 60ms jitter 8ms", []string{gauge.JitterSD, gauge.JitterLow, gauge.JitterHigh, gauge.Reordered}},
		{"rtt 60ms jitter 5ms pareto in-order", []string{gauge.JitterSD}},
		{"rtt 20ms loss gemodel 1% 20%", []string{gauge.LossShare, gauge.LossShareFull, gauge.LossShareJoined}},
		{"rtt 40ms reorder 5%", []string{gauge.Undelayed, gauge.Reordered}},
		{"rtt 20ms duplicate 3%", []string{gauge.Duplicated}},
		{"rtt 20ms corrupt 3%", []string{gauge.Corrupted, gauge.LossShareFull}},
		{"rtt 20ms rate 10mbit burst 15kB police", []string{gauge.Rate}},
		{"rtt 20ms throttle udp 4mbit", []string{gauge.Rate}},
		{"rtt 60ms limit 100", []string{gauge.Rate}},
		{"rtt 20ms mtu 1400 icmp", []string{gauge.MTU, gauge.TooBig}},
	} {
		t.Run(c.path, func(t *testing.T) {
			var r linkReport
			for range 6 { // others use the machine
				r, _ = linkCheck(t, "--only", "packets", "--seconds", "1", "--path", c.path)
				if r.OK && judged(t, r, c.about) {
					break
				}
			}
			for _, f := range gauge.Failed(r.Checks) {
				t.Errorf("%s %s fails: %s", f.Name, f.Direction, describeCheck(f))
			}
			for _, name := range c.about {
				if got := checkOf(t, r, name, "up"); got.State != gauge.Holds {
					t.Errorf("%s up is %s: %s", name, got.State, got.Note)
				}
			}
			patiently(t, func() string {
				plain, status := linkCheck(t, "--only", "packets", "--seconds", "0.5", "--path", c.path, "--carry", "rtt 60ms")
				if status != "4" {
					return fmt.Sprintf("a plain path: exit status %s", status)
				}
				for _, name := range c.about {
					if got := checkOf(t, plain, name, "up"); got.State != gauge.Fails && !cannotFail(name, got) {
						return fmt.Sprintf("a plain path: %s up is %s: %s", name, got.State, describeCheck(got))
					}
				}
				return ""
			})
		})
	}
	wantNoLeftovers(t)
}

// cannotFail says that a plain path does not show what the check is about: it
// drops nothing that is too large.
func cannotFail(name string, c gauge.Check) bool {
	return name == gauge.TooBig && c.State == gauge.Unchecked
}
