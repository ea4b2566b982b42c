package lab

// Random says whether the path's link draws random numbers for packets. Where it
// does not, two runs in virtual time are the same to the nanosecond.
func (p Path) Random() bool { return p.Up.random() || p.Down.random() }

func (w Way) random() bool {
	lossy := w.Loss.Share > 0 || w.Loss.Gilbert != Gilbert{}
	impaired := w.Jitter.Spread > 0 || w.Duplicate.Share > 0 || w.Corrupt.Share > 0 || w.Reorder.Share > 0
	return lossy || impaired || w.Rules.random()
}

// random is true too of rules that cannot be read.
func (text Rules) random() bool {
	rules, err := ParseRules(text)
	for _, r := range rules {
		if r.Share > 0 && r.Share < 1 {
			return true
		}
	}
	return err != nil
}
