package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/runner"
	"github.com/samewire/samewire/internal/store"
	"github.com/samewire/samewire/internal/wire"
	"github.com/samewire/samewire/internal/wire/pcapng"
)

// captured carries out a run and returns its record and what was kept of it.
func captured(t *testing.T, c runner.Carrier, run lab.Run) (r lab.Record, file string) {
	t.Helper()
	dir := t.TempDir()
	for n := range 4 { // of which the lab may spoil some, on a busy machine
		r = c.CarryOut(t.Context(), lab.Order{Run: run, Attempt: n + 1, Keep: lab.Keep{Rule: lab.KeepAll, Dir: dir}})
		if r.Outcome != lab.Invalid {
			break
		}
	}
	if r.Outcome != lab.OK || r.Kept == nil || r.Kept.Error != "" {
		t.Fatalf("%s (%s), kept %+v", r.Outcome, r.Reason, r.Kept)
	}
	return r, filepath.Join(dir, r.Kept.Capture)
}

func mustCapture(t testing.TB, name string) *wire.Capture {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	c, err := pcapng.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCapturesAreOfTheRun holds, on all sites, that a capture has the record's
// packets, with their fates, and the secrets of the load's connections alone: none
// of those with which the programs warmed up.
func TestCapturesAreOfTheRun(t *testing.T) {
	sites := map[lab.SiteName]func() runner.Carrier{
		lab.Virtual: func() runner.Carrier { return carrierOf(t, lab.Virtual, 1) },
		lab.Process: func() runner.Carrier { return inprocCarrier(lab.Process, false) },
		lab.Kernel:  func() runner.Carrier { return carrierOf(t, lab.Kernel, 1) },
	}
	path := notedPath(t, "lossy", "rtt 20ms rate 20mbit loss 3%")
	for _, site := range lab.SiteNames() {
		t.Run(string(site), func(t *testing.T) {
			c := sites[site]()
			for _, p := range lab.Protocols() {
				run := runOf(lab.Cell{Path: path, Load: presetLoad(t, "ten-small"), Stack: lab.DefaultStack, Site: site, Protocol: p}, 1)
				run.Lateness = 0 // the packets are looked at, not the time
				r, file := captured(t, c, run)
				checkCapture(t, r, mustCapture(t, file))
			}
		})
	}
}

func checkCapture(t *testing.T, r lab.Record, c *wire.Capture) {
	t.Helper()
	protocol := r.Run.Cell.Protocol
	dropped, seen := [2]int{}, [2]int{}
	for _, p := range c.Packets {
		seen[p.Way]++
		if p.Fate.Drop != lab.NotDropped {
			dropped[p.Way]++
		}
	}
	for d, way := range []lab.WireWay{r.Wire.Up, r.Wire.Down} {
		if want := way.Drops[string(lab.DropLoss)]; seen[d] != way.Packets || dropped[d] != want {
			t.Errorf("%s, %v: the capture has %d packets, %d of them dropped; the record %d and %d",
				protocol, lab.Direction(d), seen[d], dropped[d], way.Packets, want)
		}
	}
	of := map[string]bool{}
	for line := range strings.Lines(string(c.Secrets)) {
		if m := keyLine.FindStringSubmatch(strings.TrimSpace(line)); m == nil {
			t.Errorf("%q is no line of a key log", line)
		} else {
			of[m[2]] = true
		}
	}
	if len(of) != *r.Connections {
		t.Errorf("%s: secrets of %d connections, want %d", protocol, len(of), *r.Connections)
	}
	if c.End <= c.Start || !strings.Contains(c.Name, r.Run.ID) {
		t.Errorf("%s: from %v to %v, called %q", protocol, c.Start, c.End, c.Name)
	}
}

// runKept runs a study of three runs in virtual time (h2 is measured twice), of which
// h3 fails: its datagrams are too large for the path.
func runKept(t *testing.T, out string, flags ...string) string {
	t.Helper()
	samewire, _ := build(t)
	args := []string{"run", "--site", "virtual", "--path", "rtt 10ms mtu 1280 icmp", "--loads", "cold", "--protocols", "h2,h3", "--reps", "1", "--out", out}
	said, err := exec.Command(samewire, append(args, flags...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return string(said)
}

func TestKeepRules(t *testing.T) {
	for rule, want := range map[string]int{"all": 3, "failed": 1, "none": 0, "": 1} {
		out := filepath.Join(t.TempDir(), "out")
		var flags []string
		if rule != "" {
			flags = []string{"--keep", rule}
		}
		runKept(t, out, flags...)
		files, err := filepath.Glob(filepath.Join(out, store.WireFolder, "*"))
		if err != nil || len(files) != want {
			t.Errorf("--keep %s kept %v, %v", rule, files, err)
		}
		for _, r := range recordsOf(t, out) {
			kept := r.Kept != nil
			if failed := r.Outcome != lab.OK; kept != (rule == "all" || failed && rule != "none") {
				t.Errorf("--keep %s: %s, %s: kept %+v", rule, r.Run.Cell.Protocol, r.Outcome, r.Kept)
			}
			if kept && !strings.HasSuffix(r.Kept.Capture, r.Run.ID+"-1.pcapng") {
				t.Errorf("kept as %s", r.Kept.Capture)
			}
		}
	}
}

func recordsOf(t *testing.T, dir string) []lab.Record {
	t.Helper()
	folder, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	records, _, err := folder.Records()
	if err != nil || len(records) == 0 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	return records
}

// TestWhatCannotBeKept is told, and costs no run.
func TestWhatCannotBeKept(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	runKept(t, out, "--keep", "none")
	ended := map[string]lab.Outcome{}
	for _, r := range recordsOf(t, out) {
		ended[r.Run.ID] = r.Outcome
	}
	if err := os.WriteFile(filepath.Join(out, store.WireFolder), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(out, store.RecordsFile), 0); err != nil {
		t.Fatal(err)
	}
	said := runKept(t, out, "--keep", "all")
	if !strings.Contains(said, "of 3 runs could not be kept") {
		t.Errorf("not told: %s", said)
	}
	for _, r := range recordsOf(t, out) {
		if r.Kept == nil || r.Kept.Capture != "" || r.Kept.Error == "" || r.Outcome != ended[r.Run.ID] {
			t.Errorf("%s, kept %+v; without keeping it was %s", r.Outcome, r.Kept, ended[r.Run.ID])
		}
	}
}

// TestQLogsAreKept holds that both sides' qlogs are there, in virtual time and in
// real processes.
func TestQLogsAreKept(t *testing.T) {
	samewire, _ := build(t)
	for _, site := range []string{"virtual", "kernel"} {
		if site == "kernel" {
			carrierOf(t, lab.Kernel, 1) // skips where it cannot run
		}
		out := filepath.Join(t.TempDir(), "out")
		said, err := exec.Command(samewire, "run", "--site", site, "--no-check", "--path", "rtt 10ms", "--loads", "cold", "--protocols", "h3",
			"--reps", "1", "--keep", "all", "--qlog", "--out", out).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		kept := recordsOf(t, out)[0].Kept
		if kept == nil || len(kept.QLogs) != 2 || kept.Error != "" {
			t.Fatalf("%s: kept %+v", site, kept)
		}
		for _, name := range kept.QLogs {
			b, err := os.ReadFile(filepath.Join(out, name))
			if err != nil || !strings.HasPrefix(string(b), "\x1e{") || strings.Count(string(b), "\"name\"") < 20 {
				t.Errorf("%s: %s has %d bytes, %v", site, name, len(b), err)
			}
		}
	}
}
