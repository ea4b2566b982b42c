package plan

import (
	"embed"
	"fmt"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Preset describes a path, a load or a study that samewire knows by name.
type Preset struct {
	Name        string
	Description string // what it is, in one sentence
	Source      string // where the values are from, and which are our choice
	Notation    string // of a path or load, as a study takes it; empty for a study
}

type preset[T any] struct {
	name, description, source string
	value                     T
}

// bigQueue is the queue of every preset with a rate: more than the largest
// load of the presets moves, so that it is never a limit. The prototype's and
// the study's own queue are not known to have been one.
var bigQueue = lab.Queue{Bytes: 4e6}

const (
	sixNetworks = "study six-networks (Caddy, curl with quiche, netem on loopback, MTU 1500)"
	queueIsOurs = "; our choice: the queue, 4 MB, which is no limit for these loads"
)

// symmetric makes a path that is the same in both directions. The RTT is in ms,
// the rate in Mbit/s, the loss in percent of each direction.
func symmetric(name string, rtt, rate, loss int) lab.Path {
	way := lab.Way{Loss: lab.Loss{Share: float64(loss) / 100}}
	if rate > 0 {
		way.Rate, way.Queue = lab.Rate(rate)*1e6, bigQueue
	}
	p := lab.Path{Name: name, Up: way, Down: way}
	p.Up.Delay = time.Duration(rtt) * time.Millisecond / 2
	p.Down.Delay = time.Duration(rtt) * time.Millisecond / 2
	return p
}

func pathPresets() []preset[lab.Path] {
	return []preset[lab.Path]{
		{"datacenter", "two machines side by side: no delay, no limit of rate",
			sixNetworks + "; our choice: RTT exactly 0", symmetric("datacenter", 0, 0, 0)},
		{"wired", "a wired line inside one country: 40 ms, 100 Mbit/s, no loss",
			sixNetworks + queueIsOurs, symmetric("wired", 40, 100, 0)},
		{"intercontinental", "across an ocean: 150 ms, 100 Mbit/s, no loss",
			sixNetworks + queueIsOurs + ", and the rate", symmetric("intercontinental", 150, 100, 0)},
		{"loss-1", "wired, with 1 % loss in each direction",
			sixNetworks + queueIsOurs + ", the RTT and the rate", symmetric("loss-1", 40, 100, 1)},
		{"loss-3", "wired, with 3 % loss in each direction",
			sixNetworks + queueIsOurs + ", the RTT and the rate", symmetric("loss-3", 40, 100, 3)},
		{"cell-edge", "the edge of a mobile cell: 100 ms, 100 Mbit/s, 5 % loss in each direction",
			sixNetworks + queueIsOurs + ", and the rate", symmetric("cell-edge", 100, 100, 5)},
	}
}

func loadPresets() []preset[lab.Load] {
	return []preset[lab.Load]{
		{"cold", "one small object on a new connection: the handshake and one request",
			sixNetworks + "; our choice: 4 KiB, which is less than an initial window in any protocol", lab.Load{Objects: 1, Size: 4096}},
		{"warm", "the same object on a connection that is open already",
			"samewire: what is left of cold without the handshake", lab.Load{Objects: 1, Size: 4096, Warm: true}},
		{"ten-small", "ten objects of 8 KiB, asked for at once on new connections",
			sixNetworks, lab.Load{Objects: 10, Size: 8192}},
		{"fifty-small", "fifty objects of 8 KiB, asked for at once on new connections",
			sixNetworks, lab.Load{Objects: 50, Size: 8192}},
		{"big", "one file of 3 MB on a new connection", sixNetworks, lab.Load{Objects: 1, Size: 3e6}},
		{"upload", "one file of 3 MB sent to the server on a new connection",
			"samewire: big, the other way round", lab.Load{Objects: 1, Size: 3e6, Upload: true}},
	}
}

//go:embed presets/*.yaml
var studyFiles embed.FS

func studyPresets() []preset[string] {
	return []preset[string]{
		{"quick", "three networks, two small loads: a first true table in less than a minute",
			"samewire: a part of six-networks", "presets/quick.yaml"},
		{"six-networks", "six networks, four loads: what HTTP/3 gains, and where", sixNetworks, "presets/six-networks.yaml"},
	}
}

// Paths lists the paths that samewire knows by name.
func Paths() []Preset {
	return describe(pathPresets(), FormatPath)
}

// Loads lists the loads that samewire knows by name.
func Loads() []Preset {
	return describe(loadPresets(), FormatLoad)
}

// Studies lists the studies that samewire knows by name.
func Studies() []Preset {
	return describe(studyPresets(), func(string) string { return "" })
}

// Study returns the text of a study that samewire knows by name; ok is false
// for other names.
func Study(name string) (text []byte, ok bool) {
	p, ok := lookup(studyPresets(), name)
	if !ok {
		return nil, false
	}
	text, err := studyFiles.ReadFile(p.value)
	if err != nil {
		panic(fmt.Sprintf("plan: preset %s is not part of the binary: %v", name, err))
	}
	return text, true
}

func describe[T any](presets []preset[T], format func(T) string) []Preset {
	out := make([]Preset, len(presets))
	for i, p := range presets {
		out[i] = Preset{Name: p.name, Description: p.description, Source: p.source, Notation: format(p.value)}
	}
	return out
}

func lookup[T any](presets []preset[T], name string) (preset[T], bool) {
	for _, p := range presets {
		if p.name == name {
			return p, true
		}
	}
	return preset[T]{}, false
}

func names[T any](presets []preset[T]) []string {
	out := make([]string, len(presets))
	for i, p := range presets {
		out[i] = p.name
	}
	return out
}
