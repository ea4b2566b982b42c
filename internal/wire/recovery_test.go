package wire

import (
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/quic"
)

// A round trip is 40 ms: segments 0 to 9 leave at 0, and would be acknowledged
// at 40.
func TestRecoveriesOfTCP(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(h *hand)
		want lab.Recoveries
	}{
		{"nothing is lost", func(h *hand) { h.segments(0, 0, 10); h.ack(40, 10); h.segments(40, 10, 20); h.ack(80, 20) }, lab.Recoveries{}},
		{"one is lost, and SACK tells", func(h *hand) {
			h.segments(0, 0, 10)
			h.ack(40, 3, 4, 5, 6)
			h.segment(40, 3)
			h.ack(80, 10)
		}, lab.Recoveries{Fast: 1}},
		{"three of one flight are one recovery", func(h *hand) {
			h.segments(0, 0, 10)
			h.ack(40, 3, 6)
			h.segments(40, 3, 6)
			h.ack(80, 10)
		}, lab.Recoveries{Fast: 1}},
		{"of two flights two", func(h *hand) {
			h.segments(0, 0, 10)
			h.ack(40, 3, 6, 9)
			h.segment(40, 3)
			h.ack(80, 10)
			h.segments(80, 10, 20)
			h.ack(120, 12, 19)
			h.segment(120, 12)
			h.ack(160, 20)
		}, lab.Recoveries{Fast: 2}},
		{"three duplicate acknowledgements without SACK", func(h *hand) {
			h.segments(0, 0, 10)
			h.ack(40, 3)
			for range 3 {
				h.ack(41, 3)
			}
			h.segment(41, 3)
			h.ack(81, 10)
		}, lab.Recoveries{Fast: 1}},
		{"the last is lost: its probe", func(h *hand) {
			h.segments(0, 0, 10)
			h.ack(40, 9)
			h.segment(320, 9)
			h.ack(360, 10)
		}, lab.Recoveries{TLP: 1}},
		{"the probe is lost too: then the timeout, which backs off", func(h *hand) {
			h.segments(0, 0, 10)
			h.ack(40, 8)
			h.segment(120, 9)
			h.segment(360, 8)
			h.segment(800, 8)
			h.segment(1700, 8)
			h.ack(1740, 10)
		}, lab.Recoveries{TLP: 1, RTO: 1}},
		{"a timeout sends the oldest of several", func(h *hand) {
			h.segments(0, 0, 10)
			h.segment(240, 0)
			h.ack(280, 1)
			h.segments(280, 1, 3)
			h.ack(320, 10)
		}, lab.Recoveries{RTO: 1}},
		{"two timeouts with progress between them are two", func(h *hand) {
			h.segments(0, 0, 10)
			h.segment(240, 0)
			h.ack(280, 1)
			h.segment(700, 1)
			h.ack(740, 10)
		}, lab.Recoveries{RTO: 2}},
		{"a retransmission is lost: a timeout within a recovery", func(h *hand) {
			h.segments(0, 0, 10)
			h.ack(40, 3, 4, 5, 6, 7, 8, 9)
			h.segment(40, 3)
			h.segment(300, 3)
			h.ack(340, 10)
		}, lab.Recoveries{Fast: 1, RTO: 1}},
		{"a probe, after which SACK tells of the others", func(h *hand) {
			h.segments(0, 0, 10)
			h.ack(40, 5)
			h.segment(120, 9)
			h.ack(160, 5, 9)
			h.segments(160, 5, 9)
			h.ack(200, 10)
		}, lab.Recoveries{TLP: 1}},
		{"new data as a probe", func(h *hand) {
			h.segments(0, 0, 10)
			h.ack(40, 5)
			h.segments(40, 10, 12)
			h.segment(120, 12) // 2 SRTT after the last
			h.ack(160, 13)
		}, lab.Recoveries{TLP: 1}},
		{"new data in answer to the client is no probe", func(h *hand) {
			h.segments(0, 0, 10)
			h.ack(40, 5)
			h.segments(40, 10, 12)
			h.asks(120)
			h.segment(120, 12)
			h.ack(160, 13)
		}, lab.Recoveries{}},
		{"spurious: what comes again was only late", func(h *hand) {
			h.segments(0, 0, 10)
			h.ack(40, 3, 4, 5, 6)
			h.segment(40, 3)
			h.ack(41, 10)
		}, lab.Recoveries{Fast: 1}},
		{"what is known to have arrived is no recovery", func(h *hand) {
			h.segments(0, 0, 10)
			h.ack(40, 10)
			h.segment(300, 9)
		}, lab.Recoveries{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := byHand("tcp")
			tt.do(h)
			if got := h.facts(About{RTT: ms(40)}).Recoveries; *got != tt.want {
				t.Errorf("%+v, want %+v", *got, tt.want)
			}
		})
	}
}

func TestRecoveriesOfQUIC(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(h *hand)
		want lab.Recoveries
	}{
		{"nothing is lost", func(h *hand) { h.packetsInARow(0, 0, 10); h.ack(40, 10); h.packetsInARow(40, 10, 20); h.ack(80, 20) }, lab.Recoveries{}},
		{"losses of one flight are one recovery, however late they are found", func(h *hand) {
			h.packetsInARow(0, 0, 20)
			h.ack(40, 3, 4, 5, 6)
			h.packet(40, 20, 3)
			h.ack(42, 3, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19)
			h.ack(80, 3, 20)
			h.packet(80, 21, 13) // sent before the recovery began
			h.ack(120, 0, 21)
		}, lab.Recoveries{Fast: 1}},
		{"what was sent in the recovery is another", func(h *hand) {
			h.packetsInARow(0, 0, 10)
			h.ack(40, 3, 4, 5, 6)
			h.packet(40, 10, 3)
			h.packetsInARow(41, 11, 20)
			h.ack(81, 3, 7, 8, 9, 10, 12, 13, 14, 15)
			h.packet(81, 20, 11)
			h.ack(120, 21)
		}, lab.Recoveries{Fast: 2}},
		{"a tail is lost: two probes with its data are one", func(h *hand) {
			h.packetsInARow(0, 0, 10)
			h.ack(40, 8)
			h.packet(165, 10, 8)
			h.packet(165, 11, 9)
			h.ack(205, 0, 10, 11)
		}, lab.Recoveries{PTO: 1}},
		{"probes with a PING, that back off", func(h *hand) {
			h.packetsInARow(0, 0, 10)
			h.ack(40, 8)
			h.packet(145, 10, -1) // 40 + 4·20 + 25 after the last
			h.packet(145, 11, -1)
			h.packet(435, 12, -1)
			h.ack(475, 0, 12)
		}, lab.Recoveries{PTO: 1}},
		{"a probe, after which the others are re-sent", func(h *hand) {
			h.packetsInARow(0, 0, 10)
			h.ack(40, 5)
			h.packet(145, 10, -1)
			h.ack(185, 5, 10)
			for n := 5; n < 9; n++ {
				h.packet(185, 6+n, n)
			}
			h.ack(225, 20)
		}, lab.Recoveries{PTO: 1}},
		{"a PING when nothing is in flight keeps the connection alive", func(h *hand) {
			h.packetsInARow(0, 0, 10)
			h.ack(40, 10)
			h.packet(185, 10, -1)
		}, lab.Recoveries{}},
		{"what was lost comes again in two portions", func(h *hand) {
			h.packetsInARow(0, 0, 10)
			h.ack(40, 3, 4, 5, 6, 7, 8, 9)
			h.frame(40, 10, quicSize, quic.Frame{Kind: quic.Stream, Offset: 3000, Length: 990})
			h.frame(42, 11, quicSize, quic.Frame{Kind: quic.Stream, Offset: 3990, Length: 10})
			h.ack(82, 12)
		}, lab.Recoveries{Fast: 1}},
		{"new data after a pause of the sender is no probe", func(h *hand) {
			h.packetsInARow(0, 0, 10)
			h.ack(40, 9)
			for n := 10; n < 40; n++ { // the round trip does not vary
				h.packet(float64(40*(n-9)), n, n)
				h.ack(float64(40*(n-8)), 9, n)
			}
			h.packet(1240, 40, 40)
			h.packet(1400, 41, 41) // the timer would be 40 + 1 + 25
			h.ack(1440, 42)
		}, lab.Recoveries{}},
		{"a PING at another time is no probe", func(h *hand) {
			h.packetsInARow(0, 0, 10)
			h.packet(20, 10, -1)
			h.ack(60, 11)
		}, lab.Recoveries{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := byHand("quic")
			tt.do(h)
			if got := h.facts(About{RTT: ms(40)}).Recoveries; *got != tt.want {
				t.Errorf("%+v, want %+v", *got, tt.want)
			}
		})
	}
}

// A ClientHello that comes again after a Retry was not lost.
func TestRetryIsNoRecovery(t *testing.T) {
	for _, retry := range []bool{true, false} {
		h := byHand("quic")
		for n, at := range []float64{0, 40} {
			h.frame(at, n, quicSize, quic.Frame{Kind: quic.Crypto, Length: 300})
			s := &h.c.Sent[lab.Down][n]
			h.events[s.Event].QUIC[0].Kind, s.Space = quic.Initial, 0
			if n == 0 && retry {
				i := h.event(lab.Up, 20, 40, 100, 70)
				h.events[i].QUIC = []quic.Packet{{Kind: quic.Retry}}
			}
		}
		want := lab.Recoveries{PTO: 1}
		if retry {
			want.PTO = 0
		}
		if got := h.facts(About{}).Recoveries; *got != want {
			t.Errorf("with a Retry %v: %+v, want %+v", retry, *got, want)
		}
	}
}

// Facts that need what could not be read are null.
func TestUnreadableSender(t *testing.T) {
	for name, spoil := range map[string]func(r *Reading){
		"a packet that could not be opened": func(r *Reading) { r.Events[2].QUIC[0].Opened = false },
		"packets that were not kept":        func(r *Reading) { r.Capture.Skipped = 1 },
	} {
		h := byHand("quic")
		h.packetsInARow(0, 0, 10)
		r := h.reading()
		spoil(r)
		f := lab.Wire{Conversations: make([]lab.Conversation, 1)}
		r.senders(About{}, &f)
		r.usage(About{}, &f)
		got := f.Conversations[0].Down
		if got.Payload != nil || got.Recoveries != nil || got.Retransmitted != nil || got.FirstFlight != nil || f.Down.Usage.InFlightPeak != nil {
			t.Errorf("%s: %+v, %+v", name, got, f.Down.Usage)
		}
	}
}
