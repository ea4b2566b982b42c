package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// stallTest is a stage, and what is to be found: no stall where owed is empty.
type stallTest struct {
	name      string
	transport string
	end       float64 // ms
	act       func(s *stage)
	objects   int

	at, length float64 // s
	ended      bool
	shouldAct  string
	owed       []string // parts of the debts, the gravest first
	timers     []string // side, name, due in s, whether it fired
	sentence   string   // a part
}

var stallTests = []stallTest{
	{
		name: "a lost PING is nobody's fault beside data that is lost", transport: "quic", end: 1000,
		act: func(s *stage) {
			s.greet()
			s.send(61, lab.Down, cast{space: 2, frames: streamFrame(0, 0, 1000, false), messages: []MessageKind{ResponseStart}})
			s.send(81, lab.Up, cast{space: 2, acks: true, noAsk: true})
			s.send(82, lab.Up, cast{space: 2, frames: []quic.Frame{{Kind: quic.Ping}, {Kind: quic.Padding, Length: 1400}}, lost: true})
			s.send(101, lab.Down, cast{space: 2, frames: streamFrame(0, 1000, 1000, true), lost: true, messages: []MessageKind{ResponseEnd}})
			s.send(230, lab.Down, cast{space: 2, frames: streamFrame(0, 1000, 1000, true), lost: true, again: true})
			s.send(490, lab.Down, cast{space: 2, frames: streamFrame(0, 1000, 1000, true), again: true})
			for at := 530.; at < 1000; at += 100 {
				s.send(at, lab.Up, cast{space: 2, acks: true})
			}
		},
		at: 0.101, length: 0.389, ended: true, shouldAct: "server",
		owed: []string{"the server had 1,000 B in flight, of which nothing had arrived", "the client had 1 packet without data in flight"},
	},
	{
		name: "a tail is lost: its probe is no retransmission timeout as well", transport: "tcp", end: 480,
		act: func(s *stage) {
			s.connect()
			s.send(100, lab.Down, cast{offset: 1001, size: 1000, lost: true, messages: []MessageKind{ResponseStart}})
			s.send(100, lab.Down, cast{offset: 2001, size: 1000, lost: true, messages: []MessageKind{ResponseEnd}})
			s.send(240, lab.Down, cast{offset: 2001, size: 1000, lost: true, again: true})
			s.send(430, lab.Down, cast{offset: 1001, size: 1000, again: true})
			s.send(470, lab.Up, cast{acks: true, window: 60000})
		},
		at: 0.12, length: 0.31, ended: true, shouldAct: "server",
		owed:   []string{"the server had 2,000 B in flight, of which nothing had arrived"},
		timers: []string{"server tlp 0.18 true", "server rto 0.48 true"},
	},
	{
		name: "after the probe a timer that had backed off is no fault", transport: "tcp", end: 1300,
		act: func(s *stage) {
			s.connect()
			s.send(100, lab.Down, cast{offset: 1001, size: 1000, lost: true, messages: []MessageKind{ResponseStart}})
			s.send(100, lab.Down, cast{offset: 2001, size: 1000, lost: true, messages: []MessageKind{ResponseEnd}})
			s.send(240, lab.Down, cast{offset: 2001, size: 1000, lost: true, again: true})
			s.send(1250, lab.Down, cast{offset: 1001, size: 1000, again: true})
			s.send(1290, lab.Up, cast{acks: true, window: 60000})
		},
		at: 0.12, length: 1.13, ended: true, shouldAct: "server",
		owed:   []string{"the server had 2,000 B in flight, of which nothing had arrived"},
		timers: []string{"server tlp 0.18 true", "server rto 0.48 true"},
	},
	{
		name: "whether the response ended is not known where its bytes were not kept", transport: "tcp", end: 1000,
		act: func(s *stage) {
			s.connect()
			i := s.send(100, lab.Down, cast{offset: 1001, size: 1000, messages: []MessageKind{ResponseStart}})
			s.c.Unread[lab.Down] = i + 1
			s.send(140, lab.Up, cast{acks: true, window: 60000})
		},
		at: 0.16, length: 0.84, shouldAct: "server",
		owed: []string{"the server had begun 1 response and not sent the end, or has sent it: what followed was not kept"},
	},
	{
		name: "SYN lost, and sent again after a second", transport: "tcp", end: 1100,
		act: func(s *stage) {
			s.send(0, lab.Up, cast{flags: ip.SYN, lost: true})
			s.send(1000, lab.Up, cast{flags: ip.SYN})
			s.send(1020, lab.Down, cast{flags: ip.SYN, acks: true})
		},
		at: 0, length: 1, ended: true, shouldAct: "client", owed: []string{"the client's SYN had not arrived"},
		timers: []string{"client rto 1 true"}, sentence: "the client's retransmission timeout fired at 1 s; the client sent nothing for 1 s",
	},
	{
		name: "SYN lost for good, and never sent again", transport: "tcp", end: 10000,
		act: func(s *stage) { s.send(0, lab.Up, cast{flags: ip.SYN, lost: true}) },
		at:  0, length: 10, shouldAct: "client", owed: []string{"the client's SYN had not arrived"},
		timers: []string{"client rto 1 false", "client rto 3 false"}, sentence: "should have fired at 1 s and 3 s; the client sent nothing for 10 s",
	},
	{
		name: "the server's flight lost, its timer fires", transport: "tcp", end: 900,
		act: func(s *stage) {
			s.send(0, lab.Up, cast{flags: ip.SYN})
			s.send(20, lab.Down, cast{flags: ip.SYN, acks: true, window: 60000})
			s.send(40, lab.Up, cast{acks: true, window: 60000, offset: 1, size: 500, messages: []MessageKind{ClientHello}})
			s.send(60, lab.Down, cast{acks: true, window: 60000})
			s.send(61, lab.Down, cast{offset: 1, size: 1000, lost: true, messages: []MessageKind{ServerHello, Finished}})
			s.send(381, lab.Down, cast{offset: 1, size: 1000, lost: true, again: true})
			s.send(800, lab.Down, cast{offset: 1, size: 1000, again: true})
		},
		at: 0.08, length: 0.72, ended: true, shouldAct: "server",
		owed:     []string{"the server had 1,000 B in flight, of which nothing had arrived; the client waited for the ServerHello"},
		timers:   []string{"server rto 0.301 true", "server rto 0.861 true"},
		sentence: "the server sent 1 packet in 720 ms (at 381 ms), of which nothing arrived: dropped by rule 1",
	},
	{
		name: "QUIC: the ClientHello lost, no probe", transport: "quic", end: 5000,
		act: func(s *stage) {
			s.send(0, lab.Up, cast{frames: cryptoFrame(0, 300), lost: true, messages: []MessageKind{ClientHello}})
		},
		at: 0, length: 5, shouldAct: "client",
		owed:   []string{"the client had 300 B in flight, of which nothing had arrived; the server waited for the ClientHello"},
		timers: []string{"client pto 0.999 false"},
	},
	{
		name: "QUIC: the client's Finished lost, the probe answers", transport: "quic", end: 2000,
		act: func(s *stage) {
			s.send(0, lab.Up, cast{frames: cryptoFrame(0, 300), messages: []MessageKind{ClientHello}})
			s.send(20, lab.Down, cast{acks: true, frames: cryptoFrame(0, 100), messages: []MessageKind{ServerHello}})
			s.send(20, lab.Down, cast{space: 1, frames: cryptoFrame(0, 900), messages: []MessageKind{Finished}})
			s.send(40, lab.Up, cast{lost: true, space: 1, acks: true, frames: cryptoFrame(0, 36), messages: []MessageKind{Finished}})
			s.send(1900, lab.Up, cast{space: 1, acks: true, frames: cryptoFrame(0, 36)})
		},
		at: 0.04, length: 1.86, ended: true, shouldAct: "client",
		owed:   []string{"the client had 36 B in flight, of which nothing had arrived; the server waited for the client's Finished", "the server had 1,000 B in flight, of which everything had arrived"},
		timers: []string{"client pto 0.16 false", "client pto 0.4 false", "client pto 0.88 false", "client pto 1.84 true"},
	},
	{
		name: "QUIC: amplification deadlock", transport: "quic", end: 8000,
		act: func(s *stage) {
			s.send(0, lab.Up, cast{frames: cryptoFrame(0, 300), messages: []MessageKind{ClientHello}})
			for i := range 3 {
				s.send(20, lab.Down, cast{acks: i == 0, lost: i > 0, frames: cryptoFrame(uint64(i*900), 900), messages: [][]MessageKind{{ServerHello}, nil, nil}[i]})
			}
		},
		at: 0.04, length: 7.96, shouldAct: "client",
		owed:     []string{"the server had sent 3,600 B and received 1,200 B", "the server had 2,700 B in flight, of which 900 B had arrived; the client waited for the rest"},
		timers:   []string{"client pto 0.16 false", "client pto 0.4 false", "client pto 0.88 false", "client pto 1.84 false"},
		sentence: "the client's probe timeout should have fired at 160 ms, 400 ms, 880 ms, 1.84 s and 1 time more; the client sent nothing for 7.96 s",
	},
	{
		name: "zero window, probed once", transport: "tcp", end: 3000,
		act: func(s *stage) {
			s.connect()
			s.send(120, lab.Down, cast{offset: 1001, size: 1000, messages: []MessageKind{ResponseStart}})
			s.send(140, lab.Up, cast{offset: 601, acks: true, window: 0})
			s.send(400, lab.Down, cast{offset: 2000})
			s.send(420, lab.Up, cast{offset: 601, acks: true, window: 0})
		},
		at: 0.44, length: 2.56, shouldAct: "server",
		owed: []string{"the client had closed its window at 160 ms: the server may send nothing beyond 2,000 B; it had not opened it again", "the server had begun 1 response"},
	},
	{
		name: "zero window, the update lost, and no probe", transport: "tcp", end: 5000,
		act: func(s *stage) {
			s.connect()
			s.send(120, lab.Down, cast{offset: 1001, size: 1000, messages: []MessageKind{ResponseStart}})
			s.send(140, lab.Up, cast{offset: 601, acks: true, window: 0})
			s.send(150, lab.Up, cast{offset: 601, acks: true, window: 60000, lost: true})
		},
		at: 0.16, length: 4.84, shouldAct: "server",
		owed:   []string{"it had opened it again in 1 packet, of which none arrived", "the server had begun 1 response"},
		timers: []string{"server persist 0.4 false", "server persist 0.88 false", "server persist 1.84 false"},
	},
	{
		name: "QUIC: stream credit lost, and no probe", transport: "quic", end: 3000,
		act: func(s *stage) {
			s.greet()
			s.c.Credit[lab.Down] = append(s.c.Credit[lab.Down], Credit{At: 0, Kind: "streams at first", Max: 2000})
			s.send(100, lab.Down, cast{space: 2, frames: streamFrame(0, 0, 1000, false), messages: []MessageKind{ResponseStart}})
			s.send(101, lab.Down, cast{space: 2, frames: streamFrame(0, 1000, 1000, false)})
			s.send(121, lab.Up, cast{space: 2, acks: true, noAsk: true})
			s.send(122, lab.Up, cast{space: 2, lost: true, frames: []quic.Frame{{Kind: quic.MaxStreamData, Stream: 0, Max: 4000}}})
		},
		at: 0.141, length: 2.859, shouldAct: "client",
		owed: []string{
			"the client had 1 packet without data in flight", "the server had used up the credit of 1 stream (of stream 0: 2,000 B); the client had raised it in 1 packet, the last at 122 ms, of which none arrived; the server never asked for more",
			"the server had begun 1 response",
		},
		timers:   []string{"client pto 0.247 false", "client pto 0.497 false", "client pto 0.997 false"},
		sentence: "(MAX_STREAM_DATA); the server had used up the credit of 1 stream",
	},
	{
		// F13: what the client lost it never sends again, and yet it acknowledges.
		name: "QUIC: 50 streams blocked, and the credit never sent again", transport: "quic", end: 3000,
		act: func(s *stage) {
			s.greet()
			s.c.Credit[lab.Down] = append(s.c.Credit[lab.Down], Credit{At: 0, Kind: "streams at first", Max: 65536})
			for i := range uint64(50) {
				s.send(100, lab.Down, cast{space: 2, frames: streamFrame(4*i, 0, 65536, false), messages: []MessageKind{ResponseStart}, messagesFor: 4 * i})
			}
			for i := range uint64(50) {
				s.send(120, lab.Up, cast{space: 2, lost: true, frames: []quic.Frame{{Kind: quic.MaxStreamData, Stream: 4 * i, Max: 131072}}})
			}
			s.send(320, lab.Down, cast{space: 2, frames: []quic.Frame{{Kind: quic.Ping}}})
			s.send(340, lab.Up, cast{space: 2, acks: true})
			s.send(360, lab.Down, cast{space: 2, acks: true, noAsk: true})
		},
		at: 0.38, length: 2.62, shouldAct: "client",
		owed: []string{
			"the server had used up the credit of 50 streams (of stream 0: 65,536 B); the client had raised it in 50 packets, the last at 120 ms, of which none arrived; the server never asked for more",
			"the server had begun 50 responses", "the client had 50 packets without data in flight, not acknowledged (MAX_STREAM_DATA)",
		},
		timers: []string{}, sentence: "never asked for more (STREAM_DATA_BLOCKED); the client sent nothing for 2.62 s",
	},
	{
		name: "QUIC: credit held back", transport: "quic", end: 3000,
		act: func(s *stage) {
			s.greet()
			s.c.Credit[lab.Down] = append(s.c.Credit[lab.Down], Credit{At: 0, Kind: "data", Max: 1000})
			s.send(100, lab.Down, cast{space: 2, frames: streamFrame(0, 0, 1000, false), messages: []MessageKind{ResponseStart}})
			s.send(120, lab.Up, cast{space: 2, acks: true, noAsk: true})
		},
		at: 0.14, length: 2.86, shouldAct: "client",
		owed: []string{"the server had used up the credit of the connection (1,000 B); the client had not raised it", "the server had begun 1 response"},
	},
	{
		name: "the server thinks", transport: "tcp", end: 3000, act: func(s *stage) { s.connect() },
		at: 0.12, length: 2.88, shouldAct: "server", owed: []string{"the server owed the response to 1 request"},
		sentence: "the server owed the response to 1 request; the server sent nothing for 2.88 s",
	},
	{
		name: "the client does not go on", transport: "quic", end: 3000, objects: 2, act: answered,
		at: 0.14, length: 2.86, shouldAct: "client", owed: []string{"the client had made 1 of 2 requests, and all had been answered"},
	},
	{name: "idle when all is done", transport: "quic", end: 3000, objects: 1, act: answered},
	{
		name: "silence before the first packet", transport: "quic", end: 2200,
		act: func(s *stage) { s.send(2000, lab.Up, cast{frames: cryptoFrame(0, 300)}) },
	},
	{
		name: "too short", transport: "quic", end: 310,
		act: func(s *stage) { s.send(0, lab.Up, cast{frames: cryptoFrame(0, 300)}) },
	},
	{
		name: "a reset connection owes nothing", transport: "tcp", end: 3000,
		act: func(s *stage) { s.connect(); s.send(130, lab.Down, cast{flags: ip.RST}) },
	},
	{
		name: "QUIC: known to be lost, and not sent again", transport: "quic", end: 3000,
		act: func(s *stage) {
			s.greet()
			s.send(100, lab.Down, cast{space: 2, lost: true, frames: streamFrame(0, 0, 1000, false), messages: []MessageKind{ResponseStart}})
			s.send(101, lab.Down, cast{space: 2, frames: streamFrame(0, 1000, 1000, true), messages: []MessageKind{ResponseEnd}})
			s.send(121, lab.Up, cast{space: 2, acks: true, noAsk: true})
		},
		at: 0.141, length: 2.859, shouldAct: "server",
		owed: []string{"the server had 1,000 B in flight, of which nothing had arrived; acknowledgements of later packets had told it that 1,000 B were lost"},
	},
}

// answered is a request with its response, all acknowledged.
func answered(s *stage) {
	s.greet()
	s.send(100, lab.Down, cast{space: 2, frames: streamFrame(0, 0, 1000, true), messages: []MessageKind{ResponseStart, ResponseEnd}})
	s.send(120, lab.Up, cast{space: 2, acks: true, noAsk: true})
}

func TestStalls(t *testing.T) {
	for _, test := range stallTests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(test.transport, test.end)
			test.act(s)
			found := s.find(About{Run: lab.Run{Cell: lab.Cell{Load: lab.Load{Objects: test.objects}}}})
			if len(test.owed) == 0 {
				if len(found) != 0 {
					t.Fatalf("no stall is to be found, but: %+v", found)
				}
				return
			}
			if len(found) == 0 {
				t.Fatal("no stall")
			}
			checkStall(t, test, found[len(found)-1])
		})
	}
}

func checkStall(t *testing.T, test stallTest, got lab.Stall) {
	t.Helper()
	near := func(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }
	if !near(got.At, test.at) || !near(got.Length, test.length) || got.Ended != test.ended {
		t.Errorf("from %v, for %v, ended %v", got.At, got.Length, got.Ended)
	}
	if got.ShouldAct != test.shouldAct {
		t.Errorf("should act: %s", got.ShouldAct)
	}
	if len(got.Owed) != len(test.owed) {
		t.Errorf("%d debts", len(got.Owed))
	}
	for i := range min(len(got.Owed), len(test.owed)) {
		if !strings.Contains(got.Owed[i], test.owed[i]) {
			t.Errorf("debt %d is not %q", i, test.owed[i])
		}
	}
	var timers []string
	for _, r := range got.Timers {
		timers = append(timers, fmt.Sprint(r.Side, " ", r.Name, " ", r.Due, " ", r.Fired))
	}
	if test.timers != nil && !slices.Equal(timers, test.timers) {
		t.Errorf("timers %q, want %q", timers, test.timers)
	}
	if !strings.Contains(got.Sentence, test.sentence) {
		t.Errorf("the sentence has no %q", test.sentence)
	}
	if t.Failed() {
		t.Logf("%s\n%s\n%+v", got.Sentence, strings.Join(got.Owed, "\n"), got.Timers)
	}
}

func TestLastSpoken(t *testing.T) {
	s := newStage("tcp", 3000)
	s.connect()
	stall := s.find(About{})[0]
	if got := s.r.LastSpoken(stall, lab.Up, 2); !slices.Equal(got, []int{3, 5}) {
		t.Errorf("the client's last two: %v", got)
	}
	if got := s.r.LastSpoken(stall, lab.Down, 9); !slices.Equal(got, []int{1, 4, 6}) {
		t.Errorf("the server's last: %v", got)
	}
	if stall.LastSpoke != "server" || stall.Delivered != 1600 {
		t.Errorf("last spoke %s, delivered %d", stall.LastSpoke, stall.Delivered)
	}
}

// A hole in the log is no silence.
func TestHoleIsNoStall(t *testing.T) {
	s := newStage("tcp", 3000)
	s.connect()
	s.send(2900, lab.Down, cast{})
	s.r.Capture.Skipped, s.r.Capture.Gap = 5, 7
	if found := s.find(About{}); len(found) != 0 {
		t.Errorf("found %+v", found)
	}
}

// With a larger round trip of the connection itself the limit is higher.
func TestMeasuredRoundTripCounts(t *testing.T) {
	s := newStage("tcp", 900)
	s.send(0, lab.Up, cast{flags: ip.SYN})
	s.r.Capture.Packets[0].Left = ms(200)
	s.send(200, lab.Down, cast{flags: ip.SYN, acks: true, window: 60000})
	s.r.Capture.Packets[1].Left = ms(300)
	s.c.Sent[lab.Up][0].Acked = ms(300)
	s.send(300, lab.Up, cast{acks: true, window: 60000, offset: 1, size: 500, lost: true, messages: []MessageKind{ClientHello}})
	if found := s.find(About{}); len(found) != 0 {
		t.Errorf("600 ms beside a round trip of 300 ms: %+v", found)
	}
	s.r.Capture.End += 400 * time.Millisecond
	if found := s.find(About{}); len(found) != 1 {
		t.Errorf("1,000 ms beside a round trip of 300 ms: %+v", found)
	}
}
