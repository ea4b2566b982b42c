package stats

import "github.com/samewire/samewire/internal/lab"

// Attempt names one attempt of a run.
type Attempt struct {
	Run     string
	Attempt int
}

// Counts says which attempts are observations: of each run the one that counts,
// but for those that the lab spoilt by being late. Reports that list records one
// by one mark them by it, so that readers need not know the rules.
func Counts(records []lab.Record) map[Attempt]bool {
	byCell := map[lab.Cell][]lab.Record{}
	for _, r := range records {
		byCell[r.Run.Cell] = append(byCell[r.Run.Cell], r)
	}
	counts := map[Attempt]bool{}
	for _, records := range byCell {
		runs, _ := counted(records)
		for _, r := range runs {
			counts[Attempt{r.Run.ID, r.Attempt}] = !r.Late()
		}
	}
	return counts
}
