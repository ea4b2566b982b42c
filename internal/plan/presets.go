package plan

import (
	"embed"
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

// Preset describes a path, a load or a study that samewire knows by name.
type Preset struct {
	Name        string
	Description string // what it is, in one sentence
	Source      string // where the values are from, and which are our choice
	Notation    string // of a path or load, as a study takes it; empty for a study
	Numbers     string // of a path: what follows from its notation; empty otherwise
}

type preset[T any] struct {
	name, description, source string
	value                     T
}

// sixNetworks is a study; its paths and loads are in several presets.
const sixNetworks = "study six-networks (Caddy, curl with quiche, netem on loopback, MTU 1500)"

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
		{"quick", "three networks, two small loads: a first true table in two to three minutes, without the kernel site in some seconds",
			"samewire: a part of six-networks", "presets/quick.yaml"},
		{"six-networks", "six networks, four loads: what HTTP/3 gains, and where", sixNetworks, "presets/six-networks.yaml"},
		{"six-networks-explained", "ten small objects by h2 and h3, with one cause of h3's lead taken away in each arm",
			"samewire: what the author of six-networks left unexplained", "presets/six-networks-explained.yaml"},
		{"calibration", "one TCP download over a path whose goodput was published: is the emulated path what it claims?",
			"published calibration of an emulated path (raw data exists): 37.37 Mbit/s, sd 0.02, 16.5 drops, n = 19", "presets/calibration.yaml"},
	}
}

// Paths lists the paths that samewire knows by name.
func Paths() []Preset {
	out := describe(pathPresets(), FormatPath)
	for i, p := range pathPresets() {
		out[i].Numbers = numbers(p.value)
	}
	return out
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
