package peer

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// conversation connects a Talk with a program's end, and returns the Talk, a
// function that ends the program's input, and what the program returned.
func conversation(program func(in io.Reader, out io.Writer) error) (*Talk, func(), chan error) {
	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := program(theirIn, theirOut)
		_ = theirOut.Close()
		_ = theirIn.Close()
		ended <- err
	}()
	return NewTalk(ourOut, ourIn), func() { _ = ourOut.Close() }, ended
}

type server struct{ closed *bool }

func (s server) Side() lab.Side { return lab.Side{Program: "test", Senders: []lab.Sender{}} }
func (s server) Close() error   { *s.closed = true; return nil }

func TestServer(t *testing.T) {
	var got lab.ServerConfig
	closed := false
	talk, end, ended := conversation(func(in io.Reader, out io.Writer) error {
		return ServeLab(in, out, func(cfg lab.ServerConfig) (Server, error) {
			got = cfg
			return server{&closed}, nil
		})
	})
	run := lab.Run{Cell: lab.Cell{Stack: lab.DefaultStack}}
	cfg, err := run.ServerConfig()
	if err != nil {
		t.Fatal(err)
	}
	if err := talk.Server(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if got.Addr != cfg.Addr || string(got.KeyPEM) != string(cfg.KeyPEM) || got.TLS != "1.3" {
		t.Errorf("the server was given %+v", got)
	}
	for range 2 {
		side, err := talk.Side(t.Context())
		if err != nil || side.Program != "test" {
			t.Errorf("side %+v, %v", side, err)
		}
	}
	end()
	if err := <-ended; err != nil || !closed {
		t.Errorf("at the end of input: %v, closed %v", err, closed)
	}
}

func TestServerThatCannotStart(t *testing.T) {
	talk, _, ended := conversation(func(in io.Reader, out io.Writer) error {
		return ServeLab(in, out, func(lab.ServerConfig) (Server, error) { return nil, errors.New("port taken") })
	})
	if err := talk.Server(t.Context(), lab.ServerConfig{}); err == nil || !strings.Contains(err.Error(), "port taken") {
		t.Errorf("got %v", err)
	}
	if err := <-ended; err == nil {
		t.Error("the program did not fail")
	}
}

func TestClient(t *testing.T) {
	warmed := false
	talk, end, ended := conversation(func(in io.Reader, out io.Writer) error {
		return GetLab(in, out,
			func(lab.ClientConfig) error { warmed = true; return nil },
			func(cfg lab.ClientConfig) lab.Report {
				return lab.Report{Connections: cfg.Connections, Requests: []lab.Request{{Outcome: lab.OK}}}
			})
	})
	if err := talk.Client(t.Context(), lab.ClientConfig{Connections: 4}); err != nil || !warmed {
		t.Fatalf("not ready: %v", err)
	}
	report, err := talk.Go(t.Context())
	if err != nil || report.Connections != 4 || len(report.Requests) != 1 {
		t.Errorf("report %+v, %v", report, err)
	}
	select { // what it has used is read while it is there
	case err := <-ended:
		t.Fatalf("the client ended before its input did: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestClientGivenUpBeforeTheStart(t *testing.T) {
	talk, end, ended := conversation(func(in io.Reader, out io.Writer) error {
		return GetLab(in, out, func(lab.ClientConfig) error { return nil },
			func(lab.ClientConfig) lab.Report { t.Error("the load was carried out"); return lab.Report{} })
	})
	if err := talk.Client(t.Context(), lab.ClientConfig{}); err != nil {
		t.Fatal(err)
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestProgramsThatDieOrSayNonsense(t *testing.T) {
	for name, program := range map[string]func(io.Reader, io.Writer) error{
		"dies":     func(io.Reader, io.Writer) error { return errors.New("killed") },
		"nonsense": func(_ io.Reader, out io.Writer) error { _, err := io.WriteString(out, "hello\n"); return err },
		"nothing":  func(_ io.Reader, out io.Writer) error { _, err := io.WriteString(out, "{}\n"); return err },
	} {
		talk, _, _ := conversation(func(in io.Reader, out io.Writer) error {
			go func() { _, _ = io.Copy(io.Discard, in) }()
			return program(in, out)
		})
		if err := talk.Client(t.Context(), lab.ClientConfig{}); err == nil {
			t.Errorf("%s: the client is ready", name)
		}
	}
}

func TestASilentProgramIsWaitedForOnlyAsLongAsAsked(t *testing.T) {
	talk, _, _ := conversation(func(in io.Reader, _ io.Writer) error { _, err := io.Copy(io.Discard, in); return err })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := talk.Client(ctx, lab.ClientConfig{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
