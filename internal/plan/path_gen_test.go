package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"pgregory.net/rapid"
)

// The files of the tests.
const (
	cellTrace = "0\n1\n1\n5\n"
	rateCSV   = "0,5mbit\n1.5,1mbit\n"
)

func testFiles(name string) ([]byte, error) {
	switch name {
	case "cell.trace", "dir/1.up":
		return []byte(cellTrace), nil
	case "rate.CSV", "r.csv":
		return []byte(rateCSV), nil
	case "bad.trace":
		return []byte("0\nx\n"), nil
	case "bytes":
		return []byte{0xff}, nil
	case "long":
		return bytes.Repeat([]byte("1\n"), lab.MaxTraceBytes/2+1), nil
	}
	return nil, errors.New("open " + name + ": no such file")
}

// gen draws the parts of paths.
type gen struct{ *rapid.T }

func (g gen) yes(name string) bool { return rapid.Bool().Draw(g.T, name) }

func (g gen) int(name string, low, high int) int { return rapid.IntRange(low, high).Draw(g.T, name) }

func (g gen) size(name string) int64 { return rapid.Int64Range(1, lab.MaxSize).Draw(g.T, name) }

// share draws a share above 0, below 1 or 1.
func (g gen) share(name string) float64 { return rapid.Float64Range(1e-12, 1).Draw(g.T, name) }

func (g gen) correlation(name string) float64 {
	return rapid.Float64Range(0, 0.999999).Draw(g.T, name)
}

func (g gen) span(name string, most time.Duration) time.Duration {
	d := time.Duration(rapid.Int64Range(1, int64(most)).Draw(g.T, name))
	if g.yes(name + " in ms") {
		d = max(d.Truncate(time.Millisecond), time.Millisecond)
	}
	return d
}

func (g gen) path() lab.Path {
	p := lab.Path{Name: "p", Up: g.way(), Down: g.way()}
	if g.yes("alike") {
		p.Down = p.Up
	}
	if g.yes("ipv6") {
		p.Family = lab.IPv6
	}
	if g.yes("rebind") {
		p.Rebind = lab.Rebind{
			At: g.span("at", lab.MaxTime), Address: g.yes("address"),
			Transport: rapid.SampledFrom([]lab.Transport{"", lab.UDP, lab.TCP}).Draw(g.T, "of"),
		}
		if g.yes("again") {
			p.Rebind.Every = g.span("every", lab.MaxTime)
		}
		if g.yes("idle") {
			p.Rebind.At, p.Rebind.Idle = 0, g.span("idle for", lab.MaxTime)
		}
	}
	return p
}

func (g gen) way() (w lab.Way) {
	w.Delay = time.Duration(rapid.Int64Range(0, int64(lab.MaxDelay)).Draw(g.T, "delay"))
	if g.yes("jitter") {
		w.Jitter = lab.Jitter{
			Spread: g.span("spread", lab.MaxDelay), Correlation: g.correlation("of jitter"), InOrder: g.yes("in order"),
			Distribution: rapid.SampledFrom([]lab.Distribution{lab.Uniform, lab.Normal, lab.Pareto}).Draw(g.T, "distribution"),
		}
	}
	g.rate(&w)
	if g.yes("limit") {
		w.Limit = g.int("limit of", 1, lab.MaxQueuePackets)
	}
	if g.yes("throttle") {
		w.Throttle = lab.Throttle{Transport: rapid.SampledFrom([]lab.Transport{"", lab.UDP, lab.TCP}).Draw(g.T, "throttled"), Rate: 1e6}
		if g.yes("bucket") {
			w.Throttle.Burst = g.size("bucket of")
		}
	}
	if g.yes("loss") {
		w.Loss = g.loss()
	}
	g.rare(&w)
	g.mtu(&w)
	return w
}

func (g gen) rate(w *lab.Way) {
	switch g.int("rate", 0, 3) {
	case 0:
		return
	case 1:
		name := rapid.SampledFrom([]string{"cell.trace", "dir/1.up", "rate.CSV", "r.csv"}).Draw(g.T, "trace")
		b, _ := testFiles(name)
		w.Trace = lab.NewTrace(name, string(b))
	default:
		w.Rate = lab.Rate(rapid.Int64Range(1, int64(lab.MaxRate)).Draw(g.T, "rate of"))
		w.Overhead = g.int("overhead", -1000, 1000)
		if g.yes("burst") {
			w.Burst = g.size("burst of")
			w.Police = g.yes("police")
		}
	}
	if !w.Police {
		g.queue(w)
	}
}

func (g gen) queue(w *lab.Way) {
	switch g.int("queue", 0, 4) {
	case 1:
		w.Queue.Packets = g.int("packets", 1, lab.MaxQueuePackets)
	case 2:
		w.Queue.Bytes = g.size("bytes")
	case 3:
		w.Queue.Time = g.span("longest wait", lab.MaxDelay)
	case 4:
		w.Queue.BDP = rapid.Float64Range(1e-9, lab.MaxQueueBDP).Draw(g.T, "bdp")
		w.Delay = max(w.Delay, 1)
	}
	switch g.int("aqm", 0, 2) {
	case 1:
		w.AQM = lab.AQM{Kind: lab.CoDel, ECN: g.yes("ecn"), Target: g.span("target", lab.MaxDelay)}
	case 2:
		w.AQM = lab.AQM{
			Kind: lab.FQCoDel, ECN: g.yes("ecn"), Interval: g.span("interval", lab.MaxDelay),
			Flows: g.int("flows", 0, 65536), Quantum: g.int("quantum", 0, 1e6),
		}
	}
}

func (g gen) loss() (l lab.Loss) {
	l.Super, l.ECN = g.yes("super"), g.yes("ecn")
	if g.yes("gemodel") {
		l.Gilbert = lab.Gilbert{P: g.share("p"), R: g.share("r"), Bad: g.share("1-h"), Good: g.share("1-k")}
		if g.yes("netem's r") {
			l.Gilbert.R = 1 - l.Gilbert.P
		}
		if g.yes("netem's h and k") {
			l.Gilbert.Bad, l.Gilbert.Good = 1, 0
		}
		return l
	}
	l.Share = g.share("lost")
	if g.yes("in bursts") {
		l.Burst = g.int("of", 2, 1e6)
	}
	return l
}

func (g gen) rare(w *lab.Way) {
	if g.yes("duplicate") {
		w.Duplicate = lab.Chance{Share: g.share("twice"), Correlation: g.correlation("twice after twice")}
	}
	if g.yes("corrupt") {
		w.Corrupt = lab.Chance{Share: g.share("corrupted")}
	}
	if g.yes("reorder") && !w.Jitter.InOrder {
		w.Delay = max(w.Delay, 1)
		w.Reorder = lab.Reorder{Share: g.share("reordered"), Correlation: g.correlation("of reordering")}
		if g.yes("gap") {
			w.Reorder.Gap = g.int("gap of", 2, 1e6)
		}
	}
	list := rapid.SliceOfN(rapid.SampledFrom([]string{
		"drop udp", "drop tcp syn 50%", "reject udp initial nth 1,2,5", "drop above 1412B 1.5%", "drop every 1000",
		"drop every 5s", "outage from 5s to 7s", "drop udp after 60kB up for 200ms", "drop udp after 60kB down", "drop 1rtt from 2s",
	}), 0, 3).Draw(g.T, "rules")
	for i, text := range list {
		rule, err := lab.ParseRule(text)
		if err != nil {
			g.Fatal(err)
		}
		list[i] = rule.String()
	}
	w.Rules = lab.JoinRules(list)
}

func (g gen) mtu(w *lab.Way) {
	if g.yes("mtu") {
		w.MTU = rapid.SampledFrom([]int{0, 1281, 1492, 1500, 9000, 65535}).Draw(g.T, "mtu of")
		w.TooBig = g.yes("icmp")
		if g.yes("shrink") {
			w.Shrink = lab.Shrink{MTU: lab.MinMTU6, At: g.span("shrinks at", lab.MaxTime) - 1}
		}
	}
}

// Whatever path the notation can say, it says without loss; and so does JSON,
// with the contents of traces beside it.
func TestPathRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := gen{t}.path()
		checkRoundTrip(t, p)
		checkJSONRoundTrip(t, p)
	})
}

func checkRoundTrip(t interface{ Errorf(string, ...any) }, p lab.Path) {
	s := FormatPath(p)
	got, err := ParsePath(p.Name, s, testFiles)
	if err != nil {
		t.Errorf("%q: %v", s, err)
	} else if got != p {
		t.Errorf("%q: got %#v, want %#v", s, got, p)
	}
}

func checkJSONRoundTrip(t *rapid.T, p lab.Path) {
	traces := lab.Traces{}
	traces.Add(p)
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got lab.Path
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	id := lab.RunID(lab.Cell{Path: got}, 1)
	if err := traces.Attach(&got); err != nil || got != p {
		t.Fatalf("%s: got %#v, want %#v, %v", b, got, p, err)
	}
	if id != lab.RunID(lab.Cell{Path: p}, 1) {
		t.Fatalf("%s: a run's name depends on whether the trace is attached", b)
	}
}

// A study's mapping takes the same words with the same values as the one-line
// notation.
func TestMappingMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := gen{t}.path()
		for _, w := range []*lab.Way{&p.Up, &p.Down} {
			if _, sorted := mappedRules(*w); !sorted {
				w.Rules = "" // a mapping has each key once
			}
		}
		text := "loads: [cold]\npaths:\n  p: {family: " + string(cmp.Or(p.Family, lab.IPv4)) + ", up: " + mapped(p.Up) + ", down: " + mapped(p.Down)
		if p.Rebind != (lab.Rebind{}) {
			text += ", rebind: " + p.Rebind.String()
		}
		s, err := ParseStudy("s.yaml", []byte(text+"}\n"), testFiles)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if s.Paths[0] != p {
			t.Fatalf("%s\ngot %#v, want %#v", text, s.Paths[0], p)
		}
	})
}

// mapped writes a way as a study's mapping.
func mapped(w lab.Way) string {
	var keys []string
	for _, word := range lab.Words() {
		if text := word.Text(w); text != "" {
			keys = append(keys, word.Name+": "+text)
		}
	}
	if w.Trace.Name != "" {
		keys = append(keys, "trace: "+w.Trace.Name)
	}
	rules, _ := mappedRules(w)
	return "{" + strings.Join(append(keys, rules...), ", ") + "}"
}

// mappedRules writes rules as keys; sorted says that each key comes once.
func mappedRules(w lab.Way) (keys []string, sorted bool) {
	seen := map[string]bool{}
	for _, text := range w.Rules.List() {
		verb, rule, _ := strings.Cut(text, " ")
		last := len(keys) - 1
		switch {
		case last >= 0 && strings.HasPrefix(keys[last], verb+": "):
			keys[last] = strings.TrimSuffix(keys[last], "]") + ", '" + rule + "']"
		case seen[verb]:
			return nil, false
		default:
			keys = append(keys, verb+": ['"+rule+"']")
		}
		seen[verb] = true
	}
	return keys, true
}
