package peer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// Server is a running server, as ServeLab needs it.
type Server interface {
	Side() lab.Side
	Close() error
}

// ServeLab is a server's end of the conversation: it starts the server with the
// configuration that it reads, answers questions, and stops the server when the
// input ends.
func ServeLab(in io.Reader, out io.Writer, start func(lab.ServerConfig) (Server, error)) error {
	lines := bufio.NewReader(in)
	var cfg lab.ServerConfig
	if err := readConfig(lines, &cfg); err != nil {
		return err
	}
	server, err := start(cfg)
	if err != nil {
		return errors.Join(err, say(out, answer{Error: err.Error()}))
	}
	err = say(out, answer{Ready: true})
	for err == nil {
		var line string
		if line, err = lines.ReadString('\n'); err != nil {
			break
		}
		switch strings.TrimSpace(line) {
		case saySide:
			side := server.Side()
			err = say(out, answer{Side: &side})
		default:
			err = say(out, answer{Error: fmt.Sprintf("unknown question %q", line)})
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, server.Close())
}

// GetLab is a client's end of the conversation: it reads its configuration,
// warms up, waits for the word, carries out the load, and reports. It returns when
// the input ends: until then the lab reads what the process has used.
func GetLab(in io.Reader, out io.Writer, warm func(lab.ClientConfig) error, get func(lab.ClientConfig) lab.Report) error {
	lines := bufio.NewReader(in)
	var cfg lab.ClientConfig
	if err := readConfig(lines, &cfg); err != nil {
		return err
	}
	if err := warm(cfg); err != nil {
		return errors.Join(err, say(out, answer{Error: err.Error()}))
	}
	if err := say(out, answer{Ready: true}); err != nil {
		return err
	}
	line, err := lines.ReadString('\n')
	if errors.Is(err, io.EOF) {
		return nil // given up before the start
	}
	if err != nil {
		return fmt.Errorf("wait for the word to start: %w", err)
	}
	if word := strings.TrimSpace(line); word != sayGo {
		return fmt.Errorf("wait for the word to start: got %q", word)
	}
	report := get(cfg)
	if err := say(out, answer{Report: &report}); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, lines); err != nil {
		return fmt.Errorf("wait for the end of input: %w", err)
	}
	return nil
}

func readConfig[C lab.ServerConfig | lab.ClientConfig](lines *bufio.Reader, cfg *C) error {
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	if err := json.Unmarshal(line, cfg); err != nil {
		return fmt.Errorf("decode configuration: %w", err)
	}
	return nil
}

func say(out io.Writer, a answer) error {
	b, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	if _, err := out.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}
