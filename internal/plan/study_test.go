package plan

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/samewire/samewire/internal/lab"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

const authored = `name: cell-edge-2
question: Does HTTP/3 help
  at the edge of coverage?
paths:                         # a preset's name, or a path of one's own
  line:  wired
  edge:  {rtt: 100ms, rate: 10mbit, loss: 5%, queue: 1bdp}
  burst: {rtt: 100ms, down: {rate: 10mbit, delay: 70ms}, up: {rate: 2mbit, queue: 100p}}
  line1: 'rtt 40ms rate 100mbit loss 1% queue 1bdp down{rate 50mbit}'
  plain: delay 5ms family ipv6 mtu 1400
  folded: >
    rtt 40ms
    rate 1gbit
loads:
  big:   {objects: 1, size: 3MB}
  small: objects 50 size 8kB warm connections{h1 2}
  ten:   ten-small
  up:    {size: 1MiB, upload: true, connections: 4}
protocols: [h1, h3]
sites: [virtual, kernel]
stacks:
  - {server: embedded, client: embedded}
  - {tls: 1.2, cc: reno, initcwnd: 32, pacing: off}
  - {pacing: default, tls: 1.2}
reps: 7
timeout: 90s
seed: 18446744073709551615
equalise: true
lateness: 2ms
`

func TestParseStudy(t *testing.T) {
	got, err := ParseStudy("edge.yaml", []byte(authored), nil)
	if err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	way := func(delay time.Duration, rate lab.Rate, loss float64, q lab.Queue) lab.Way {
		return lab.Way{Delay: delay, Rate: rate, Loss: lab.Loss{Share: loss}, Queue: q}
	}
	bdp, fourMB := lab.Queue{BDP: 1}, lab.Queue{Bytes: 4e6}
	want := lab.Study{
		Name: "cell-edge-2", Question: "Does HTTP/3 help at the edge of coverage?",
		Paths: []lab.Path{
			{Name: "line", Up: way(20*ms, 100e6, 0, fourMB), Down: way(20*ms, 100e6, 0, fourMB)},
			{Name: "edge", Up: way(50*ms, 10e6, 0.05, bdp), Down: way(50*ms, 10e6, 0.05, bdp)},
			{Name: "burst", Up: way(50*ms, 2e6, 0, lab.Queue{Packets: 100}), Down: way(70*ms, 10e6, 0, lab.Queue{})},
			{Name: "line1", Up: way(20*ms, 100e6, 0.01, bdp), Down: way(20*ms, 50e6, 0.01, bdp)},
			{Name: "plain", Family: lab.IPv6, Up: lab.Way{Delay: 5 * ms, MTU: 1400}, Down: lab.Way{Delay: 5 * ms, MTU: 1400}},
			{Name: "folded", Up: way(20*ms, 1e9, 0, lab.Queue{}), Down: way(20*ms, 1e9, 0, lab.Queue{})},
		},
		Loads: []lab.Load{
			{Name: "big", Objects: 1, Size: 3e6},
			{Name: "small", Objects: 50, Size: 8000, Warm: true, Connections: lab.Connections{H1: 2}},
			{Name: "ten", Objects: 10, Size: 8192},
			{Name: "up", Objects: 1, Size: 1 << 20, Upload: true, Connections: lab.Connections{H1: 4, H2: 4, H3: 4}},
		},
		Protocols: []lab.Protocol{lab.H1, lab.H3}, Sites: []lab.SiteName{lab.Virtual, lab.Kernel},
		Stacks: []lab.Stack{lab.DefaultStack, {Server: "embedded", Client: "embedded", TLS: "1.2", CC: "reno", InitCwnd: 32, Pacing: "off"},
			{Server: "embedded", Client: "embedded", TLS: "1.2", CC: "cubic", InitCwnd: 10}},
		Reps: 7, Timeout: 90 * time.Second, Seed: 1<<64 - 1, Equalise: true, Lateness: 2 * ms,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestParseStudyDefaults(t *testing.T) {
	got, err := ParseStudy("some/dir/mine.yaml", []byte("paths: [wired]\nloads: [cold]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := lab.Study{
		Name: "mine", Paths: got.Paths, Loads: got.Loads,
		Protocols: lab.Protocols(), Sites: []lab.SiteName{lab.Virtual, lab.Kernel}, Stacks: []lab.Stack{lab.DefaultStack},
		Reps: 5, Timeout: 2 * time.Minute, Seed: 1, Lateness: 5 * time.Millisecond,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(got.Paths) != 1 || got.Paths[0].Name != "wired" || len(got.Loads) != 1 || got.Loads[0].Name != "cold" {
		t.Errorf("paths %v, loads %v", got.Paths, got.Loads)
	}
}

// All faults of one text are reported at once, each with its place.
func TestFaultsOfAStudy(t *testing.T) {
	text, err := os.ReadFile("testdata/bad.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = ParseStudy("bad.yaml", text, nil)
	if err == nil {
		t.Fatal("a bad study was accepted")
	}
	golden(t, "bad.golden", err.Error()+"\n")
}

func TestFaults(t *testing.T) {
	const good = "paths: [wired]\nloads: [cold]\n"
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "s.yaml:1:1: the study is empty"},
		{"comment only", "# nothing\n", "s.yaml:1:1: the study is empty"},
		{"scalar", "5", "s.yaml:1:1: a study must be a mapping, not a single value"},
		{"list", "- wired\n", "s.yaml:1:1: a study must be a mapping, not a list"},
		{"no paths", "loads: [cold]\n", "s.yaml:1:1: the study has no paths: no cell is left to measure"},
		{"no loads", "paths: [wired]\n", "s.yaml:1:1: the study has no loads: no cell is left to measure"},
		{"empty paths", "paths: {}\nloads: [cold]\n", "s.yaml:1:8: there is no path: no cell is left"},
		{"empty loads", "paths: [wired]\nloads: []\n", "s.yaml:2:8: there is no load: no cell is left"},
		{"paths without value", "paths:\nloads: [cold]\n", "s.yaml:1:1: paths has no value"},
		{"no protocol", good + "protocols: []\n", "s.yaml:3:12: there is no protocol"},
		{"no stack", good + "stacks: []\n", "s.yaml:3:9: there is no stack"},
		{"two documents", good + "---\n" + good, "s.yaml:4:1: a file holds one study"},
		{"directive", "%YAML 1.2\n---\n" + good, "a file holds one study: no further documents, no directives"},
		{"syntax", "paths: [wired\nloads: [cold]\n", "s.yaml:2:1: not YAML"},
		{"tab", "\tpaths: [wired]\n", "not YAML"},
		{"anchor", "paths: &p [wired]\nloads: [cold]\n", "s.yaml:1:8: anchors, aliases"},
		{"merge", good + "<<: {reps: 3}\n", "s.yaml:3:1: anchors, aliases and merge keys"},
		{"not UTF-8", good + "name: \xff\n", "s.yaml:3:1: the study is not UTF-8"},
		{"too long", good + strings.Repeat("# x\n", MaxStudy/4), "longer than 64 KiB"},
		{"too deep", strings.Repeat("[", 1000), "nested deeper"},
		{"too deep in dashes", strings.Repeat("- ", 1000), "nested deeper"},
		{"twice", "paths: {a: wired, a: wired}\nloads: [cold]\n", `s.yaml:1:19: path "a" is given twice`},
		{"twice in a list", "paths: [wired, wired]\nloads: [cold]\n", `s.yaml:1:16: path "wired" is given twice`},
		{"stack twice", good + "stacks: [{cc: reno}, {cc: reno}]\n", "s.yaml:3:22: this stack is given twice"},
		{"key with accent", "paths: {é: wired}\nloads: [cold]\n", `s.yaml:1:9: path's name "é": must be`},
		{"long name", "paths: {" + strings.Repeat("x", 65) + ": wired}\nloads: [cold]\n", "must be 1 to 64 of the characters"},
		{"dotted name", "name: ..\n" + good, "must begin with a letter"},
		{"place in a notation", "paths: {a: 'rtt 40ms loss 150%'}\nloads: [cold]\n", `s.yaml:1:27: loss: share "150%": must be from 0% to 100%`},
		{"place after wide characters", "question: 日本\npaths: {a: 'rtt é'}\nloads: [cold]\n", `s.yaml:2:17: rtt: duration "é"`},
		{"near miss of a key", good + "timout: 5s\n", `"timout" is not known; did you mean "timeout"? allowed: name, question, paths,`},
		{"unknown pacing", good + "stacks: [{pacing: of}]\n", `s.yaml:3:19: pacing: "of" is not known; allowed: default, off`},
		{"near miss of a preset", "paths: [wird]\nloads: [cold]\n", `did you mean "wired"? allowed: datacenter, wired,`},
		{"vary", good + "vary: {cc: [cubic]}\n", `"vary" is not known`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseStudy("s.yaml", []byte(tt.text), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got:\n%v\nwant it to contain:\n%s", err, tt.want)
			}
		})
	}
}

func TestCaretStandsUnderThePlace(t *testing.T) {
	_, err := ParseStudy("s.yaml", []byte("paths: {a: 'rtt 40ms loss 150%'} # 日本\nloads: [cold]\nquestion: {日本: 5}"), nil)
	const want = `s.yaml:1:27: loss: share "150%": must be from 0% to 100%
    1 | paths: {a: 'rtt 40ms loss 150%'} # 日本
      |                           ^
s.yaml:3:11: question must be a single value, not a mapping
    3 | question: {日本: 5}
      |           ^`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}

func FuzzParseStudy(f *testing.F) {
	f.Add(authored)
	bad, err := os.ReadFile("testdata/bad.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(bad))
	for _, name := range []string{"six-networks", "six-networks-explained", "calibration"} {
		text, _ := Study(name)
		f.Add(string(text))
	}
	for _, s := range []string{
		"", "a: b: c", "? x\n: y", "&a *a", "!!x", "|", ">", "'", "\"", "%", "@", "`", "- - -", "[[{", "a: !!binary x",
		"\r", "\x00", "\ufeffpaths: [wired]", "paths: {a: 'down{up{}}'}", "paths: {a: {drop: [udp, tcp], up: {trace: r.csv}}}\nloads: [cold]", "---\n...\n---\n", "? - x\n: z", "{? a}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseStudy("f.yaml", []byte(text), testFiles)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		for _, p := range s.Paths {
			checkRoundTrip(t, p)
		}
		if len(s.Paths)*len(s.Loads)*s.Reps < 100 {
			if _, err := Build(s); err != nil {
				t.Errorf("an accepted study can't be planned: %v", err)
			}
		}
	})
}
