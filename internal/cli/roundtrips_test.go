package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// Round trips follow from the protocol and not from the path: they are the same
// without any delay, on long paths, and where packets are lost.
func TestVirtualRoundTrips(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 2)
	one := lab.Load{Name: "one", Objects: 1, Size: 1000}
	warm, many, up := one, one, one
	warm.Warm = true
	many.Objects, many.Size = 20, 20e3
	up.Upload = true
	for _, tt := range []struct {
		name     string
		protocol lab.Protocol
		tls      string
		load     lab.Load
		want     float64
	}{
		{"h1", lab.H1, "1.3", one, 3}, {"h2", lab.H2, "1.3", one, 3}, {"h3", lab.H3, "1.3", one, 2},
		{"h1, TLS 1.2", lab.H1, "1.2", one, 4}, {"h2, TLS 1.2", lab.H2, "1.2", one, 4},
		{"h1, warm", lab.H1, "1.3", warm, 1}, {"h2, warm", lab.H2, "1.3", warm, 1}, {"h3, warm", lab.H3, "1.3", warm, 1},
		{"h1, many objects", lab.H1, "1.3", many, 3}, {"h2, many objects", lab.H2, "1.3", many, 3}, {"h3, many objects", lab.H3, "1.3", many, 2},
		{"h1, upload", lab.H1, "1.3", up, 3}, {"h2, upload", lab.H2, "1.3", up, 3}, {"h3, upload", lab.H3, "1.3", up, 2},
	} {
		var runs []lab.Run
		for _, notation := range []string{"rtt 0ms", "rtt 40ms", "rtt 150ms", "rtt 40ms loss 5%", "rtt 0ms loss 5%", "rtt 150ms rate 2mbit loss 5%"} {
			reps := 1
			if strings.Contains(notation, "loss") {
				reps = 12
			}
			for rep := range reps {
				cell := lab.Cell{Path: notedPath(t, "case", notation), Load: tt.load, Stack: lab.DefaultStack, Site: lab.Virtual, Protocol: tt.protocol}
				cell.Stack.TLS = tt.tls
				runs = append(runs, runOf(cell, rep+1))
			}
		}
		lost := 0
		for i, r := range carryAll(t, c, 2, runs) {
			path := lab.FormatDuration(runs[i].Cell.Path.RTT())
			if r.Outcome != lab.OK {
				t.Errorf("%s, %s, seed %d: %s %s", tt.name, path, runs[i].Rep, r.Outcome, r.Reason)
				continue
			}
			lost += r.Wire.Up.Drops["loss"] + r.Wire.Down.Drops["loss"]
			if r.Wire.RoundTrips == nil || *r.Wire.RoundTrips != tt.want {
				t.Errorf("%s, RTT %s, seed %d: want %v round trips%s", tt.name, path, runs[i].Rep, tt.want, causesText(r.Wire))
			}
			if r.Wire.NotDecodable != 0 {
				t.Errorf("%s: %d packets could not be read", tt.name, r.Wire.NotDecodable)
			}
		}
		if lost == 0 {
			t.Errorf("%s: nothing was lost", tt.name)
		}
	}
}

// An upload beyond the initial window is released by acknowledgements, which
// count: ten segments, then twice as many, and so on; of quic-go 32 packets. Of a
// TCP connection the log keeps 64 KiB: where more is sent nothing is said.
func TestVirtualRoundTripsOfUploads(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	for _, tt := range []struct {
		protocol lab.Protocol
		size     int64
		want     float64 // 0: none
	}{
		{lab.H1, 10e3, 3}, {lab.H1, 40e3, 4}, {lab.H1, 60e3, 5}, {lab.H1, 80e3, 0},
		{lab.H2, 10e3, 3}, {lab.H2, 40e3, 4}, {lab.H3, 20e3, 2}, {lab.H3, 80e3, 3}, {lab.H3, 5e6, 0},
	} {
		for _, notation := range []string{"rtt 0ms", "rtt 40ms", "rtt 150ms"} {
			load := lab.Load{Name: "up", Objects: 1, Size: tt.size, Upload: true}
			r := mustOK(t, carryOver(t, c, notation, tt.protocol, load))
			if got := r.Wire.RoundTrips; (got == nil) != (tt.want == 0) || got != nil && *got != tt.want {
				t.Errorf("%s, %d bytes, %s: want %v round trips%s", tt.protocol, tt.size, notation, tt.want, causesText(r.Wire))
			}
		}
	}
}

func causesText(f lab.Wire) string {
	var b strings.Builder
	if f.RoundTrips == nil {
		b.WriteString(": there are none")
	}
	for _, c := range f.Causes {
		fmt.Fprintf(&b, "\n\t%3d %4s %.4f %s: %s", c.Packet, c.Direction, c.At, c.What, c.Why)
	}
	return b.String()
}
