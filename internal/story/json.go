package story

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

// Output is what JSON writes; docs/show.schema.json describes it. Times of
// packets are in seconds since the load's start.
type Output struct {
	Format   int    `json:"format"`
	Samewire string `json:"samewire"`
	// Run, Attempt, Outcome, Reason and Samples are the record's; null and empty
	// for a capture alone.
	Run     *lab.Run     `json:"run"`
	Attempt int          `json:"attempt"`
	Outcome lab.Outcome  `json:"outcome"`
	Reason  string       `json:"reason"`
	Samples []lab.Sample `json:"samples"`
	Wire    *lab.Wire    `json:"wire"`
	// Capture, Connections and Packets are null where no capture was kept.
	Capture     *Capture     `json:"capture"`
	Connections []Connection `json:"connections"`
	Packets     []Packet     `json:"packets"`
	Notes       []string     `json:"notes"`
}

// Capture says what was kept.
type Capture struct {
	Name    string  `json:"name"`
	Start   float64 `json:"start"` // of the load, in s since the run's start
	End     float64 `json:"end"`
	Packets int     `json:"packets"` // kept
	Skipped int     `json:"skipped"` // seen and not kept
	Secrets bool    `json:"secrets"` // TLS secrets were kept with them
}

// Connection is one TCP or QUIC connection of the capture.
type Connection struct {
	Transport string  `json:"transport"`
	Client    string  `json:"client"`
	Server    string  `json:"server"`
	Opened    float64 `json:"opened"` // s since the load's start
	Packets   int     `json:"packets"`
	Decrypted bool    `json:"decrypted"`
}

// JSON writes the story for a program. With Packets None the packets are left
// out; else all are there, whether the text would fold them or not.
func JSON(w io.Writer, s Story, o Options) error {
	out := Output{Format: lab.FormatVersion, Samewire: lab.Version, Wire: s.Facts, Samples: []lab.Sample{}}
	out.Notes = append(append([]string{}, s.blind()...), s.Notes...)
	if r := s.Record; r != nil {
		out.Run, out.Attempt, out.Outcome, out.Reason = &r.Run, r.Attempt, r.Outcome, r.Reason
		out.Samples = append(out.Samples, r.Samples...)
	}
	if s.Reading != nil {
		out.Capture, out.Connections = captureOf(s.Reading), connectionsOf(s.Reading)
		if o.Packets != None {
			out.Packets = packetsOf(s.Reading)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		return fmt.Errorf("write story as JSON: %w", err)
	}
	if _, err := w.Write(escapeJSON(b.Bytes())); err != nil {
		return fmt.Errorf("write story as JSON: %w", err)
	}
	return nil
}

func captureOf(r *wire.Reading) *Capture {
	c := r.Capture
	return &Capture{
		Name: c.Name, Start: c.Start.Seconds(), End: c.End.Seconds(), Packets: len(c.Packets), Skipped: c.Skipped,
		Secrets: len(c.Secrets) > 0,
	}
}

func connectionsOf(r *wire.Reading) []Connection {
	list := make([]Connection, len(r.Connections))
	for i, c := range r.Connections {
		list[i] = Connection{
			Transport: c.Transport, Client: c.Client.String(), Server: c.Server.String(),
			Opened: (c.Opened - r.Capture.Start).Seconds(), Packets: len(c.Events), Decrypted: c.Decrypted,
		}
	}
	return list
}

func packetsOf(r *wire.Reading) []Packet {
	list := make([]Packet, len(r.Events))
	for i := range r.Events {
		list[i] = packetOf(&r.Events[i], r.Capture.Start)
	}
	return list
}

func when(at, start time.Duration) *float64 {
	if at == wire.Never {
		return nil
	}
	s := (at - start).Seconds()
	return &s
}
