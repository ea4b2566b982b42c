package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/samewire/samewire/internal/lab"
)

func TestParsePath(t *testing.T) {
	const ms = time.Millisecond
	both := func(w lab.Way) lab.Path { return lab.Path{Name: "p", Up: w, Down: w} }
	for _, tt := range []struct {
		notation string
		want     lab.Path
	}{
		{"rtt 40ms", both(lab.Way{Delay: 20 * ms})},
		{"rtt 3ns", lab.Path{Name: "p", Up: lab.Way{Delay: 1}, Down: lab.Way{Delay: 2}}},
		{"delay 20ms", both(lab.Way{Delay: 20 * ms})},
		{"rtt 0", both(lab.Way{})},
		{"rate unlimited", both(lab.Way{})},
		{"loss 100%", both(lab.Way{Loss: lab.Loss{Share: 1}})},
		{"family ipv4 mtu 1280", both(lab.Way{MTU: 1280})},
		{"down{loss 1%} loss 2%", lab.Path{Name: "p", Up: lab.Way{Loss: lab.Loss{Share: 0.02}}, Down: lab.Way{Loss: lab.Loss{Share: 0.01}}}},
		{"rtt 10ms up{}", both(lab.Way{Delay: 5 * ms})},
		{"up { rate 1mbit } queue 5p", lab.Path{Name: "p", Up: lab.Way{Rate: 1e6, Queue: lab.Queue{Packets: 5}}}},
	} {
		got, err := ParsePath("p", tt.notation, nil)
		if err != nil {
			t.Errorf("%q: %v", tt.notation, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.notation, diff)
		}
	}
}

func TestParsePathFaults(t *testing.T) {
	for _, tt := range []struct{ notation, want string }{
		{"", "path p:1:1: the path is empty"},
		{"rtt", "1:1: rtt has no value"},
		{"rtt loss 1%", "1:1: rtt has no value"},
		{"rate 100", `1:6: rate: "100": want a number and a unit (bit, kbit, mbit, gbit)`},
		{"rate 10Mbps", `unknown unit "Mbps"`},
		{"rtt 3h", "must be from 0 to 2h"},
		{"delay -1ms", "1:7: delay:"},
		{"rtt 40ms delay 20ms", "1:16: delay: give rtt (both directions together) or delay"},
		{"down{rtt 5ms}", `1:6: "rtt" is not known`},
		{"down{rate 5mbit", "a { is not closed"},
		{"rtt 5ms}", "1:8: this } closes nothing"},
		{"{rtt 5ms}", "1:1: a { must follow a word"},
		{"down 5ms", "1:6: down must be a mapping"},
		{"rtt{rtt 5ms}", "rtt must be a single value"},
		{"queue 1bdp rtt 4ms", "1:7: queue: it has no meaning without a rate"},
		{"rate 1mbit queue 1bdp", "1:18: queue: a bandwidth-delay product needs a delay"},
		{"up{queue 5p} down{rate 5mbit}", "1:10: queue: it has no meaning"},
		{"mtu 575", "1:5: mtu: \"575\": must be from 576"},
		{"family ipv6 mtu 1279", "1:17: mtu: 1279 is too small for IPv6"},
		{"rtt 1ms rtt 2ms", "1:9: rtt is given twice"},
		{"lss 1%", `did you mean "loss"?`},
		{"mtu 1500 mtu 9000 rat 5mbit", `did you mean "rate"?`},
	} {
		_, err := ParsePath("p", tt.notation, nil)
		var faults Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got\n%v\nwant it to contain\n%s", tt.notation, err, tt.want)
		}
	}
	if _, err := ParsePath("a b", "rtt 5ms", nil); err == nil {
		t.Error("a bad name was accepted")
	}
}

func FuzzParsePath(f *testing.F) {
	for _, p := range Paths() {
		f.Add(p.Notation)
	}
	f.Add("up{down{up{")
	f.Add("}{}{ rtt\n5ms")
	f.Fuzz(func(t *testing.T, s string) {
		if p, err := ParsePath("p", s, nil); err == nil {
			checkRoundTrip(t, p)
		}
	})
}
