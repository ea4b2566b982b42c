package gauge

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
)

// newPair makes a veth pair, or skips where that is not allowed.
func newPair(t *testing.T) Lab {
	t.Helper()
	p, err := NewPair()
	if errors.Is(err, unix.EPERM) && os.Getenv("SAMEWIRE_REQUIRE_KERNEL") != "1" {
		t.Skipf("making network namespaces is not allowed here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return Lab{Client: p.Client, Server: p.Server}
}

// The instruments find a bare pair to be what it is.
func TestInstrumentsOnABarePair(t *testing.T) {
	l := newPair(t)
	var checks []Check
	for range 5 { // others may use the machine
		var err error
		checks, err = Packets(t.Context(), l, Job{Span: 300 * time.Millisecond}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(Failed(checks))+Count(checks, Unchecked) == 0 {
			break
		}
	}
	for _, name := range []string{RTT, Delay, LossShare, LossShareFull, LossShareJoined, Reordered, Duplicated, CorruptAccepted, MTU} {
		c := find(t, checks, name)
		wantState(t, c, Holds)
		if c.N == 0 {
			t.Errorf("%s rests on nothing", name)
		}
	}
	t.Logf("median RTT %.1f µs", *find(t, checks, RTT).Measured*1e6)
}

// The same pair is found not to be another path, each property for itself.
func TestInstrumentsFindOutWrongPaths(t *testing.T) {
	l := newPair(t)
	for _, c := range []struct {
		name  string
		path  lab.Path
		fails []string
		holds []string
	}{
		{"delay", lab.Path{Up: lab.Way{Delay: 10 * msec}, Down: lab.Way{Delay: 10 * msec}}, []string{RTT, Delay}, []string{LossShare, MTU}},
		{"loss", lab.Path{Up: lab.Way{Loss: lab.Loss{Share: 0.05}}}, []string{LossShare, LossShareFull, LossShareJoined}, []string{Delay, Reordered}},
		{"rate", lab.Path{Up: lab.Way{Rate: 2e6}}, []string{Rate, QueueWait}, []string{LossShare}},
		{"MTU", lab.Path{Up: lab.Way{MTU: 1400}}, []string{MTU}, []string{Delay, LossShare}},
		{"duplicates", lab.Path{Up: lab.Way{Duplicate: lab.Chance{Share: 0.05}}}, []string{Duplicated}, []string{LossShare}},
		{"reordering", lab.Path{Up: lab.Way{Delay: 10 * msec, Reorder: lab.Reorder{Share: 0.1}}}, []string{Reordered, Delay}, []string{LossShare}},
		{"corruption", lab.Path{Up: lab.Way{Corrupt: lab.Chance{Share: 0.05}}}, []string{Corrupted, LossShare}, []string{Delay}},
		{"jitter", lab.Path{Up: lab.Way{Delay: 10 * msec, Jitter: lab.Jitter{Spread: 5 * msec}}}, []string{JitterSD, JitterLow}, []string{LossShare}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var checks []Check
			for range 5 { // others may use the machine: what they spoil is unchecked
				var err error
				checks, err = Packets(t.Context(), l, Job{Path: c.path, Span: 200 * time.Millisecond}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if allAre(t, checks, Fails, c.fails) && noneIs(t, checks, Fails, c.holds) {
					break
				}
			}
			for _, name := range c.fails {
				wantState(t, find(t, checks, name), Fails)
			}
			for _, name := range c.holds {
				if got := find(t, checks, name); got.State != Holds && got.State != Unchecked {
					wantState(t, got, Holds)
				}
			}
		})
	}
}

func allAre(t *testing.T, checks []Check, state State, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return find(t, checks, name).State != state })
}

func noneIs(t *testing.T, checks []Check, state State, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return find(t, checks, name).State == state })
}

func TestStreamsOnABarePair(t *testing.T) {
	l := newPair(t)
	checks, err := Streams(t.Context(), l, Job{Span: 200 * time.Millisecond}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		wantState(t, c, Told)
		if c.Measured == nil || *c.Measured < 5e6 { // the next path has 1 Mbit/s
			t.Errorf("%s %s is %v bit/s over a bare pair", c.Name, c.Direction, value(c.Measured))
		}
	}
	// More than the rate can carry is no path of that rate.
	checks, err = Streams(t.Context(), l, Job{Path: lab.Path{Up: lab.Way{Rate: 1e6}}, Span: 200 * time.Millisecond}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantState(t, checks[0], Fails)
	r := 0.0
	for n := 0; n < 5 && (r < 0.2 || r > 5); n++ { // others may have used the machine in one half
		same, err := Against(t.Context(), l, l, 600*time.Millisecond, nil)
		if err != nil {
			t.Fatal(err)
		}
		r = *find(t, same, Capacity).Measured
	}
	if r < 0.2 || r > 5 {
		t.Errorf("a pair has %g of its own capacity", r)
	}
}

func TestInterruptedInstrumentsStop(t *testing.T) {
	l := newPair(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Packets(ctx, l, Job{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := Streams(ctx, l, Job{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A hand-made control message: the stamp and the count come from where the
// kernel puts them.
func FuzzControl(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, 64))
	f.Fuzz(func(_ *testing.T, b []byte) { control(b) })
}
