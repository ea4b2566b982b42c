package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// MaxTrace is the longest content of a trace, in bytes.
const MaxTrace = 16 << 20

// NewTrace makes the trace of a file: a CSV of rates where the name ends in
// .csv, Mahimahi's format otherwise.
func NewTrace(name, data string) Trace { return Trace{Name: name, Kind: traceKind(name), Data: data} }

func traceKind(name string) TraceKind {
	if strings.HasSuffix(strings.ToLower(name), ".csv") {
		return RateCSV
	}
	return Mahimahi
}

// Digest is the SHA-256 of the trace's content, in hexadecimal digits. It stands
// for the content in JSON, so that neither records nor the names of runs carry
// it along; it is the same whether the content is attached or not.
func (t Trace) Digest() string {
	if t.Data == "" {
		return t.SHA256
	}
	sum := sha256.Sum256([]byte(t.Data))
	return hex.EncodeToString(sum[:])
}

// Traces has the contents of traces by their digests.
type Traces map[string]string

// Add takes in the contents that a path has.
func (t Traces) Add(p Path) {
	for _, w := range []Way{p.Up, p.Down} {
		if w.Trace.Data != "" {
			t[w.Trace.Digest()] = w.Trace.Data
		}
	}
}

// Attach gives a path that was read from JSON the contents of its traces.
func (t Traces) Attach(p *Path) error {
	for _, w := range []*Way{&p.Up, &p.Down} {
		digest := w.Trace.SHA256
		if digest == "" {
			continue
		}
		data, ok := t[digest]
		if !ok {
			return fmt.Errorf("path %s: the content of trace %s is not there (SHA-256 %s)", p.Name, w.Trace.Name, digest)
		}
		w.Trace.Data, w.Trace.SHA256 = data, ""
		if w.Trace.Digest() != digest {
			return fmt.Errorf("path %s: the content of trace %s is not the one that was meant (SHA-256 %s)", p.Name, w.Trace.Name, digest)
		}
	}
	return nil
}
