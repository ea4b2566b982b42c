package plan

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/samewire/samewire/internal/lab"
)

const ms = time.Millisecond

func TestExportNetem(t *testing.T) {
	for _, tt := range []struct {
		name string
		way  lab.Way
		want []string
		miss int // sentences about what is missing
	}{
		{"nothing", lab.Way{}, nil, 0},
		{"delay", lab.Way{Delay: 20 * ms}, []string{"qdisc add dev DEV root handle 1: netem delay 20000us limit 1000000"}, 0},
		{"jitter", lab.Way{Delay: 20 * ms, Jitter: lab.Jitter{Spread: 5 * ms, Distribution: lab.Normal}},
			[]string{"qdisc add dev DEV root handle 1: netem delay 20000us 5000us distribution normal limit 1000000"}, 0},
		{"loss and rate", lab.Way{Delay: 20 * ms, Loss: lab.Loss{Share: 0.003}, Rate: 1e7, Queue: lab.Queue{Bytes: 60000}}, []string{
			"qdisc add dev DEV root handle 1: netem loss 0.3% limit 1000000",
			"qdisc add dev DEV parent 1:1 handle 2: netem rate 10000000bit -14 limit 41",
			"qdisc add dev DEV parent 2:1 handle 4: netem delay 20000us limit 1000000",
		}, 3},
		{"plain wire", lab.Way{Rate: 1e6, Overhead: 14, Queue: lab.Queue{Packets: 3}},
			[]string{"qdisc add dev DEV root handle 2: netem rate 1000000bit 0 limit 4"}, 0},
		{"jitter behind a plain wire", lab.Way{Delay: 20 * ms, Jitter: lab.Jitter{Spread: 5 * ms}, Rate: 1e6, Reorder: lab.Reorder{Share: 0.1, Gap: 5}}, []string{
			"qdisc add dev DEV root handle 2: netem rate 1000000bit -14 limit 1001",
			"qdisc add dev DEV parent 2:1 handle 4: netem delay 20000us 5000us reorder 10% gap 5 limit 1000000",
		}, 0},
		{"a plain wire of copies", lab.Way{Delay: 20 * ms, Duplicate: lab.Chance{Share: 0.1}, Rate: 1e7, Queue: lab.Queue{Bytes: 60000}}, []string{
			"qdisc add dev DEV root handle 1: stab overhead -14 linklayer ethernet netem delay 20000us duplicate 10% limit 1000000",
			"qdisc add dev DEV parent 1:1 handle 2: tbf rate 10000000bit burst 1500 limit 61500",
		}, 2},
		{"loss and a bucket", lab.Way{Delay: 20 * ms, Loss: lab.Loss{Share: 0.003}, Rate: 1e7, Burst: 5000, Queue: lab.Queue{Bytes: 60000}}, []string{
			"qdisc add dev DEV root handle 1: stab overhead -14 linklayer ethernet netem delay 20000us loss 0.3% limit 1000000",
			"qdisc add dev DEV parent 1:1 handle 2: tbf rate 10000000bit burst 5000 limit 61500",
		}, 2},
		{"gemodel", lab.Way{Loss: lab.Loss{Gilbert: lab.Gilbert{P: 0.01, R: 0.1, Bad: 1}}},
			[]string{"qdisc add dev DEV root handle 1: netem loss gemodel 1% 10% 100% 0% limit 1000000"}, 2},
		{"super", lab.Way{Loss: lab.Loss{Share: 0.1, Super: true}},
			[]string{"qdisc add dev DEV root handle 1: netem loss 10% limit 1000000"}, 1},
		{"bucket alone", lab.Way{Rate: 1e6, Burst: 5000, Overhead: 14, Queue: lab.Queue{Packets: 3}},
			[]string{"qdisc add dev DEV root handle 2: stab overhead 0 linklayer ethernet tbf rate 1000000bit burst 5000 limit 6000"}, 1},
		{"codel", lab.Way{Rate: 1e6, Burst: 5000, Queue: lab.Queue{Bytes: 15000}, AQM: lab.AQM{Kind: lab.CoDel, ECN: true}}, []string{
			"qdisc add dev DEV root handle 2: stab overhead -14 linklayer ethernet tbf rate 1000000bit burst 5000 limit 16500",
			"qdisc add dev DEV parent 2:1 handle 3: codel limit 11 ecn",
		}, 0},
		{"policer", lab.Way{Delay: ms, Rate: 1e6, Burst: 5000, Police: true}, []string{
			"qdisc add dev DEV root handle 1: netem delay 1000us limit 1000000",
			"qdisc add dev DEV clsact",
			"filter add dev DEV egress matchall action police rate 1000000bit burst 5000 conform-exceed drop/pipe",
		}, 1},
		{"throttle", lab.Way{Throttle: lab.Throttle{Transport: lab.UDP, Rate: 1e6}}, []string{
			"qdisc add dev DEV clsact",
			"filter add dev DEV egress protocol ip flower ip_proto udp action police rate 1000000bit burst 15000 conform-exceed drop/pipe",
		}, 1},
		{"rules", lab.Way{Rules: "drop every 1000"}, nil, 2},
		{"black hole", lab.Way{MTU: 1400}, nil, 1},
		{"netem's limit", lab.Way{Delay: 20 * ms, Limit: 143}, []string{"qdisc add dev DEV root handle 1: netem delay 20000us limit 143"}, 0},
	} {
		got := ExportNetem(lab.Path{Up: tt.way})
		if !cmp.Equal(got.Up, tt.want) || got.Down != nil || len(got.Missing) != tt.miss {
			t.Errorf("%s: %s; missing: %q", tt.name, cmp.Diff(tt.want, got.Up), got.Missing)
		}
	}
}

// What is absent is also missing, and what is only done otherwise is not absent.
func TestExportNetemTellsAbsentFromOtherwise(t *testing.T) {
	for _, tt := range []struct {
		name            string
		path            lab.Path
		absent, missing int
	}{
		{"nothing", lab.Path{}, 0, 0},
		{"queue in bytes", lab.Path{Up: lab.Way{Rate: 1e6, Queue: lab.Queue{Bytes: 1e4}}}, 0, 1},
		{"rules", lab.Path{Up: lab.Way{Rules: "drop every 3"}, Down: lab.Way{Rules: "drop every 4"}}, 1, 2},
		{"rebind", lab.Path{Rebind: lab.Rebind{At: 1}}, 1, 1},
		{"in order, behind a rate", lab.Path{Up: lab.Way{Rate: 1e6, Burst: 3000, Queue: lab.Queue{Bytes: 1e4}, Jitter: lab.Jitter{Spread: ms, InOrder: true}}}, 1, 2},
	} {
		n := ExportNetem(tt.path)
		if len(n.Absent) != tt.absent || len(n.Missing) != tt.missing {
			t.Errorf("%s: absent %q, missing %q", tt.name, n.Absent, n.Missing)
		}
		for _, a := range n.Absent {
			if !slices.Contains(n.Missing, a) {
				t.Errorf("%s: %q is absent and not missing", tt.name, a)
			}
		}
	}
}

func TestExportNetemSwitchesOffloadOff(t *testing.T) {
	if n := ExportNetem(lab.Path{}); len(n.Ethtool) == 0 || len(n.Link) == 0 {
		t.Error("losses must fall on packets of the wire")
	}
	if n := ExportNetem(lab.Path{Down: lab.Way{Loss: lab.Loss{Share: 0.1, Super: true}}}); len(n.Ethtool) != 0 || len(n.Link) != 0 {
		t.Error("losses must fall on super-packets")
	}
}
