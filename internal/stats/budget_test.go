package stats

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// took is a record of a run that began so many seconds into the study.
func took(site lab.SiteName, rep int, from, seconds float64) lab.Record {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(from * float64(time.Second)))
	return lab.Record{
		Run:     lab.Run{Cell: lab.Cell{Site: site}, Rep: rep},
		Started: began.Format(time.RFC3339Nano), Took: seconds,
	}
}

func TestSpent(t *testing.T) {
	again := took(lab.Kernel, 12, 400, 50)
	again.Run.Repeats = 2
	undated := took(lab.Kernel, 2, 0, 0.25)
	undated.Started = ""
	records := []lab.Record{
		took(lab.Kernel, 1, 0, 10), took(lab.Kernel, 1, 5, 10), // side by side: 15 s
		took(lab.Kernel, 1, 6, 2),                                // inside another
		took(lab.Kernel, 2, 100, 1), took(lab.Kernel, 2, 101, 1), // after a pause: 2 s
		undated, again,
		took(lab.Kernel, 3, 102, 4),
		took(lab.Virtual, 1, 1000, 500),
	}
	for last, want := range map[int]float64{0: 0, 1: 15, 2: 17.25, 3: 21.25, 99: 21.25} {
		if got := Spent(records, lab.Kernel, last); got.Seconds() != want {
			t.Errorf("up to repetition %d: %s, want %g s", last, got, want)
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	if got := Spent(records, lab.Kernel, 3); got.Seconds() != 21.25 {
		t.Errorf("in another order: %s", got)
	}
}

func TestAffordable(t *testing.T) {
	var records []lab.Record
	for rep := 1; rep <= 8; rep++ {
		records = append(records, took(lab.Kernel, rep, float64(rep)*20, 10))
	}
	for budget, want := range map[time.Duration]int{
		0: 10, time.Second: 1, 10 * time.Second: 1, 11 * time.Second: 2, 80 * time.Second: 8, 81 * time.Second: 10,
	} {
		p := lab.Plan{Reps: 10, Auto: &lab.Auto{Max: 10, Budget: budget}}
		if got := Affordable(p, records, lab.Kernel); got != want {
			t.Errorf("budget %s: %d repetitions, want %d", budget, got, want)
		}
	}
	if got := Affordable(lab.Plan{Reps: 7}, records, lab.Kernel); got != 7 {
		t.Errorf("without a rule: %d", got)
	}
}
