package gauge

import (
	"math"

	"github.com/samewire/samewire/internal/lab"
)

// word is a word of a path that asks for something. Each has a row among the
// checks: a measurement that is about it, or one that says that there is none.
type word struct {
	field string // of lab.Way, as Loss.ECN
	asks  func(lab.Way) bool
	// shown is the check that is about it; nil or empty: none is, on such a way.
	shown func(lab.Way) string
	row   string // the name of the row where there is no such check
	why   string // and what it says
}

// always names a check that is about a word on every way.
func always(name string) func(lab.Way) string { return func(lab.Way) string { return name } }

const (
	notSeen   = "no measurement was about it"
	notLooked = "these instruments do not look at it"
)

// words lists what a way can ask for, field by field. TestWordsAreComplete fails
// when lab.Way has a field that is not here.
func words() []word {
	return append(append(delayWords(), rateWords()...), chanceWords()...)
}

func delayWords() []word {
	spread := func(w lab.Way) bool { return w.Jitter.Spread > 0 }
	return []word{
		{"Delay", func(w lab.Way) bool { return w.Delay > 0 }, always(Delay), Delay, notSeen},
		{"Jitter.Spread", spread, always(JitterSD), JitterSD, notSeen},
		{"Jitter.Correlation", func(w lab.Way) bool { return w.Jitter.Correlation > 0 }, always(JitterNext), JitterNext, notSeen},
		{"Jitter.Distribution", func(w lab.Way) bool { return w.Jitter.Distribution != lab.Uniform }, always(JitterTail), JitterTail, notSeen},
		{"Jitter.InOrder", func(w lab.Way) bool { return w.Jitter.InOrder }, always(Reordered), Reordered, notSeen},
		{"MTU", func(w lab.Way) bool { return w.MTU > 0 }, always(MTU), MTU, notSeen},
		{"TooBig", func(w lab.Way) bool { return w.TooBig }, always(TooBig), TooBig, "nothing too large could be sent"},
		{"Shrink", func(w lab.Way) bool { return w.Shrink != (lab.Shrink{}) }, nil, "mtu-later",
			"the MTU shrinks later than this check looks"},
	}
}

func rateWords() []word {
	aqm := func(w lab.Way) bool { return w.AQM != (lab.AQM{}) }
	queue := func(w lab.Way) bool { return w.Queue != (lab.Queue{}) || w.Rate > 0 && !w.Police }
	throttle := func(w lab.Way) bool { return w.Throttle != (lab.Throttle{}) }
	throttleRate := func(w lab.Way) string {
		if throttled(w, lab.UDP) && policed(w) {
			return Rate
		}
		return ""
	}
	return []word{
		{"Rate", func(w lab.Way) bool { return w.Rate > 0 }, always(Rate), Rate, notSeen},
		{"Overhead", func(w lab.Way) bool { return w.Overhead != 0 }, always(Rate), Rate, notSeen},
		{"Burst", func(w lab.Way) bool { return w.Burst > 0 }, func(w lab.Way) string {
			if policed(w) {
				return Passed
			}
			return Queue
		}, Passed, notSeen},
		{"Police", func(w lab.Way) bool { return w.Police }, always(QueueWait), QueueWait, notSeen},
		{"Trace", func(w lab.Way) bool { return w.Trace != (lab.Trace{}) }, nil, "trace", "how the rate follows its trace is not looked at"},
		{"Queue", queue, always(Queue), Queue, notSeen},
		{"AQM.Kind", aqm, nil, "aqm", "what active queue management drops, and when, is not looked at"},
		{"AQM.Target", func(w lab.Way) bool { return w.AQM.Target > 0 }, nil, "aqm-target", notLooked},
		{"AQM.Interval", func(w lab.Way) bool { return w.AQM.Interval > 0 }, nil, "aqm-interval", notLooked},
		{"AQM.ECN", func(w lab.Way) bool { return w.AQM.ECN }, always(QueueMarks), QueueMarks, notSeen},
		{"AQM.Flows", func(w lab.Way) bool { return w.AQM.Flows > 0 }, nil, "aqm-flows", notLooked},
		{"AQM.Quantum", func(w lab.Way) bool { return w.AQM.Quantum > 0 }, nil, "aqm-quantum", notLooked},
		{"Limit", func(w lab.Way) bool { return w.Limit > 0 }, limitShown, "limit", "the rate or the queue is the narrower limit"},
		{"Throttle.Rate", throttle, throttleRate, "throttle-rate", "it is not what limits datagrams on this path"},
		{"Throttle.Burst", func(w lab.Way) bool { return w.Throttle.Burst > 0 }, func(w lab.Way) string {
			if throttleRate(w) == Rate {
				return Passed
			}
			return ""
		}, "throttle-burst", "it is not what limits datagrams on this path"},
		{"Throttle.Transport", throttle, nil, "throttle-tcp", "whether TCP is throttled is seen by tcp-goodput only, and not judged"},
	}
}

func chanceWords() []word {
	return []word{
		{"Loss.Share", func(w lab.Way) bool { return w.Loss.Share > 0 }, always(LossShare), LossShare, notSeen},
		{"Loss.Burst", func(w lab.Way) bool { return w.Loss.Burst > 1 }, always(LossRun), LossRun, "no runs of losses were seen"},
		{"Loss.Gilbert", func(w lab.Way) bool { return w.Loss.Gilbert != (lab.Gilbert{}) }, always(LossRun), LossRun, "no runs of losses were seen"},
		{"Loss.Super", func(w lab.Way) bool { return w.Loss.Super }, always(LossRunJoined), LossRunJoined, "no runs of losses were seen"},
		{"Loss.ECN", func(w lab.Way) bool { return w.Loss.ECN }, always(Marked), Marked, notSeen},
		{"Rules", func(w lab.Way) bool { return w.Rules != "" }, nil, "rules", "exact rules are not checked here"},
		{"Duplicate.Share", func(w lab.Way) bool { return w.Duplicate.Share > 0 }, always(Duplicated), Duplicated, notSeen},
		{"Duplicate.Correlation", func(w lab.Way) bool { return w.Duplicate.Correlation > 0 }, always(DuplicatedNext), DuplicatedNext, notSeen},
		{"Corrupt.Share", func(w lab.Way) bool { return w.Corrupt.Share > 0 }, always(Corrupted), Corrupted, notSeen},
		{"Corrupt.Correlation", func(w lab.Way) bool { return w.Corrupt.Correlation > 0 }, always(CorruptedNext), CorruptedNext, notSeen},
		{"Reorder.Share", func(w lab.Way) bool { return w.Reorder.Share > 0 }, always(Reordered), Reordered, notSeen},
		{"Reorder.Correlation", func(w lab.Way) bool { return w.Reorder.Correlation > 0 }, always(UndelayedNext), UndelayedNext,
			"the delay is too short to tell who passed without it"},
		{"Reorder.Gap", func(w lab.Way) bool { return w.Reorder.Gap > 1 }, always(UndelayedNext), UndelayedNext,
			"the delay is too short to tell who passed without it"},
	}
}

// limitShown is the check in which netem's limit shows: the rate, where it is
// what limits that.
func limitShown(w lab.Way) string {
	without := w
	without.Limit = 0
	const size = lab.DefaultMTU
	if udpRate(w, size) < udpRate(without, size) {
		return Rate
	}
	return ""
}

// complete adds a row for every word of a path that no check is about, so that
// nothing that was asked for is passed over in silence.
func complete(p lab.Path, checks []Check) []Check {
	have := map[[2]string]bool{}
	shrunk := map[string]bool{}
	for _, c := range checks {
		if c.State != Told {
			have[[2]string{c.Name, c.Direction}] = true
		}
		for _, d := range directions() { // was it looked at after it had shrunk?
			if m := p.Way(d).Shrink.MTU; c.Name == MTU && c.Direction == d.String() && c.Asked != nil && *c.Asked == float64(m) {
				shrunk[c.Direction] = true
			}
		}
	}
	add := func(name, direction, why string) {
		if at := [2]string{name, direction}; !have[at] {
			have[at] = true
			checks = append(checks, unchecked(name, direction, "bool", math.NaN(), math.NaN(), 0, why))
		}
	}
	for _, d := range directions() {
		w := p.Way(d)
		for _, word := range words() {
			if !word.asks(w) || word.field == "Shrink" && shrunk[d.String()] {
				continue
			}
			if word.shown != nil && have[[2]string{word.shown(w), d.String()}] {
				continue
			}
			why := word.why
			if o := obstacle(w); o != "" && why == notSeen {
				why = o
			}
			add(word.row, d.String(), why)
		}
	}
	for _, r := range rebindWords(p.Rebind) {
		add(r[0], Both, r[1])
	}
	return checks
}

// rebindWords are the rows that a rebinding must have at least, with why.
func rebindWords(r lab.Rebind) (rows [][2]string) {
	if r == (lab.Rebind{}) {
		return nil
	}
	rows = append(rows, [2]string{Rebound, notSeen})
	if r.Transport != lab.UDP {
		rows = append(rows, [2]string{"rebind-tcp", "TCP's flows are not looked at"})
	}
	if r.Idle > 0 && (r.At > 0 || r.Every > 0) {
		rows = append(rows, [2]string{"rebind-idle", "looked at only where there is no other cause"})
	}
	if r.At > 0 && r.Every > 0 {
		rows = append(rows, [2]string{"rebind-at", "looked at only where it is not repeated"})
	}
	return rows
}
