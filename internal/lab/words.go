package lab

import "strings"

// Word is a word of the notation of one direction: a key in a study and in
// JSON, a word on a command line. It has the same name and the same value's text
// everywhere. Rules (drop, reject, outage) and trace, whose values are more than
// a text, are not among them.
type Word struct {
	Name string
	// Flag says that the word's value is true or false, and that it may stand
	// alone.
	Flag bool
	// Rate says that the word has no meaning without a limit of rate.
	Rate bool

	// Inside are the words that can stand inside a value, after its first part.
	Inside []string

	text func(Way) string
	read func(*Way, *values)
}

// Words lists the words in the order in which they are written, and have to be
// read: what comes later may add to what came before.
func Words() []Word {
	return []Word{
		{Name: "delay", text: func(w Way) string { return positive(w.Delay) }, read: (*Way).readDelay},
		{
			Name: "jitter", Inside: []string{"uniform", "normal", "pareto", "in-order"},
			text: func(w Way) string { return w.Jitter.String() }, read: (*Way).readJitter,
		},
		{Name: "distribution", text: func(Way) string { return "" }, read: (*Way).readDistribution},
		{Name: "rate", text: rateText, read: (*Way).readRate},
		{Name: "burst", Rate: true, text: func(w Way) string { return size(w.Burst) }, read: (*Way).readBurst},
		{Name: "police", Flag: true, Rate: true, text: policeText, read: (*Way).readPolice},
		{
			Name: "queue", Rate: true, Inside: []string{"codel", "fq_codel", "target", "interval", "ecn", "flows", "quantum"},
			text: queueText, read: (*Way).readQueue,
		},
		{
			Name: "limit", text: func(w Way) string { return count(w.Limit) },
			read: func(w *Way, v *values) { w.Limit = next(v, "a number of packets", whole(0, MaxQueuePackets)) },
		},
		{
			Name: "throttle", Inside: []string{"udp", "tcp", "unlimited", "burst"}, text: func(w Way) string { return w.Throttle.String() },
			read: func(w *Way, v *values) { w.Throttle = readThrottle(v) },
		},
		{
			Name: "loss", Inside: []string{"random", "gemodel", "state", "burst", "super", "ecn"}, text: func(w Way) string { return w.Loss.String() },
			read: func(w *Way, v *values) { w.Loss = readLoss(v) },
		},
		{
			Name: "duplicate", text: func(w Way) string { return w.Duplicate.String() },
			read: func(w *Way, v *values) { w.Duplicate = readChance(v) },
		},
		{
			Name: "corrupt", text: func(w Way) string { return w.Corrupt.String() },
			read: func(w *Way, v *values) { w.Corrupt = readChance(v) },
		},
		{
			Name: "reorder", Inside: []string{"gap"}, text: func(w Way) string { return w.Reorder.String() },
			read: func(w *Way, v *values) { w.Reorder = readReorder(v) },
		},
		{Name: "mtu", Inside: []string{"icmp", "then", "at"}, text: mtuText, read: (*Way).readMTU},
	}
}

// Text writes the value of the word as it is of the way; it is empty where the
// way has nothing to say.
func (w Word) Text(way Way) string { return w.text(way) }

// Set reads a value of the word into the way. The error is a *ValueError.
func (w Word) Set(way *Way, value string) error {
	v := newValues(value)
	w.read(way, v)
	return v.end()
}

// RuleInside are the words that can stand inside a rule.
func RuleInside() []string {
	return []string{
		"udp", "tcp", "syn", "initial", "0rtt", "handshake", "retry", "1rtt",
		"above", "every", "nth", "from", "to", "after", "up", "down", "for",
	}
}

// List returns each rule's text.
func (r Rules) List() []string {
	if r == "" {
		return nil
	}
	return strings.Split(string(r), "; ")
}

// JoinRules is the opposite of List.
func JoinRules(list []string) Rules { return Rules(strings.Join(list, "; ")) }

// RuleVerbs lists the verbs, which are words of the notation.
func RuleVerbs() []RuleVerb { return []RuleVerb{RuleDrop, RuleReject, RuleOutage} }

func policeText(w Way) string {
	if w.Police {
		return "true"
	}
	return ""
}

func (w *Way) readPolice(v *values) {
	switch {
	case v.word("true"):
		w.Police = true
	case v.word("false"):
		w.Police = false
	default:
		v.fail("%q: must be true or false", clip(v.peek()))
	}
}
