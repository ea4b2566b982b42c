package keylog

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
)

// Limits of a log. A real one has five lines of less than 300 bytes per
// connection.
const (
	maxLabel  = 64
	maxSecret = 128     // bytes; the longest hash has 64
	maxLines  = 1 << 20 // with a secret
	maxErrors = 16      // that are named; more are counted
)

// Parse reads a key log. The log, which is never nil, has all lines that could
// be read, whatever their label; the error names those that could not, with
// their numbers from 1. Of a label that comes twice for a connection the first
// counts. Empty lines and those that begin with '#' are comments.
func Parse(data []byte) (*Log, error) {
	log := &Log{secrets: map[key][]byte{}}
	var faults []error
	more := 0
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte{'\n'})
		err := log.line(bytes.TrimSuffix(line, []byte{'\r'}))
		switch {
		case err == nil:
		case len(faults) < maxErrors:
			faults = append(faults, fmt.Errorf("read key log: line %d: %w", n, err))
		default:
			more++
		}
	}
	if more > 0 {
		faults = append(faults, fmt.Errorf("read key log: %d more lines", more))
	}
	return log, errors.Join(faults...)
}

var errLine = errors.New("want a label, the client random in 64 hexadecimal digits and a secret, with one space between them")

func (l *Log) line(line []byte) error {
	if len(line) == 0 || line[0] == '#' {
		return nil
	}
	label, rest, ok := bytes.Cut(line, []byte{' '})
	random, secret, ok2 := bytes.Cut(rest, []byte{' '})
	if !ok || !ok2 || len(label) == 0 || len(random) != 64 {
		return errLine
	}
	if len(label) > maxLabel {
		return fmt.Errorf("label of %d bytes, at most %d are allowed", len(label), maxLabel)
	}
	if len(secret) == 0 || len(secret) > 2*maxSecret {
		return fmt.Errorf("secret of %d hexadecimal digits, want 2 to %d", len(secret), 2*maxSecret)
	}
	k := key{label: string(label)}
	if _, err := hex.Decode(k.random[:], random); err != nil {
		return fmt.Errorf("client random: %w", err)
	}
	value := make([]byte, hex.DecodedLen(len(secret)))
	if _, err := hex.Decode(value, secret); err != nil {
		return fmt.Errorf("secret: %w", err)
	}
	return l.add(k, value)
}

func (l *Log) add(k key, value []byte) error {
	if _, there := l.secrets[k]; there {
		return nil
	}
	if len(l.secrets) >= maxLines {
		return fmt.Errorf("more than %d secrets", maxLines)
	}
	l.secrets[k] = value
	l.order = append(l.order, k)
	return nil
}
