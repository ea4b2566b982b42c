package lab

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ruleForm is the notation of a rule, for those who got it wrong.
const ruleForm = "drop|reject|outage [udp|tcp] [syn|initial|0rtt|handshake|retry|1rtt] [above SIZE] " +
	"[N% | every N | every DURATION | nth N,N…] [from T [to T] | after SIZE [up|down] [for T]]"

// maxPacket is the largest IP packet, in bytes.
const maxPacket = 65535

// ParseRules reads rules separated by ";". An empty text has none. All faults
// are reported at once.
func ParseRules(text Rules) ([]Rule, error) {
	if strings.TrimSpace(string(text)) == "" {
		return nil, nil
	}
	var rules []Rule
	var faults []error
	for one := range strings.SplitSeq(string(text), ";") {
		r, err := ParseRule(one)
		rules, faults = append(rules, r), append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return rules, nil
}

// FormatRules writes rules as ParseRules reads them.
func FormatRules(rules []Rule) Rules {
	texts := make([]string, len(rules))
	for i, r := range rules {
		texts[i] = r.String()
	}
	return Rules(strings.Join(texts, "; "))
}

// ParseRule reads a rule, such as
//
//	drop udp above 1412B 1.5%
//	reject udp
//	drop initial nth 2
//	outage from 10s to 12s
//	drop udp after 60kB down for 200ms
//
// A rule has a verb (drop, reject, outage), and what it needs of: a transport
// (udp, tcp), a kind of packet (syn, initial, 0rtt, handshake, retry, 1rtt), a
// size (above SIZE), a choice (N%, every N, every DURATION, nth N,N…) and a
// window (from T, to T; or after SIZE, of this direction or of the one named,
// and for T). They may come in any order, each once.
func ParseRule(s string) (Rule, error) {
	p := ruleParser{words: strings.Fields(s)}
	for len(p.words) > 0 {
		if err := p.part(p.next()); err != nil {
			return Rule{}, fmt.Errorf("rule %q: %w", strings.TrimSpace(s), err)
		}
	}
	if err := p.check(); err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", strings.TrimSpace(s), err)
	}
	return p.rule, nil
}

// ruleParser reads a rule word by word.
type ruleParser struct {
	words []string // still to be read
	rule  Rule
	seen  []string // the parts read so far, by the names that errors use
}

func (p *ruleParser) next() string {
	if len(p.words) == 0 {
		return ""
	}
	word := p.words[0]
	p.words = p.words[1:]
	return word
}

// once notes that a part was read, and refuses it the second time.
func (p *ruleParser) once(part string) error {
	if slices.Contains(p.seen, part) {
		return fmt.Errorf("more than one %s", part)
	}
	p.seen = append(p.seen, part)
	return nil
}

// part reads one part of a rule, which begins with the word given.
func (p *ruleParser) part(word string) error {
	r := &p.rule
	switch word {
	case string(RuleDrop), string(RuleReject), string(RuleOutage):
		r.Verb = RuleVerb(word)
		return p.once("verb (drop, reject, outage)")
	case string(UDP), string(TCP):
		r.Transport = Transport(word)
		return p.once("transport (udp, tcp)")
	case string(KindSYN), string(KindInitial), string(KindZeroRTT), string(KindHandshake), string(KindRetry), string(KindOneRTT):
		r.Kind = PacketKind(word)
		return p.once("kind of packet")
	case "above":
		return errors.Join(p.once(word), p.above())
	case "every":
		return errors.Join(p.once("choice (N%, every, nth)"), p.every())
	case "nth":
		return errors.Join(p.once("choice (N%, every, nth)"), p.nth())
	case "from":
		return errors.Join(p.once(word), p.time(word, &r.From))
	case "to":
		return errors.Join(p.once(word), p.positive(word, &r.To))
	case "after":
		return errors.Join(p.once(word), p.after())
	case "for":
		return errors.Join(p.once(word), p.positive(word, &r.For))
	}
	if strings.HasSuffix(word, "%") {
		return errors.Join(p.once("choice (N%, every, nth)"), p.share(word))
	}
	return fmt.Errorf("unknown word %q; want %s", word, ruleForm)
}

// check looks at what no part alone can tell.
func (p *ruleParser) check() error {
	r, has := p.rule, func(part string) bool { return slices.Contains(p.seen, part) }
	switch {
	case r.Verb == "":
		return fmt.Errorf("no verb; want %s", ruleForm)
	case has("after") && (has("from") || has("to")):
		return errors.New("a window is either from T to T, or after SIZE for T")
	case has("for") && !has("after"):
		return errors.New(`"for" goes with "after SIZE"; with "from" say "to"`)
	case has("to") && r.To <= r.From:
		return fmt.Errorf("the window ends at %s, before it begins at %s", r.To, r.From)
	case r.Kind == KindSYN && r.Transport == UDP:
		return errors.New("syn is a kind of TCP segment, and no datagram is one")
	case r.Kind != "" && r.Kind != KindSYN && r.Transport == TCP:
		return fmt.Errorf("%s is a kind of QUIC packet, and no TCP segment is one", r.Kind)
	}
	return nil
}

func (p *ruleParser) above() error {
	n, err := ParseSize(p.next())
	if err != nil {
		return fmt.Errorf("above: %w", err)
	}
	if n < 1 || n > maxPacket {
		return fmt.Errorf("above: must be from 1B to %s", FormatSize(maxPacket))
	}
	p.rule.Above = int(n)
	return nil
}

func (p *ruleParser) every() error {
	word := p.next()
	if n, err := strconv.Atoi(word); err == nil {
		if n < 1 {
			return fmt.Errorf("every %s: must be at least 1", word)
		}
		p.rule.Every = n
		return nil
	}
	d, err := ParseDuration(word)
	if err != nil || d <= 0 || d > MaxTime {
		return fmt.Errorf("every %q: want a number of packets, such as 1000, or a duration above 0 and up to %s, such as 5s", word, FormatDuration(MaxTime))
	}
	p.rule.Period = d
	return nil
}

func (p *ruleParser) nth() error {
	word := p.next()
	for one := range strings.SplitSeq(word, ",") {
		n, err := strconv.Atoi(one)
		if err != nil || n < 1 {
			return fmt.Errorf("nth %q: want numbers from 1, separated by commas, such as 2,5", word)
		}
		p.rule.Nth = append(p.rule.Nth, n)
	}
	slices.Sort(p.rule.Nth)
	p.rule.Nth = slices.Compact(p.rule.Nth)
	return nil
}

// share reads a share, with as many digits as FormatShare writes.
func (p *ruleParser) share(word string) error {
	v, err := ParseShare(word)
	if err != nil {
		return err
	}
	if v, err = ParseShare(FormatShare(v)); err != nil {
		return err
	}
	if v == 0 {
		return fmt.Errorf("share %q: must be above 0%%, up to 100%%", word)
	}
	p.rule.Share = v
	return nil
}

func (p *ruleParser) time(word string, t *time.Duration) error {
	d, err := ParseDuration(p.next())
	if err != nil {
		return fmt.Errorf("%s: %w", word, err)
	}
	if d < 0 || d > MaxTime {
		return fmt.Errorf("%s: must be from 0 to %s", word, FormatDuration(MaxTime))
	}
	*t = d
	return nil
}

func (p *ruleParser) positive(word string, t *time.Duration) error {
	if err := p.time(word, t); err != nil {
		return err
	}
	if *t == 0 {
		return fmt.Errorf("%s: must be above 0", word)
	}
	return nil
}

func (p *ruleParser) after() error {
	n, err := ParseSize(p.next())
	if err != nil {
		return fmt.Errorf("after: %w", err)
	}
	if n < 1 {
		return errors.New("after: must be at least 1B")
	}
	p.rule.After = n
	if len(p.words) > 0 && (p.words[0] == string(UpSide) || p.words[0] == string(DownSide)) {
		p.rule.Counts = RuleSide(p.next())
	}
	return nil
}

// String writes the rule as ParseRule reads it.
func (r Rule) String() string {
	words := []string{string(r.Verb)}
	add := func(say bool, text ...string) {
		if say {
			words = append(words, text...)
		}
	}
	add(r.Transport != "", string(r.Transport))
	add(r.Kind != "", string(r.Kind))
	add(r.Above > 0, "above", FormatSize(int64(r.Above)))
	add(r.Share > 0, FormatShare(r.Share))
	add(r.Every > 0, "every", strconv.Itoa(r.Every))
	add(r.Period > 0, "every", r.Period.String())
	add(len(r.Nth) > 0, "nth", joinInts(r.Nth))
	add(r.From > 0, "from", r.From.String())
	add(r.To > 0, "to", r.To.String())
	add(r.After > 0, "after", FormatSize(r.After))
	add(r.After > 0 && r.Counts != OwnSide, string(r.Counts))
	add(r.For > 0, "for", r.For.String())
	add(len(words) == 1, "from", "0s") // every packet, always: a verb alone is none of the notation's values
	return strings.Join(words, " ")
}

func joinInts(list []int) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}
