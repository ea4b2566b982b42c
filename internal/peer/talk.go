package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/samewire/samewire/internal/lab"
)

// answer is what a program says.
type answer struct {
	Ready  bool        `json:"ready,omitempty"`
	Error  string      `json:"error,omitempty"`
	Side   *lab.Side   `json:"side,omitempty"`
	Report *lab.Report `json:"report,omitempty"`
}

// The words that the lab says after the configuration.
const (
	sayGo   = "go"
	saySide = "side"
)

// Talk is the lab's end of the conversation with one program. It is not safe
// for concurrent use. Whoever ends the program ends a call that waits.
type Talk struct {
	in  io.Writer
	out *bufio.Reader
}

// NewTalk starts a conversation over a program's standard input and output.
func NewTalk(in io.Writer, out io.Reader) *Talk {
	return &Talk{in: in, out: bufio.NewReaderSize(out, 1<<16)}
}

// Server configures a server and waits until it accepts connections.
func (t *Talk) Server(ctx context.Context, cfg lab.ServerConfig) error {
	line, err := json.Marshal(cfg)
	if err != nil {
		return fmt.Errorf("encode server's configuration: %w", err)
	}
	return t.ready(ctx, string(line))
}

// Client configures a client and waits until it has warmed up.
func (t *Talk) Client(ctx context.Context, cfg lab.ClientConfig) error {
	line, err := json.Marshal(cfg)
	if err != nil {
		return fmt.Errorf("encode client's configuration: %w", err)
	}
	return t.ready(ctx, string(line))
}

// Go lets the client carry out its load, and returns its report.
func (t *Talk) Go(ctx context.Context) (lab.Report, error) {
	a, err := t.ask(ctx, sayGo)
	if err != nil {
		return lab.Report{}, err
	}
	if a.Report == nil {
		return lab.Report{}, errors.New("the client gave no report")
	}
	return *a.Report, nil
}

// Side asks a server what it knows of its own side.
func (t *Talk) Side(ctx context.Context) (lab.Side, error) {
	a, err := t.ask(ctx, saySide)
	if err != nil {
		return lab.Side{}, err
	}
	if a.Side == nil {
		return lab.Side{}, errors.New("the server did not say")
	}
	return *a.Side, nil
}

func (t *Talk) ready(ctx context.Context, line string) error {
	a, err := t.ask(ctx, line)
	if err != nil {
		return err
	}
	if !a.Ready {
		return errors.New("the program did not get ready")
	}
	return nil
}

// ask says a line and waits for the answer.
func (t *Talk) ask(ctx context.Context, line string) (answer, error) {
	type heard struct {
		answer
		err error
	}
	done := make(chan heard, 1)
	go func() {
		var h heard
		h.answer, h.err = t.exchange(line)
		done <- h
	}()
	select {
	case h := <-done:
		return h.answer, h.err
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
}

func (t *Talk) exchange(line string) (a answer, err error) {
	if _, err := io.WriteString(t.in, line+"\n"); err != nil {
		return a, fmt.Errorf("speak to the program: %w", err)
	}
	b, err := t.out.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("hear the program: %w", err)
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return a, fmt.Errorf("decode the program's answer: %w", err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}
