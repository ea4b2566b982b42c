package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/site/worker"
	"github.com/samewire/samewire/internal/store"
)

// rebuilt is the worker from patched copies of gVisor and quic-go, built once, from
// the sources under test, beside the other programs.
var rebuilt struct {
	once sync.Once
	path string
	err  error
}

// buildArms returns the path of the rebuilt worker.
//
// It lies in a folder of its own, beside samewire and its worker: whether there is a
// rebuilt one changes what samewire does.
func buildArms(t testing.TB) string {
	t.Helper()
	samewire, virtual := build(t)
	rebuilt.once.Do(func() {
		dir := filepath.Join(filepath.Dir(samewire), "rebuilt")
		rebuilt.err = errors.Join(os.Mkdir(dir, 0o755), os.Link(samewire, filepath.Join(dir, "samewire")), os.Link(virtual, filepath.Join(dir, worker.VirtualName)))
		if rebuilt.err != nil {
			return
		}
		rebuilt.path = filepath.Join(dir, worker.RebuiltName)
		sources := filepath.Join(dir, "arms")
		for _, args := range [][]string{
			{"run", "./arms", sources},
			{"build", "-modfile", filepath.Join(sources, "samewire.mod"), "-tags", "faketime,arms",
				"-trimpath", "-ldflags", "-s -w", "-o", rebuilt.path, "./cmd/samewire"},
		} {
			c := exec.Command("go", args...)
			c.Dir, c.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0")
			if said, err := c.CombinedOutput(); err != nil {
				rebuilt.err = errors.Join(err, errors.New(string(said)))
				return
			}
		}
	})
	if rebuilt.err != nil {
		t.Fatal(rebuilt.err)
	}
	return rebuilt.path
}

// armsCarrier carries out runs as the site virtual does, with the rebuilt worker
// at hand. opened counts the variants of it that were started.
func armsCarrier(t testing.TB) (c *virtualPools, opened func() int) {
	t.Helper()
	path := buildArms(t)
	_, virtual := build(t)
	c = newVirtualPools(newSitePool(worker.VirtualCommand(virtual), 1), func(_ context.Context, v worker.Variant) (sitePool, error) {
		return newSitePool(worker.RebuiltCommand(path, v), 1), nil
	})
	t.Cleanup(c.Close)
	return c, func() int { return len(c.rebuilt) }
}

func armed(stack lab.Stack, initCwnd int, pacing string) lab.Stack {
	stack.InitCwnd, stack.Pacing = initCwnd, pacing
	return stack
}

// arm carries out a cell of the six networks on a stack.
func arm(t testing.TB, c *virtualPools, path string, load lab.Load, p lab.Protocol, stack lab.Stack) lab.Record {
	t.Helper()
	cell := lab.Cell{Path: presetPath(t, path), Load: load, Stack: stack, Site: lab.Virtual, Protocol: p}
	return mustOK(t, c.CarryOut(t.Context(), lab.Order{Run: runOf(cell, 1), Attempt: 1}))
}

// The author's puzzle: h3 beats h2 by more than its shorter handshake explains. The
// rest is the initial window, less a little pacing. Each is proven by an arm in which
// it alone changed; the figures, in ms, are those of the prototype of virtual time.
func TestArmsExplainTheSixNetworks(t *testing.T) {
	c, opened := armsCarrier(t)
	cold, stock := presetLoad(t, "ten-small"), lab.DefaultStack
	warm := cold
	warm.Warm = true
	window32, unpaced, both := armed(stock, 32, ""), armed(stock, 10, lab.PacingOff), armed(stock, 32, lab.PacingOff)
	for _, k := range []struct {
		path                             string
		rtt, h2, h2With32, h3, h3Unpaced float64
	}{
		{"intercontinental", 150, 754, 604, 483, 453},
		{"wired", 40, 204, 164, 130, 123},
	} {
		took := func(p lab.Protocol, load lab.Load, s lab.Stack) float64 {
			return ms(arm(t, c, k.path, load, p, s).Value(lab.Duration))
		}
		h2, h3 := took(lab.H2, cold, both), took(lab.H3, cold, both)
		for _, f := range []struct {
			what      string
			got, want float64
		}{
			{"h2", took(lab.H2, cold, stock), k.h2},
			{"h2, initial window 32", took(lab.H2, cold, window32), k.h2With32},
			{"h3", took(lab.H3, cold, stock), k.h3},
			{"h3, without pacing", took(lab.H3, cold, unpaced), k.h3Unpaced},
			// What is not to change does not.
			{"h3, initial window 32 of TCP", took(lab.H3, cold, window32), k.h3},
			{"h2, without QUIC's pacing", took(lab.H2, cold, unpaced), k.h2},
			// With both arms at once the handshake's round trip is left, and on warm
			// connections nothing.
			{"h2 − h3, both made equal", h2 - h3, k.rtt},
			{"h2 of h3, both made equal, warm", took(lab.H2, warm, both) / took(lab.H3, warm, both), 1},
		} {
			t.Logf("%s: %s: %.1f", k.path, f.what, f.got)
			if math.Abs(f.got/f.want-1) > 0.02 {
				t.Errorf("%s: %s: %.2f, want %.0f within 2 %%", k.path, f.what, f.got, f.want)
			}
		}
	}
	if n := opened(); n != 3 {
		t.Errorf("%d variants of the rebuilt worker were started, want 3: each once, and none for the stock stack", n)
	}
}

// What a rebuilt worker's record says of its programs and senders, and what the
// wire shows of them: the first flight is as large as the window, and leaves at once.
func TestArmsOnTheWire(t *testing.T) {
	c, _ := armsCarrier(t)
	one := lab.Load{Name: "one", Objects: 1, Size: 1e6}
	for _, k := range []struct {
		protocol lab.Protocol
		window   int
		pacing   string
		name     string // what the program's name ends with
		packets  int    // of the initial window
		paced    bool
	}{
		{lab.H1, 10, "", ")", 10, false},
		{lab.H1, 32, "", ") rebuilt: initial window 32", 32, false},
		{lab.H2, 32, "", ") rebuilt: initial window 32", 32, false},
		{lab.H2, 4, "", ") rebuilt: initial window 4", 4, false},
		{lab.H2, 64, "", ") rebuilt: initial window 64", 64, false},
		{lab.H3, 10, "", ")", 32, true},
		{lab.H3, 10, lab.PacingOff, ") rebuilt: without pacing", 32, false},
		{lab.H3, 64, lab.PacingOff, ") rebuilt: initial window 64, without pacing", 32, false},
	} {
		r := arm(t, c, "intercontinental", one, k.protocol, armed(lab.DefaultStack, k.window, k.pacing))
		what := fmt.Sprintf("%s, initial window %d, pacing %q", k.protocol, k.window, k.pacing)
		for side, s := range map[string]lab.Side{"server": r.Server, "client": r.Client} {
			if !strings.HasPrefix(s.Program, "samewire "+lab.Version+" (quic-go v") || !strings.HasSuffix(s.Program, k.name) {
				t.Errorf("%s: the %s is named %q, want %q at its end", what, side, s.Program, k.name)
			}
			if len(s.Senders) != 1 || s.Senders[0].InitialWindow != k.packets || (s.Senders[0].Source == "socket") != (k.protocol != lab.H3) {
				t.Errorf("%s: the %s says of its senders %+v, want %d packets", what, side, s.Senders, k.packets)
			}
		}
		down := r.Wire.Conversations[0].Down
		if n := down.InitialWindowPackets; n == nil || *n != k.packets {
			t.Errorf("%s: the wire shows an initial window of %v packets, want %d", what, n, k.packets)
		}
		if *down.Retransmitted != 0 {
			t.Errorf("%s: %d bytes were sent again", what, *down.Retransmitted)
		}
		b := r.Wire.Down.Bursts
		t.Logf("%s: the largest burst has %d packets", what, b.Largest)
		if paced := b.Paced != nil && *b.Paced; paced != k.paced || paced == (b.Largest >= k.packets) {
			t.Errorf("%s: the wire shows pacing %v, and a burst of %d packets", what, paced, b.Largest)
		}
	}
}

// Without the rebuilt worker, as beside this test's program, its runs say how to get
// it, and all others are carried out.
func TestWithoutTheRebuiltWorker(t *testing.T) {
	_, virtual := build(t)
	c := newVirtualPools(newSitePool(worker.VirtualCommand(virtual), 1), func(ctx context.Context, v worker.Variant) (sitePool, error) {
		_, err := worker.FindRebuilt(ctx, v)
		return nil, err
	})
	t.Cleanup(c.Close)
	run := cellRun(t, lab.Virtual, "wired", "cold", lab.H2, 1)
	carry := func(ctx context.Context, s lab.Stack) lab.Record {
		run.Cell.Stack = s
		return c.CarryOut(ctx, lab.Order{Run: run, Attempt: 1})
	}
	for _, s := range []lab.Stack{armed(lab.DefaultStack, 32, ""), armed(lab.DefaultStack, 10, lab.PacingOff)} {
		r := carry(t.Context(), s)
		if r.Outcome != lab.Unsupported || !strings.Contains(r.Reason, "`make arms` builds it") || r.Run.ID != run.ID || r.Started == "" {
			t.Errorf("%+v: %s: %s", s, r.Outcome, r.Reason)
		}
	}
	mustOK(t, carry(t.Context(), lab.DefaultStack))
	mustOK(t, carry(t.Context(), armed(lab.DefaultStack, 0, "")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := carry(ctx, armed(lab.DefaultStack, 32, "")); r.Outcome != lab.Invalid {
		t.Errorf("interrupted: %s: %s", r.Outcome, r.Reason)
	}
}

// A worker that is not what was asked for is refused, and so is a value that the
// patched stacks cannot have.
func TestAnotherVariantIsRefused(t *testing.T) {
	path := buildArms(t)
	_, virtual := build(t)
	for path, want := range map[string]worker.Variant{path: {InitCwnd: 32, Pacing: lab.PacingOff}, virtual: worker.Stock} {
		hello, err := worker.Ask(t.Context(), worker.RebuiltCommand(path, worker.Variant{InitCwnd: 32, Pacing: lab.PacingOff}))
		if err != nil || hello.Variant != want {
			t.Errorf("%s has %s, %v; want %s", filepath.Base(path), hello.Variant, err, want)
		}
	}
	for word, v := range map[string]worker.Variant{"SAMEWIRE_TCP_INITCWND": {InitCwnd: -1}, "SAMEWIRE_QUIC_PACING": {InitCwnd: 10, Pacing: "on"}} {
		if _, err := worker.Ask(t.Context(), worker.RebuiltCommand(path, v)); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// samewire finds the rebuilt worker beside itself; one of another build is refused.
func TestRunUsesTheRebuiltWorker(t *testing.T) {
	path := buildArms(t)
	samewire, virtual := build(t)
	study := filepath.Join(t.TempDir(), "study.yaml")
	text := "name: arms\nquestion: \"?\"\npaths: [wired]\nloads: [cold]\nprotocols: [h2]\nsites: [virtual]\nreps: 1\nstacks: [{}, {initcwnd: 32}]\n"
	if err := os.WriteFile(study, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	carry := func(samewire string) []lab.Record {
		dir := filepath.Join(t.TempDir(), "out")
		if said, err := exec.Command(samewire, "run", study, "--out", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		f, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		records, _, err := f.Records()
		records = slices.DeleteFunc(records, func(r lab.Record) bool { return r.Run.Cell.Arm == lab.ArmAA })
		if err != nil || len(records) != 2 {
			t.Fatalf("%d records, %v", len(records), err)
		}
		slices.SortFunc(records, func(a, b lab.Record) int { return a.Run.Cell.Stack.InitCwnd - b.Run.Cell.Stack.InitCwnd })
		mustOK(t, records[0])
		return records
	}
	if r := mustOK(t, carry(filepath.Join(filepath.Dir(path), "samewire"))[1]); !strings.HasSuffix(r.Server.Program, "rebuilt: initial window 32") {
		t.Errorf("the server is named %q", r.Server.Program)
	}
	// Beside another samewire lies a worker of that name that is not rebuilt.
	other := t.TempDir()
	for from, name := range map[string]string{samewire: "samewire", virtual: worker.VirtualName} {
		if err := os.Link(from, filepath.Join(other, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(virtual, filepath.Join(other, worker.RebuiltName)); err != nil {
		t.Fatal(err)
	}
	if r := carry(filepath.Join(other, "samewire"))[1]; r.Outcome != lab.Unsupported || !strings.Contains(r.Reason, "asked for were an initial window of 32") {
		t.Errorf("with a stock worker in its place (%s beside): %s: %s", path, r.Outcome, r.Reason)
	}
}

// On the kernel site the programs are as published, and h3 cannot do without pacing.
func TestKernelWithoutPacing(t *testing.T) {
	c := carrierOf(t, lab.Kernel, 1)
	for p, want := range map[lab.Protocol]lab.Outcome{lab.H2: lab.OK, lab.H3: lab.Unsupported} {
		run := cellRun(t, lab.Kernel, "wired", "cold", p, 1)
		run.Cell.Stack.Pacing = lab.PacingOff
		r := c.Carry(t.Context(), run)
		if r.Outcome != want || want == lab.Unsupported && !strings.Contains(r.Reason, "quic-go has no switch") {
			t.Errorf("%s: %s: %s", p, r.Outcome, r.Reason)
		}
	}
}
