package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

func TestPathPresets(t *testing.T) {
	want := map[string]string{
		"datacenter":        "rtt 0s",
		"wired":             "rtt 40ms rate 100mbit queue 4MB",
		"intercontinental":  "rtt 150ms rate 100mbit queue 4MB",
		"loss-1":            "rtt 40ms rate 100mbit queue 4MB loss 1%",
		"loss-3":            "rtt 40ms rate 100mbit queue 4MB loss 3%",
		"cell-edge":         "rtt 100ms rate 100mbit queue 4MB loss 5%",
		"3g":                "rtt 150ms queue 1s up{rate 768kbit} down{rate 1600kbit}",
		"3gfast":            "rtt 75ms queue 1s up{rate 768kbit} down{rate 1600kbit}",
		"3gslow":            "rtt 200ms rate 400kbit queue 1s",
		"4g":                "rtt 85ms rate 9mbit queue 1s",
		"lte":               "rtt 35ms rate 12mbit queue 1s",
		"cable":             "rtt 14ms queue 64KiB up{rate 1mbit} down{rate 5mbit}",
		"dsl":               "rtt 25ms queue 64KiB up{rate 384kbit} down{rate 1500kbit}",
		"fios":              "rtt 2ms queue 64KiB up{rate 5mbit} down{rate 20mbit}",
		"lighthouse-mobile": "rtt 150ms queue 1s up{rate 750kbit} down{rate 1600kbit}",
		"satellite-geo":     "rtt 600ms queue 1bdp up{rate 3mbit} down{rate 25mbit}",
		"wifi-busy":         "rtt 20ms jitter 3ms pareto in-order rate 30mbit queue 200ms loss gemodel 0.1% 30%",
	}
	for _, p := range pathPresets() {
		if FormatPath(p.value) != want[p.name] {
			t.Errorf("%s: %q, want %q", p.name, FormatPath(p.value), want[p.name])
		}
		delete(want, p.name)
		checkRoundTrip(t, p.value)
		if !p.value.InOrder() {
			t.Errorf("%s: packets overtake: TCP on the virtual site would not be comparable", p.name)
		}
		if w := Warnings(p.value); len(w) > 0 {
			t.Errorf("%s: %q", p.name, w)
		}
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
	wired, _ := lookup(pathPresets(), "wired")
	for _, l := range loadPresets() {
		if l.value.Bytes() >= wired.value.Down.Queue.Bytes {
			t.Errorf("load %s does not fit into the queue of the six networks", l.name)
		}
	}
}

func TestPresetsAreDescribed(t *testing.T) {
	for what, list := range map[string][]Preset{"path": Paths(), "load": Loads(), "study": Studies()} {
		if len(list) == 0 {
			t.Errorf("there is no %s", what)
		}
		for _, p := range list {
			if checkName(what, p.Name) != nil || p.Description == "" || p.Source == "" || (p.Notation == "") != (what == "study") || (p.Numbers == "") != (what != "path") {
				t.Errorf("%s: %+v", what, p)
			}
		}
	}
}

func TestLoadNotationRoundTrip(t *testing.T) {
	for _, l := range append(Loads(),
		Preset{Notation: "objects 3 size 1B warm upload connections 2"},
		Preset{Notation: "objects 3 size 5kB connections{h1 2 h3 4}"}) {
		s := mustStudy(t, "paths: [wired]\nloads: {x: '"+l.Notation+"'}\n")
		if got := FormatLoad(s.Loads[0]); got != l.Notation {
			t.Errorf("%q became %q", l.Notation, got)
		}
	}
}

func TestStudyPresets(t *testing.T) {
	for name, want := range map[string]struct{ runs, paths, loads int }{
		"quick":                  {3 * 2 * 2 * (3 + 1) * 30, 3, 2},
		"six-networks":           {6 * 4 * 2 * (3 + 1) * 30, 6, 4},
		"six-networks-explained": {2 * 2 * 2 * 4 * (2 + 1) * 5, 2, 2},
		"calibration":            {2 * 1 * 2 * (1 + 1) * 5, 2, 1},
	} {
		text, ok := Study(name)
		if !ok {
			t.Fatalf("no study %s", name)
		}
		s, err := ParseStudy(name+".yaml", text, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := mustBuild(t, s)
		if s.Name != name || s.Question == "" || len(p.Runs) != want.runs || len(s.Paths) != want.paths || len(s.Loads) != want.loads {
			t.Errorf("%s: %d runs, %d paths, %d loads", s.Name, len(p.Runs), len(s.Paths), len(s.Loads))
		}
	}
	if _, ok := Study("none"); ok {
		t.Error("a study that is not there was found")
	}
}

func TestNumbers(t *testing.T) {
	for notation, want := range map[string]string{
		"rtt 0s": "RTT 0s; each way no limit of rate",
		"rtt 40ms rate 10mbit loss 1%": "RTT 40ms; each way 10mbit, a packet of 1500 B takes 1.2ms, rate × RTT is 50kB, " +
			"the queue holds 1.5MB (1.2s), 1% of packets lost",
		"rtt 10ms up{rate 1mbit queue 2bdp} down{rate 2gbit queue 10p loss gemodel 1% 25%}": "RTT 10ms; " +
			"up 1mbit, a packet of 1500 B takes 12ms, rate × RTT is 1.25kB, the queue holds 2.5kB (20ms); " +
			"down 2gbit, a packet of 1500 B takes 6µs, rate × RTT is 2.5MB, the queue holds 15kB (60µs), 3.85% of packets lost, 4 in a row on average",
	} {
		p, err := ParsePath("p", notation, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := numbers(p); got != want {
			t.Errorf("%s:\n got %s\nwant %s", notation, got, want)
		}
	}
}

// The least that quick measures on the kernel site has to fit into its budget, and
// the budget into what one waits for. The estimate takes round trips (handshakes,
// requests, and lost packets at a round trip each, a lost handshake at 1 s) and
// 0.15 s for setting up a run of the kernel site.
func TestQuickIsQuick(t *testing.T) {
	text, _ := Study("quick")
	s, err := ParseStudy("quick", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := mustBuild(t, s)
	var total time.Duration
	for _, r := range p.Runs {
		if r.Cell.Site == lab.Kernel && r.Rep <= p.Auto.Min {
			total += estimate(r.Cell) + 150*time.Millisecond
		}
	}
	t.Logf("%d blocks: about %.0f s on the kernel site, of a budget of %s", p.Auto.Min, total.Seconds(), p.Auto.Budget)
	if p.Auto.Min != BlocksNeeded(24) {
		t.Errorf("at least %d blocks, want what 24 tests take: 4 of the 12 comparisons are exact", p.Auto.Min)
	}
	if p.Auto.Budget > 3*time.Minute || total > p.Auto.Budget*3/4 || total < p.Auto.Budget/4 {
		t.Errorf("quick would take %.0f s on the kernel site, and its budget is %s", total.Seconds(), p.Auto.Budget)
	}
}

func estimate(c lab.Cell) time.Duration {
	trips := map[lab.Protocol]float64{lab.H1: 3, lab.H2: 3, lab.H3: 2}[c.Protocol]
	if c.Load.Bytes() > 14600 {
		trips += 2 // slow start
	}
	packets := float64(c.Load.Bytes())/1400 + 6
	loss := c.Path.Down.Loss.Share
	trips += packets * 2 * loss
	handshakes := float64(c.Load.For(c.Protocol)) * 2 * loss
	return time.Duration(trips*float64(c.Path.RTT())) + time.Duration(handshakes*float64(time.Second))
}

func TestNarrow(t *testing.T) {
	s := mustStudy(t, crossed)
	seed := uint64(9)
	got, err := Narrow{
		Paths: []string{"intercontinental", "cell-edge", "cell-edge"}, Loads: []string{"big"},
		Protocols: []string{"h3"}, Sites: []string{"process"}, Reps: "2", Seed: &seed, Timeout: "1m30s",
	}.Apply(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Paths) != 2 || got.Paths[0].Name != "cell-edge" || got.Paths[1].Name != "intercontinental" ||
		got.Paths[1].Up.Delay != 75*time.Millisecond {
		t.Errorf("paths %+v", got.Paths)
	}
	if len(got.Loads) != 1 || len(got.Protocols) != 1 || got.Sites[0] != lab.Process || got.Reps != 2 || got.Seed != 9 || got.Timeout != 90*time.Second {
		t.Errorf("%+v", got)
	}
	if len(s.Paths) != 2 || s.Paths[0].Name != "wired" {
		t.Error("the study itself was changed")
	}
}

// A study's own path of a preset's name stays its own.
func TestNarrowPrefersTheStudy(t *testing.T) {
	s := mustStudy(t, "paths: {wired: rtt 1ms, b: rtt 2ms}\nloads: [cold]\n")
	got, err := Narrow{Paths: []string{"wired"}}.Apply(s)
	if err != nil || len(got.Paths) != 1 || got.Paths[0].RTT() != time.Millisecond {
		t.Errorf("%+v, %v", got.Paths, err)
	}
}

func TestNarrowFaults(t *testing.T) {
	_, err := Narrow{
		Paths: []string{"wird", "wired"}, Loads: []string{"x"}, Protocols: []string{"http3"},
		Sites: []string{"kernal"}, Reps: "-1", Timeout: "25h",
	}.Apply(mustStudy(t, crossed))
	if err == nil {
		t.Fatal("accepted")
	}
	lines := strings.Split(err.Error(), "\n")
	for i, want := range []string{
		`--paths: "wird" is neither in the study nor known to samewire; did you mean "wired"? in the study: wired, cell-edge; others: datacenter,`,
		`--loads: "x" is neither in the study nor known to samewire; in the study: cold, big; others: warm,`,
		`--protocols: "http3" is neither in the study nor known to samewire; in the study: h1, h2, h3`,
		`--site: "kernal" is neither in the study nor known to samewire; did you mean "kernel"? in the study: virtual, kernel; others: process`,
		`--reps: reps: "-1": must be a whole number from 1 to 100000, or auto, such as auto width 10% max 30 budget 5m`,
		`--timeout: duration "25h": must be from 1ms to 24h0m0s`,
	} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d of\n%v\nwant %s", i, err, want)
		}
	}
}
