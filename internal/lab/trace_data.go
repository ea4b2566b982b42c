package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// NewTrace makes the trace of a file: a CSV of rates where the name ends in
// .csv, Mahimahi's format otherwise.
func NewTrace(name, data string) Trace {
	return Trace{Name: name, Kind: traceKind(name), Data: data, SHA256: sha256Hex(data)}
}

func sha256Hex(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func traceKind(name string) TraceKind {
	if strings.HasSuffix(strings.ToLower(name), ".csv") {
		return RateCSV
	}
	return Mahimahi
}

// digest is the trace's SHA256, also of one that was not made by NewTrace. It
// stands for the content in JSON, so that neither records nor the names of runs
// carry it along; it is the same whether the content is attached or not.
func (t Trace) digest() string {
	if t.SHA256 == "" {
		return sha256Hex(t.Data)
	}
	return t.SHA256
}

// Traces has the contents of traces by their SHA256.
type Traces map[string]string

// Add takes in the contents that a path has.
func (t Traces) Add(p Path) {
	for _, w := range []Way{p.Up, p.Down} {
		if w.Trace != (Trace{}) {
			t[w.Trace.digest()] = w.Trace.Data
		}
	}
}

// Attach gives a path that was read from JSON the contents of its traces.
func (t Traces) Attach(p *Path) error {
	for _, w := range []*Way{&p.Up, &p.Down} {
		if w.Trace == (Trace{}) {
			continue
		}
		data, ok := t[w.Trace.SHA256]
		if !ok {
			return fmt.Errorf("path %s: the content of trace %s is not there (SHA-256 %s)", p.Name, w.Trace.Name, w.Trace.SHA256)
		}
		w.Trace.Data = data
	}
	return nil
}

// Check says whether each content is the one that is meant.
func (t Traces) Check() error {
	for digest, data := range t {
		if sha256Hex(data) != digest {
			return fmt.Errorf("the content of the trace with SHA-256 %s is another one", digest)
		}
	}
	return nil
}
