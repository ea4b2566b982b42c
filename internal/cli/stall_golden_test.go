package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestStallsOfRealRuns has the autopsies of runs that were carried out on the site
// virtual: each file in testdata/stalls is a run's capture, and beside it is what
// is to be said of it.
func TestStallsOfRealRuns(t *testing.T) {
	names, err := filepath.Glob("testdata/stalls/*.pcapng")
	if err != nil || len(names) < 3 {
		t.Fatalf("%d captures: %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".pcapng"), func(t *testing.T) {
			c := mustCapture(t, name)
			var f lab.Wire
			wire.Digest(c, wire.About{RTT: 40 * time.Millisecond}, &f)
			got := tellStalls(wire.Read(c), f.Stalls)
			golden := strings.TrimSuffix(name, ".pcapng") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// tellStalls is all that is said of stalls, as text.
func tellStalls(r *wire.Reading, stalls []lab.Stall) string {
	b := new(strings.Builder)
	fmt.Fprintf(b, "%s, %d packets, ended after %v\n", r.Capture.Name, len(r.Events), r.Capture.End-r.Capture.Start)
	for _, s := range stalls {
		fmt.Fprintf(b, "\nat %.6f s for %.6f s, ended %v; %d B delivered, %s spoke last, %s should act\n%s.\n",
			s.At, s.Length, s.Ended, s.Delivered, s.LastSpoke, s.ShouldAct, s.Sentence)
		for _, o := range s.Owed {
			fmt.Fprintf(b, "  owed: %s\n", o)
		}
		for _, t := range s.Timers {
			fmt.Fprintf(b, "  %s %s due at %.6f s, fired %v: %s\n", t.Side, t.Name, t.Due, t.Fired, t.Why)
		}
		for _, d := range []lab.Direction{lab.Up, lab.Down} {
			fmt.Fprintf(b, "  %s's last packets:", []string{"client", "server"}[d])
			for _, i := range r.LastSpoken(s, d, 3) {
				fmt.Fprintf(b, " %d", r.Events[i].N)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
