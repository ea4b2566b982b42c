package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/samewire/samewire/internal/lab"
)

// Build names the sources that a program was built from. It is set by the
// linker (-X); samewire and its worker must have the same one.
var Build string

// Hello is the first line that a worker says.
type Hello struct {
	Samewire string       `json:"samewire"`
	Build    string       `json:"build"`
	Site     lab.SiteName `json:"site"`
	Virtual  bool         `json:"virtual"` // its clock is virtual
	Variant  Variant      `json:"variant"` // what its stacks do
	Problem  string       `json:"problem"` // why this worker cannot carry out runs here; empty: it can
}

// order is what a worker is asked to do: a run, what of it to keep, and the contents of the traces
// that its path names, as far as the worker has not been sent them before.
type order struct {
	lab.Order
	Traces lab.Traces `json:"traces,omitempty"`
}

// Carrier carries out runs inside the worker.
type Carrier interface {
	CarryOut(ctx context.Context, order lab.Order) lab.Record
}

// Loop is a worker's life: it says hello, then carries out the runs that it
// reads, one after the other, until its input ends. Before each run it calls
// prepare, if that is not nil.
func Loop(in io.Reader, out io.Writer, hello Hello, prepare func(lab.Run), c Carrier) error {
	if err := writeLine(out, hello); err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	lines, traces := bufio.NewReader(in), lab.Traces{}
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read run: %w", err)
		}
		o, err := readOrder(line, traces)
		if err != nil {
			return fmt.Errorf("decode run: %w", err)
		}
		if prepare != nil {
			prepare(o.Run)
		}
		if err := writeLine(out, c.CarryOut(context.Background(), o)); err != nil {
			return fmt.Errorf("answer run %s: %w", o.Run.ID, err)
		}
	}
}

// readOrder reads an order. Its traces are kept for later ones.
func readOrder(line []byte, traces lab.Traces) (lab.Order, error) {
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		return lab.Order{}, err
	}
	if err := o.Traces.Check(); err != nil {
		return lab.Order{}, err
	}
	maps.Copy(traces, o.Traces)
	err := traces.Attach(&o.Run.Cell.Path)
	return o.Order, err
}

func writeLine[T any](w io.Writer, v T) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
