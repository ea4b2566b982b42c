package wire

import (
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/quic"
)

// A request reaches the server at 0; a round trip is 40 ms.
func TestInitialWindow(t *testing.T) {
	slowStart := func(h *hand) { h.ack(40, 2); h.segments(40, 10, 14); h.ack(42, 10); h.segments(42, 14, 30) }
	for _, tt := range []struct {
		name      string
		transport string
		do        func(h *hand)
		packets   int // 0: null
		bytes     int64
		first     int64
	}{
		{"ten, and more follows", "tcp", func(h *hand) {
			h.segments(0, 0, 10)
			slowStart(h)
		}, 10, 10000, 10000},
		{"the data ends within it", "tcp", func(h *hand) {
			h.segments(0, 0, 6)
			h.ack(40, 6)
		}, 0, 0, 6000},
		{"what follows is the answer to another request", "tcp", func(h *hand) {
			h.segments(0, 0, 6)
			h.asks(40)
			h.ack(40, 6)
			h.segments(40, 6, 9)
		}, 0, 0, 6000},
		{"what follows comes later than an answer to acknowledgements would", "tcp", func(h *hand) {
			h.segments(0, 0, 6)
			h.ack(40, 6)
			h.segments(55, 6, 9)
		}, 0, 0, 6000},
		{"the receiver's window ends", "tcp", func(h *hand) {
			h.c.Credit[lab.Down] = nil
			h.credit(0, 1+8*mss)
			h.segments(0, 0, 8)
			h.credit(40, 1+20*mss)
			h.ack(40, 2)
			h.segments(40, 8, 10)
		}, 0, 0, 8000},
		{"one is lost within it", "tcp", func(h *hand) {
			h.segments(0, 0, 10)
			h.ack(40, 1, 3, 4, 5)
			h.segment(40, 1)
			h.segments(40, 10, 12)
		}, 0, 0, 10000},
		{"a handshake was acknowledged before, and may count", "tcp", func(h *hand) {
			h.segments(0, 0, 2)
			h.ack(40, 2)
			h.asks(40)
			h.segments(40, 2, 14) // 12 = 10 and the two that were acknowledged
			h.ack(80, 3)
			h.segments(80, 14, 16)
		}, 10, 10000, 2000},
		{"a handshake was acknowledged before, and did not count", "tcp", func(h *hand) {
			h.segments(0, 0, 2)
			h.ack(40, 2)
			h.asks(40)
			h.segments(40, 2, 12)
			h.ack(80, 3)
			h.segments(80, 12, 14)
		}, 10, 10000, 2000},
		{"nobody can say whether it counted", "tcp", func(h *hand) {
			h.segments(0, 0, 2)
			h.ack(40, 2)
			h.asks(40)
			h.segments(40, 2, 26)
			h.ack(80, 3)
			h.segments(80, 26, 28)
		}, 0, 0, 2000},
		{"paced, and done before the first acknowledgement", "tcp", func(h *hand) {
			for n := range 10 {
				h.segment(float64(2*n), n)
			}
			slowStart(h)
		}, 10, 10000, 10000},
		{"paced beyond the first acknowledgement", "tcp", func(h *hand) {
			for n := range 20 {
				h.segment(float64(4*n), n)
			}
			h.ack(40, 1)
		}, 0, 0, 10000}, // the eleventh leaves with the acknowledgement of the first
		{"QUIC, 32", "quic", func(h *hand) {
			h.asks(-1)
			h.packetsInARow(0, 0, 32)
			h.ack(40, 2)
			h.packetsInARow(40, 32, 36)
		}, 32, 32 * quicSize, 32 * quicSize},
		{"QUIC, before the client's address was validated", "quic", func(h *hand) {
			h.packetsInARow(0, 0, 3)
			h.ack(40, 2)
			h.packetsInARow(40, 3, 7)
		}, 0, 0, 3 * quicSize},
		{"QUIC, with small packets, and a little beyond", "quic", func(h *hand) {
			h.asks(-1)
			for n := range 4 {
				h.frame(0, n, 300, quic.Frame{Kind: quic.Stream, Offset: uint64(n) * 1000, Length: 280})
			}
			h.packetsInARow(0, 4, 36)
			h.ack(40, 6)
			h.packetsInARow(40, 36, 40)
		}, 33, 33 * quicSize, 33 * quicSize},
		{"the host paused, and goes on with more than acknowledgements let out", "quic", func(h *hand) {
			h.asks(-1)
			h.packetsInARow(0, 0, 20)
			h.ack(40, 2)
			h.packetsInARow(40, 20, 32)
		}, 0, 0, 20 * quicSize},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := byHand(tt.transport)
			tt.do(h)
			f := h.facts(About{RTT: ms(40)})
			if *f.FirstFlight != tt.first {
				t.Errorf("first flight of %d, want %d", *f.FirstFlight, tt.first)
			}
			switch {
			case tt.bytes == 0 && (f.InitialWindow != nil || f.InitialWindowPackets != nil):
				t.Errorf("%d packets, want null", *f.InitialWindowPackets)
			case tt.bytes != 0 && f.InitialWindow == nil:
				t.Error("null")
			case tt.bytes != 0 && *f.InitialWindow != tt.bytes:
				t.Errorf("%d bytes, want %d", *f.InitialWindow, tt.bytes)
			case tt.packets != 0 && (f.InitialWindowPackets == nil || *f.InitialWindowPackets != tt.packets):
				t.Errorf("%v packets, want %d", f.InitialWindowPackets, tt.packets)
			}
		})
	}
}

// A window that grew by some packets while it was filled.
func TestInitialWindowOfQUICThatGrew(t *testing.T) {
	for _, tt := range []struct {
		bytes int64
		g     growth
		want  int
	}{
		{33*1280 + 600, growth{1, 35, 30000}, 32},       // quic-go: a packet for a packet
		{32*1280 + 35, growth{1, 35, 30000}, 32},        // by bytes
		{35*1280 + 600, growth{1, 35, 30000}, 0},        // too much
		{33*1280 + 600, growth{1, 35, 1000}, 0},         // not used by half: it did not grow
		{20 * 1280, growth{10, 12800, 12800}, 0},        // it doubled
		{33 * 1280, growth{20, 20 * 1280, 40000}, 0},    // most of it may be growth
		{11*1280 + 100, growth{1, 1280, 11 * 1280}, 10}, // RFC 9002's ten
	} {
		w := window{bytes: tt.bytes, sizes: []int{1280, 1280, 300}}
		_, got := settleQUIC(w, []growth{tt.g})
		switch {
		case tt.want == 0 && got != nil:
			t.Errorf("%+v: %d packets, want null", tt, *got)
		case tt.want != 0 && (got == nil || *got != tt.want):
			t.Errorf("%+v: %v packets", tt, got)
		}
	}
}

// QUIC's packets are told only where the bytes leave no doubt, or a number is in
// common use.
func TestInitialWindowOfQUICInPackets(t *testing.T) {
	for _, tt := range []struct{ full, more, want int }{
		{10, 0, 10}, {32, 0, 32}, {20, 0, 20}, // all of full size
		{32, 700, 32}, // a little beyond
		{31, 700, 32}, // a little before
		{9, 1100, 10}, {10, 50, 10},
		{20, 700, 0}, // 20 or 21
	} {
		w := window{bytes: int64(tt.full*1200 + tt.more)}
		for range tt.full {
			w.sizes = append(w.sizes, 1200)
		}
		switch _, got := settleQUIC(w, nil); {
		case tt.want == 0 && got != nil:
			t.Errorf("%d and %d B: %d, want null", tt.full, tt.more, *got)
		case tt.want != 0 && (got == nil || *got != tt.want):
			t.Errorf("%d and %d B: %v, want %d", tt.full, tt.more, got, tt.want)
		}
	}
}
