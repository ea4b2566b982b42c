package kernel

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/samewire/samewire/internal/lab"
)

func TestNetemDropsAreTheQueuesOwn(t *testing.T) {
	const root, ingress = 0xffff, 0xffff // the major halves of TC_H_ROOT and of what clsact hangs from
	for _, tt := range []struct {
		name   string
		queues []queue
		want   map[lab.Reason]int
	}{
		{"nothing", nil, map[lab.Reason]int{}},
		{"no drops", []queue{{handle: 1, parent: root}}, map[lab.Reason]int{}},
		{"netem", []queue{{handle: 1, parent: root, drops: 7}}, map[lab.Reason]int{lab.DropNetem: 7}},
		{"all three", []queue{
			{handle: 1, parent: root, drops: 60}, {handle: 2, parent: 1, drops: 50}, {handle: 3, parent: 2, drops: 30},
		}, map[lab.Reason]int{lab.DropNetem: 10, lab.DropQueue: 20, lab.DropAQM: 30}},
		{"a plain wire", []queue{
			{handle: 1, parent: root, drops: 60}, {handle: 2, parent: 1, drops: 50}, {handle: 4, parent: 2, drops: 20},
		}, map[lab.Reason]int{lab.DropNetem: 10, lab.DropQueue: 30, lab.DropLimit: 20}},
		{"rate alone", []queue{{handle: 2, parent: root, drops: 5}}, map[lab.Reason]int{lab.DropQueue: 5}},
		{"policer", []queue{{handle: 1, parent: root, drops: 2}, {handle: 0xffff, parent: ingress, drops: 3}},
			map[lab.Reason]int{lab.DropNetem: 2, lab.DropPolice: 3}},
		{"another's", []queue{{handle: 0x8001, parent: root, drops: 9}}, map[lab.Reason]int{}},
	} {
		if got := netemDrops(tt.queues); !cmp.Equal(got, tt.want) {
			t.Errorf("%s: %s", tt.name, cmp.Diff(tt.want, got))
		}
	}
}

func TestNetemFits(t *testing.T) {
	for _, tt := range []struct {
		name string
		way  lab.Way
		want string // in the refusal; empty: none
	}{
		{"plain", lab.Way{Delay: 1e6, Rate: 1e7, Loss: lab.Loss{Share: 0.1}, Jitter: lab.Jitter{Spread: 10, Correlation: 0.5}}, ""},
		{"policer", lab.Way{Rate: 1e6, Burst: 5000, Police: true}, ""},
		{"limit", lab.Way{Rate: 1e6, Limit: 5}, ""},
		{"rules", lab.Way{Rules: "drop every 3"}, "exact rules"},
		{"trace", lab.Way{Trace: lab.NewTrace("t", "1\n")}, "trace"},
		{"black hole", lab.Way{MTU: 1400}, "black hole"},
		{"too big", lab.Way{MTU: 1400, TooBig: true}, "ICMP"},
		{"shrink", lab.Way{Shrink: lab.Shrink{MTU: 1300, At: 1e9}}, "shrinks"},
		{"bursts", lab.Way{Loss: lab.Loss{Share: 0.1, Burst: 3}}, "bursts of exactly 3"},
		{"in order", lab.Way{Jitter: lab.Jitter{Spread: 10, InOrder: true}}, "overtake"},
		{"jumbo one way", lab.Way{MTU: 9000}, "MTU each way"},
	} {
		err := Netem.Fits(lab.Path{Up: tt.way})
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: refused: %v", tt.name, err)
		case tt.want != "" && (!errors.Is(err, lab.ErrUnsupported) || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %v, want unsupported: %s", tt.name, err, tt.want)
		}
	}
	if err := Netem.Fits(lab.Path{Rebind: lab.Rebind{At: 1}}); !errors.Is(err, lab.ErrUnsupported) {
		t.Errorf("rebinding: got %v", err)
	}
	if err := Netem.Fits(lab.Path{Up: lab.Way{MTU: 9000}, Down: lab.Way{MTU: 9000}}); err != nil {
		t.Errorf("jumbo frames: %v", err)
	}
}

func TestTCBatch(t *testing.T) {
	got := tcBatch([]string{"qdisc add dev DEV root netem", "qdisc add dev DEV clsact"}, "wire")
	if want := "qdisc add dev wire root netem\nqdisc add dev wire clsact\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
