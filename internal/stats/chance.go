package stats

import "github.com/samewire/samewire/internal/lab"

// Exact says that a cell has no chance in it: virtual time, and a path whose link
// draws no random number. What differs there is a difference.
func Exact(c lab.Cell) bool {
	return c.Site == lab.Virtual && !chancy(c.Path.Up) && !chancy(c.Path.Down)
}

func chancy(w lab.Way) bool {
	lossy := w.Loss.Share > 0 || w.Loss.Gilbert != lab.Gilbert{}
	impaired := w.Jitter.Spread > 0 || w.Duplicate.Share > 0 || w.Corrupt.Share > 0 || w.Reorder.Share > 0
	return lossy || impaired || ruledByChance(w.Rules)
}

// ruledByChance is true too of rules that cannot be read.
func ruledByChance(text lab.Rules) bool {
	rules, err := lab.ParseRules(text)
	for _, r := range rules {
		if r.Share > 0 && r.Share < 1 {
			return true
		}
	}
	return err != nil
}
