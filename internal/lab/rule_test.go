package lab

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseRule(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Rule
	}{
		{"drop", Rule{Verb: RuleDrop}},
		{"reject udp", Rule{Verb: RuleReject, Transport: UDP}},
		{"drop udp above 1412B 1.5%", Rule{Verb: RuleDrop, Transport: UDP, Above: 1412, Share: 0.015}},
		{"drop initial nth 2", Rule{Verb: RuleDrop, Kind: KindInitial, Nth: []int{2}}},
		{"drop nth 5,2,2,9", Rule{Verb: RuleDrop, Nth: []int{2, 5, 9}}},
		{"drop every 1000", Rule{Verb: RuleDrop, Every: 1000}},
		{"drop every 5s", Rule{Verb: RuleDrop, Period: 5 * time.Second}},
		{"outage from 10s to 12s", Rule{Verb: RuleOutage, From: 10 * time.Second, To: 12 * time.Second}},
		{"outage to 2s", Rule{Verb: RuleOutage, To: 2 * time.Second}},
		{"outage from 0 to 2s", Rule{Verb: RuleOutage, To: 2 * time.Second}},
		{"drop udp after 60kB down for 200ms", Rule{
			Verb: RuleDrop, Transport: UDP, After: 60_000, Counts: DownSide, For: 200 * time.Millisecond,
		}},
		{"drop after 1B", Rule{Verb: RuleDrop, After: 1}},
		{"after 1KiB up for 1s reject tcp syn", Rule{
			Verb: RuleReject, Transport: TCP, Kind: KindSYN, After: 1024, Counts: UpSide, For: time.Second,
		}},
		{" for 1s \t drop\nafter 2B", Rule{Verb: RuleDrop, After: 2, For: time.Second}},
		{"50% 1rtt drop", Rule{Verb: RuleDrop, Kind: KindOneRTT, Share: 0.5}},
		{"drop 100%", Rule{Verb: RuleDrop, Share: 1}},
	} {
		got, err := ParseRule(tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q is %+v, want %+v", tt.text, got, tt.want)
		}
	}
}

// Each error says what is wrong, and what is allowed.
func TestParseRuleRefuses(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                 {"no verb", "drop|reject|outage"},
		"udp":                              {"no verb", "drop|reject|outage"},
		"drop udb":                         {`unknown word "udb"`, "[udp|tcp]"},
		"drop reject":                      {"more than one verb"},
		"drop drop":                        {"more than one verb"},
		"drop udp tcp":                     {"more than one transport"},
		"drop syn initial":                 {"more than one kind"},
		"drop 1% every 5":                  {"more than one choice"},
		"drop every 5 every 5s":            {"more than one choice"},
		"drop every":                       {"number of packets", "duration"},
		"drop every 0":                     {"at least 1"},
		"drop every -5s":                   {"above 0"},
		"drop nth":                         {"numbers from 1"},
		"drop nth 0":                       {"numbers from 1"},
		"drop nth 1,,2":                    {"numbers from 1"},
		"drop nth 1, 2":                    {"numbers from 1"},
		"drop 0%":                          {"above 0%"},
		"drop 101%":                        {"0% to 100%"},
		"drop x%":                          {"percentage"},
		"drop above":                       {"above", "B, kB"},
		"drop above 0B":                    {"1B to 65535B"},
		"drop above 1MB":                   {"1B to 65535B"},
		"drop from":                        {"from", "20ms"},
		"drop from -1s":                    {"must be from 0 to 24h"},
		"drop to 0s":                       {"above 0"},
		"drop from 2s to 1s":               {"ends at 1s, before it begins at 2s"},
		"drop from 2s to 2s":               {"ends at 2s"},
		"drop after":                       {"after", "B, kB"},
		"drop after 0B":                    {"at least 1B"},
		"drop after 1kB left":              {`unknown word "left"`},
		"drop after 1kB from 1s":           {"either from T to T, or after SIZE"},
		"drop for 1s":                      {`"for" goes with "after`},
		"drop from 1s for 1s":              {`"for" goes with "after`},
		"drop after 1kB for 0s":            {"above 0"},
		"drop udp syn":                     {"no datagram"},
		"drop tcp initial":                 {"no TCP segment"},
		"drop udp after 1kB for 2562047h":  {"from 0 to 24h"},
		"drop every 25h":                   {"up to 24h"},
		"drop up":                          {`unknown word "up"`},
		"drop above 1kB above 2kB":         {"more than one above"},
		"drop after 1kB down after 2kB up": {"more than one after"},
	} {
		_, err := ParseRule(text)
		if err == nil {
			t.Errorf("%q was taken", text)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %q does not say %q", text, err, part)
			}
		}
	}
}

func TestParseRules(t *testing.T) {
	got, err := ParseRules(" drop initial nth 2;reject udp ")
	want := []Rule{{Verb: RuleDrop, Kind: KindInitial, Nth: []int{2}}, {Verb: RuleReject, Transport: UDP}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
	if text := FormatRules(got); text != "drop initial nth 2; reject udp" {
		t.Errorf("they are written %q", text)
	}
	for _, none := range []Rules{"", "  "} {
		if got, err := ParseRules(none); err != nil || got != nil {
			t.Errorf("%q: %+v (%v)", none, got, err)
		}
	}
	_, err = ParseRules("drop udb; drop; reject every x")
	if err == nil || !strings.Contains(err.Error(), "udb") || !strings.Contains(err.Error(), `every "x"`) {
		t.Errorf("not all faults are reported: %v", err)
	}
	if _, err := ParseRules("drop;"); err == nil {
		t.Error("an empty rule was taken")
	}
}

func TestRuleSideIsADirection(t *testing.T) {
	for _, own := range []Direction{Up, Down} {
		if OwnSide.Direction(own) != own || UpSide.Direction(own) != Up || DownSide.Direction(own) != Down {
			t.Errorf("sides of a rule of direction %s are wrong", own)
		}
	}
}

// anyRule is any rule that ParseRule can give.
func anyRule(t *rapid.T) Rule {
	positive := func(name string) time.Duration {
		return time.Duration(rapid.Int64Range(1, int64(MaxTime)/2).Draw(t, name))
	}
	r := Rule{
		Verb:      rapid.SampledFrom([]RuleVerb{RuleDrop, RuleReject, RuleOutage}).Draw(t, "verb"),
		Transport: rapid.SampledFrom([]Transport{"", UDP, TCP}).Draw(t, "transport"),
		Above:     rapid.IntRange(0, maxPacket).Draw(t, "above"),
	}
	kinds := map[Transport][]PacketKind{
		"":  {"", KindSYN, KindInitial, KindZeroRTT, KindHandshake, KindRetry, KindOneRTT},
		UDP: {"", KindInitial, KindZeroRTT, KindHandshake, KindRetry, KindOneRTT}, TCP: {"", KindSYN},
	}
	r.Kind = rapid.SampledFrom(kinds[r.Transport]).Draw(t, "kind")
	switch rapid.IntRange(0, 4).Draw(t, "choice") {
	case 1:
		r.Share = float64(rapid.Int64Range(1, 1e11).Draw(t, "share")) / 1e9 / 100
	case 2:
		r.Every = rapid.IntRange(1, 1e9).Draw(t, "every")
	case 3:
		r.Period = positive("period")
	case 4:
		for n := range 1 + rapid.IntRange(0, 3).Draw(t, "more") {
			r.Nth = append(r.Nth, 5*n+rapid.IntRange(1, 5).Draw(t, "nth"))
		}
	}
	switch rapid.IntRange(0, 2).Draw(t, "window") {
	case 1:
		r.From = time.Duration(rapid.Int64Range(0, int64(MaxTime)/2).Draw(t, "from"))
		if rapid.Bool().Draw(t, "ends") {
			r.To = r.From + positive("to")
		}
	case 2:
		r.After = rapid.Int64Range(1, MaxSize).Draw(t, "after")
		r.Counts = rapid.SampledFrom([]RuleSide{OwnSide, UpSide, DownSide}).Draw(t, "counts")
		if rapid.Bool().Draw(t, "ends") {
			r.For = positive("for")
		}
	}
	return r
}

// A rule comes back as it was written, in whatever order its parts stand.
func TestRuleRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyRule(t)
		text := want.String()
		got, err := ParseRule(text)
		if err != nil {
			t.Fatalf("%+v is written %q, which is refused: %v", want, text, err)
		}
		if !reflect.DeepEqual(got, want) || got.String() != text {
			t.Fatalf("%q is %+v, was %+v", text, got, want)
		}
		rules, err := ParseRules(FormatRules([]Rule{want, want}))
		if err != nil || !reflect.DeepEqual(rules, []Rule{want, want}) {
			t.Fatalf("two of %q are %+v (%v)", text, rules, err)
		}
	})
}

// What is read is written, and read again as the same.
func FuzzParseRules(f *testing.F) {
	for _, text := range []string{
		"drop udp above 1412B 1.5%", "reject", "outage from 1s to 1m0.5s; drop nth 1,2,3", "drop after 1.5kB up for 1h every 7",
		"drop 33.333333333333%", "drop above 1KiB every 1e3s",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := ParseRules(Rules(text))
		if err != nil {
			return
		}
		written := FormatRules(rules)
		again, err := ParseRules(written)
		if err != nil || !reflect.DeepEqual(again, rules) {
			t.Fatalf("%q is written %q, which is %+v (%v), not %+v", text, written, again, err, rules)
		}
		if FormatRules(again) != written {
			t.Fatalf("%q is written %q, and then %q", text, written, FormatRules(again))
		}
	})
}

// A rule for every packet is a value of the notation, too: a verb alone is none.
func TestRuleForEverythingHasAValue(t *testing.T) {
	r, err := ParseRule("drop from 0s")
	if err != nil || r.String() != "drop from 0s" {
		t.Errorf("%q (%v)", r.String(), err)
	}
}

func TestHandoverEndsInTime(t *testing.T) {
	for text, ok := range map[string]bool{"at 1h for 23h": true, "at 24h for 1s": false, "at 1h for 24h": false} {
		if h, err := ParseHandover(text); (err == nil) != ok {
			t.Errorf("%q: %+v (%v)", text, h, err)
		}
	}
}
