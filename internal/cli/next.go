package cli

import (
	"fmt"
	"path/filepath"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/store"
)

// sayNext says how many runs' packets a folder has, and how to look into runs.
func sayNext(say func(string), folder *store.Folder) {
	if records, _, err := folder.Records(); err == nil { // else the report has said so
		sayNextOf(say, folder, records)
	}
}

// sayNextOf is sayNext for who has read the folder's records: they may be many.
func sayNextOf(say func(string), folder *store.Folder, records []lab.Record) {
	n := 0
	for _, r := range records {
		if hasCapture(r) {
			n++
		}
	}
	if n > 0 {
		say(fmt.Sprintf("captures: %d, in %s (Wireshark opens them decrypted)", n, filepath.Join(folder.Dir(), store.WireFolder)))
	}
	if next := nextStep(folder.Dir(), records); next != "" {
		say(next)
	}
}

// nextStep names the commands that look into the runs of a folder, where there is
// something to be seen: one that did not end ok, or that stalled, else one of
// which packets were kept. It is empty where there is none.
func nextStep(dir string, records []lab.Record) string {
	run, tells := "", ""
	for _, r := range records {
		switch {
		case r.Outcome != lab.OK || len(r.Wire.Stalls) > 0:
			return next(dir, r.Run.ID, "why one failed or stalled")
		case hasCapture(r) && run == "":
			run, tells = r.Run.ID, "one packet by packet"
		}
	}
	if run == "" {
		return ""
	}
	return next(dir, run, tells)
}

func next(dir, run, tells string) string {
	return fmt.Sprintf("next: samewire show %s lists the runs; samewire show %s RUN (such as %s) tells %s", dir, dir, run, tells)
}

// hasCapture says whether a capture of the run was kept.
func hasCapture(r lab.Record) bool { return r.Kept != nil && r.Kept.Capture != "" }
