package cli

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
	"github.com/samewire/samewire/internal/site/worker"
)

// Each impairment of a path, on real stacks: what the notation asks for happens
// on the wire, and the protocols take it as they should. The sites share one
// model, so that what holds in virtual time holds in the kernel.
var impairments = []struct {
	name, path string
	protocol   lab.Protocol
	load       lab.Load
	want       lab.Outcome
	holds      func(r lab.Record) bool // of a record with that outcome
}{
	{"delay", "rtt 40ms", lab.H3, small, lab.OK, took(80*ms1, 95*ms1)},
	{"jitter in order", "rtt 40ms jitter 5ms 20% normal in-order", lab.H3, file, lab.OK, none},
	{"jitter that reorders", "rtt 40ms jitter 5ms pareto", lab.H3, file, lab.OK, none},
	{"reorder", "rtt 40ms reorder 10% gap 3", lab.H3, file, lab.OK, func(r lab.Record) bool {
		return about(r.Wire.Down.Reordered, 1.0/12, r.Wire.Down.Packets) // two are delayed, then each has a chance of 1 in 10
	}},
	{"duplicate", "rtt 40ms down{duplicate 10%}", lab.H1, file, lab.OK, func(r lab.Record) bool {
		return about(r.Wire.Down.Duplicated, 0.1, r.Wire.Down.Packets)
	}},
	{"corrupt", "rtt 40ms corrupt 3%", lab.H3, file, lab.OK, func(r lab.Record) bool {
		return about(r.Wire.Down.Corrupted, 0.03, r.Wire.Down.Packets)
	}},
	{"corrupt TCP", "rtt 40ms corrupt 3%", lab.H1, file, lab.OK, func(r lab.Record) bool {
		return r.Wire.Down.Corrupted > 0 && r.Wire.Down.TCPRetransmits > 0
	}},
	{"rate", "rate 10mbit queue 1MB", lab.H1, file, lab.OK, took(800*ms1, 920*ms1)},
	{"rate with overhead", "rate 10mbit 150 queue 1MB", lab.H1, file, lab.OK, took(880*ms1, 1010*ms1)},
	{"bucket", "rate 10mbit burst 2MB queue 1MB", lab.H1, file, lab.OK, took(0, 700*ms1)},
	{"policer", "rtt 20ms rate 20mbit burst 30kB police", lab.H1, file, lab.OK, dropped(lab.DropPolice)},
	{"queue", "rtt 20ms rate 20mbit queue 10p", lab.H1, file, lab.OK, dropped(lab.DropQueue)},
	{"queue in ms", "rtt 20ms rate 20mbit queue 5ms", lab.H1, file, lab.OK, dropped(lab.DropQueue)},
	{"netem's limit", "rtt 20ms rate 20mbit limit 30", lab.H1, file, lab.OK, dropped(lab.DropLimit)},
	{"codel", "rtt 20ms rate 5mbit queue 1000p codel", lab.H1, file, lab.OK, dropped(lab.DropAQM)},
	{"fq_codel", "rtt 20ms rate 5mbit queue 1000p fq_codel", lab.H1, file, lab.OK, dropped(lab.DropAQM)},
	{"loss", "rtt 20ms loss 2%", lab.H3, file, lab.OK, dropped(lab.DropLoss)},
	{"loss in bursts", "rtt 20ms loss 2% burst 3", lab.H3, file, lab.OK, func(r lab.Record) bool {
		return r.Wire.Down.Drops[string(lab.DropLoss)] >= 3
	}},
	{"gemodel", "rtt 20ms loss gemodel 1% 25%", lab.H3, file, lab.OK, dropped(lab.DropLoss)},
	{"first Initial of the server", "rtt 40ms down{drop initial nth 1}", lab.H3, small, lab.OK, droppedOnce(lab.DropRule)},
	{"every 100th", "rtt 40ms down{drop every 100}", lab.H3, file, lab.OK, func(r lab.Record) bool {
		return r.Wire.Down.Drops[string(lab.DropRule)] == r.Wire.Down.Packets/100
	}},
	{"one every 150 ms", "rtt 20ms down{rate 20mbit drop every 150ms}", lab.H1, file, lab.OK, func(r lab.Record) bool {
		return math.Abs(float64(r.Wire.Down.Drops[string(lab.DropRule)])-*r.Value(lab.Duration)/0.15) < 3
	}},
	{"client's datagrams after 60 kB", "rtt 40ms rate 20mbit up{drop udp after 60kB down for 200ms}", lab.H3, file, lab.OK, func(r lab.Record) bool {
		return r.Wire.Up.Drops[string(lab.DropRule)] > 0 && len(r.Wire.Down.Drops) == 0
	}},
	{"large packets", "rtt 40ms down{drop above 1300B 2%}", lab.H1, file, lab.OK, dropped(lab.DropRule)},
	{"large packets spare small ones", "rtt 40ms down{drop above 1452B}", lab.H3, file, lab.OK, none},
	{"outage", "rtt 40ms rate 20mbit outage from 200ms to 500ms", lab.H1, file, lab.OK, func(r lab.Record) bool {
		return dropped(lab.DropOutage)(r) && *r.Value(lab.Duration) > 0.65
	}},
	{"UDP blocked", "rtt 40ms drop udp", lab.H3, small, lab.Stalled, dropped(lab.DropRule)},
	{"UDP blocked, h2", "rtt 40ms drop udp", lab.H2, small, lab.OK, clean},
	{"UDP rejected", "rtt 40ms reject udp", lab.H3, small, lab.Stalled, func(r lab.Record) bool {
		return dropped(lab.DropReject)(r) && r.Wire.Down.Router == r.Wire.Up.Drops[string(lab.DropReject)]
	}},
	{"UDP blocked after the handshake", "rtt 40ms drop udp 1rtt", lab.H3, small, lab.Stalled, func(r lab.Record) bool {
		return dropped(lab.DropRule)(r) && r.Requests[0].AppConnect != nil
	}},
	{"UDP blocked above a size", "rtt 40ms drop udp above 1250B", lab.H3, small, lab.Stalled, dropped(lab.DropRule)},
	{"UDP throttled", "rtt 40ms throttle udp 2mbit burst 10kB", lab.H3, file, lab.OK, func(r lab.Record) bool {
		return dropped(lab.DropThrottle)(r) && *r.Value(lab.Duration) > 3
	}},
	{"UDP throttled, h1", "rtt 40ms throttle udp 2mbit burst 10kB", lab.H1, file, lab.OK, clean},
	{"port rebound", "rtt 40ms rate 20mbit rebind port at 200ms", lab.H3, file, lab.OK, none},
	{"address rebound", "rtt 40ms rate 20mbit rebind address at 200ms", lab.H3, file, lab.OK, none},
	{"port rebound, h1", "rtt 40ms rate 20mbit rebind port at 250ms", lab.H1, file, lab.Reset, none},
	{"UDP's port rebound, h1", "rtt 40ms rate 20mbit rebind udp at 250ms", lab.H1, file, lab.OK, clean},
	{"handover", "rtt 40ms rate 20mbit handover at 200ms for 300ms", lab.H3, upload, lab.OK, func(r lab.Record) bool {
		return r.Wire.Up.Drops[string(lab.DropOutage)] > 0
	}},
	{"MTU with ICMP", "rtt 40ms down{mtu 1400 icmp}", lab.H1, file, lab.OK, func(r lab.Record) bool {
		return dropped(lab.DropMTU)(r) && r.Wire.Up.Router > 0
	}},
	{"black hole", "rtt 40ms down{mtu 1400}", lab.H1, file, lab.Stalled, func(r lab.Record) bool {
		return dropped(lab.DropMTU)(r) && r.Wire.Up.Router == 0
	}},
	{"MTU that shrinks", "rtt 40ms rate 20mbit down{mtu 1500 icmp then 1400 at 200ms}", lab.H1, file, lab.OK, dropped(lab.DropMTU)},
}

const ms1 = time.Millisecond

var (
	small  = lab.Load{Name: "small", Objects: 1, Size: 4096}
	upload = lab.Load{Name: "upload", Objects: 1, Size: 1e6, Upload: true}
	file   = lab.Load{Name: "file", Objects: 1, Size: 1e6, Connections: lab.Connections{H1: 1}}
)

func none(lab.Record) bool { return true }

// clean says that the link dropped nothing.
func clean(r lab.Record) bool { return len(r.Wire.Up.Drops)+len(r.Wire.Down.Drops) == 0 }

// took says that the load took from low to high, on a machine that is not in a
// hurry.
func took(low, high time.Duration) func(lab.Record) bool {
	return func(r lab.Record) bool {
		d := *r.Value(lab.Duration)
		return d >= low.Seconds() && (d <= high.Seconds() || r.Run.Cell.Site == lab.Kernel && d <= 1.5*high.Seconds())
	}
}

// dropped says that one reason, and no other, had the link drop packets.
func dropped(reason lab.Reason) func(lab.Record) bool {
	return func(r lab.Record) bool {
		n := 0
		for _, way := range []lab.WireWay{r.Wire.Up, r.Wire.Down} {
			n += way.Drops[string(reason)]
			for other := range way.Drops {
				if other != string(reason) {
					return false
				}
			}
		}
		return n > 0
	}
}

func droppedOnce(reason lab.Reason) func(lab.Record) bool {
	return func(r lab.Record) bool {
		return dropped(reason)(r) && r.Wire.Up.Drops[string(reason)]+r.Wire.Down.Drops[string(reason)] == 1
	}
}

// about says that n of all is the share, within four standard deviations.
func about(n int, share float64, all int) bool {
	want := share * float64(all)
	return math.Abs(float64(n)-want) <= 4*math.Sqrt(want*(1-share))+1
}

func notedPath(t testing.TB, name, notation string) lab.Path {
	t.Helper()
	p, err := plan.ParsePath(name, notation, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// impaired carries out one of the impairments.
func impaired(t *testing.T, c *worker.Pool, site lab.SiteName, i int, timeout time.Duration) lab.Record {
	t.Helper()
	k := impairments[i]
	run := runOf(lab.Cell{
		Path: notedPath(t, "impaired", k.path), Load: k.load, Stack: lab.DefaultStack, Site: site, Protocol: k.protocol,
	}, 1)
	run.Timeout = timeout
	r := c.Carry(t.Context(), run)
	// In real time others use the machine: what it does is not the path's.
	for n := 0; site == lab.Kernel && n < 3 && (r.Outcome != k.want || !k.holds(r)); n++ {
		t.Logf("again: %s", describeWire(r))
		r = c.Carry(t.Context(), run)
	}
	return r
}

func describeWire(r lab.Record) string {
	d := "no duration"
	if v := r.Value(lab.Duration); v != nil {
		d = fmt.Sprintf("%.3f s", *v)
	}
	return fmt.Sprintf("%s (%s), %s, up %+v, down %+v", r.Outcome, r.Reason, d, r.Wire.Up, r.Wire.Down)
}

func TestVirtualImpairments(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	for i, k := range impairments {
		t.Run(k.name, func(t *testing.T) {
			r := impaired(t, c, lab.Virtual, i, time.Minute)
			if r.Outcome != k.want || !k.holds(r) {
				t.Errorf("%s, %s: want %s, got %s", k.path, k.protocol, k.want, describeWire(r))
			}
		})
	}
}

func TestKernelImpairments(t *testing.T) {
	c := carrierOf(t, lab.Kernel, 1)
	for i, k := range impairments {
		t.Run(k.name, func(t *testing.T) {
			r := impaired(t, c, lab.Kernel, i, 6*time.Second)
			if r.Outcome != k.want || !k.holds(r) {
				t.Errorf("%s, %s: want %s, got %s", k.path, k.protocol, k.want, describeWire(r))
			}
		})
	}
}
