package quic

import (
	"context"
	cryptotls "crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	quicgo "github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"

	"github.com/samewire/samewire/internal/lab"
)

// scenario is one conversation of quic-go with itself.
type scenario struct {
	name           string
	client, server []quicgo.Version
	retry          bool
	suite          uint16 // only this one; 0: any
	drop           func(n int) bool
	talk           func(t *testing.T, s *session)
	check          func(t *testing.T, x *Demux, all []Packet)
}

type session struct {
	hub    *hub
	tls    *cryptotls.Config
	config *quicgo.Config
	local  *quicgo.Transport
}

func (s *session) dial(t *testing.T) *quicgo.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := s.local.DialEarly(ctx, net.UDPAddrFromAddrPort(s.hub.server), s.tls, s.config)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func (s *session) finish(conn *quicgo.Conn) {
	_ = conn.CloseWithError(7, "done")
	time.Sleep(20 * time.Millisecond)
}

func once(n int) func(*testing.T, *session) {
	return func(t *testing.T, s *session) {
		conn := s.dial(t)
		request(t, conn, n)
		s.finish(conn)
	}
}

func resumed(t *testing.T, s *session) {
	first := s.dial(t)
	<-first.HandshakeComplete()
	request(t, first, 1000)
	for range 1000 {
		if s.hub.tickets() > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.finish(first)
	s.hub.holdUntilEarly()
	second := s.dial(t)
	request(t, second, 20000)
	if !second.ConnectionState().Used0RTT {
		t.Fatal("quic-go did not use 0-RTT")
	}
	s.finish(second)
}

func migrate(t *testing.T, s *session) {
	conn := s.dial(t)
	request(t, conn, 30000)
	other := &quicgo.Transport{Conn: s.hub.listen("198.18.0.7:7777")}
	defer func() { _ = other.Close() }()
	path, err := conn.AddPath(other)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := errors.Join(path.Probe(ctx), path.Switch()); err != nil {
		t.Fatal(err)
	}
	request(t, conn, 30000)
	s.finish(conn)
}

func count(all []Packet, is func(*Packet) bool) int {
	n := 0
	for i := range all {
		if is(&all[i]) {
			n++
		}
	}
	return n
}

func ofKind(k Kind) func(*Packet) bool { return func(p *Packet) bool { return p.Kind == k } }

func want(t *testing.T, what string, ok bool) {
	t.Helper()
	if !ok {
		t.Errorf("not true: %s", what)
	}
}

var v1, v2 = []quicgo.Version{quicgo.Version1}, []quicgo.Version{quicgo.Version2}

var scenarios = []scenario{
	{name: "v1", client: v1, server: v1, talk: once(100000), check: func(t *testing.T, x *Demux, all []Packet) {
		h := x.Conns[0].Hello()
		want(t, "ALPN, name", h.ALPN == "test" && h.ServerName == lab.ServerName && h.ServerFinished && h.ClientFinished)
		want(t, "parameters of both sides", x.Conns[0].Params(lab.Up) != nil && x.Conns[0].Params(lab.Down) != nil)
		want(t, "the client's close", slices.ContainsFunc(all, func(p Packet) bool {
			return slices.ContainsFunc(p.Frames, func(f Frame) bool {
				return f.Kind == ConnectionClose && f.App && f.Error == 7 && f.Reason == "done"
			})
		}))
		want(t, "Finished in a message", slices.ContainsFunc(all, func(p Packet) bool {
			return len(p.Messages) > 0 && p.Kind == Handshake && string(p.Messages[len(p.Messages)-1].Kind) == "Finished"
		}))
	}},
	{name: "v2", client: v2, server: v2, talk: once(100000), check: func(t *testing.T, x *Demux, all []Packet) {
		want(t, "version 2", x.Conns[0].Version() == Version2)
	}},
	{name: "AES-256", client: v1, server: v1, suite: cryptotls.TLS_AES_256_GCM_SHA384, talk: once(50000)},
	{name: "ChaCha20", client: v1, server: v1, suite: cryptotls.TLS_CHACHA20_POLY1305_SHA256, talk: once(50000)},
	{name: "Retry", client: v1, server: v1, retry: true, talk: once(50000), check: func(t *testing.T, x *Demux, all []Packet) {
		want(t, "a Retry", count(all, ofKind(Retry)) > 0)
		want(t, "retry_source_connection_id", len(x.Conns[0].Params(lab.Down).RetrySource) > 0)
	}},
	{name: "version negotiation", client: append(v1, v2...), server: v2, talk: once(50000), check: func(t *testing.T, x *Demux, all []Packet) {
		want(t, "a VersionNegotiation", count(all, ofKind(VersionNegotiation)) > 0)
		want(t, "one connection, of version 2", len(x.Conns) == 1 && x.Conns[0].Version() == Version2)
	}},
	{name: "0-RTT", client: v1, server: v1, talk: resumed, check: func(t *testing.T, x *Demux, all []Packet) {
		want(t, "0-RTT packets", count(all, ofKind(ZeroRTT)) > 0)
		want(t, "two connections, 4 early bytes", len(x.Conns) == 2 && x.Conns[1].Hello().EarlyBytes == 4)
	}},
	{name: "0-RTT v2 ChaCha20", client: v2, server: v2, suite: cryptotls.TLS_CHACHA20_POLY1305_SHA256, talk: resumed},
	{name: "key updates", client: v1, server: v1, talk: once(3 << 20), check: func(t *testing.T, x *Demux, all []Packet) {
		want(t, "key updates both ways", x.Conns[0].KeyUpdates(lab.Up) > 0 && x.Conns[0].KeyUpdates(lab.Down) > 0)
	}},
	{name: "migration", client: v1, server: v1, talk: migrate, check: func(t *testing.T, x *Demux, all []Packet) {
		want(t, "one connection", len(x.Conns) == 1)
		want(t, "PATH_CHALLENGE", slices.ContainsFunc(all, func(p Packet) bool {
			return slices.ContainsFunc(p.Frames, func(f Frame) bool { return f.Kind == PathChallenge })
		}))
	}},
	{name: "loss", client: v1, server: v1, drop: func(n int) bool { return n%11 == 3 }, talk: once(300000)},
}

func TestConversationsOfQuicGo(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if s.suite == 0 {
				t.Parallel() // suites are chosen for the whole process
			}
			h := s.run(t)
			x, all := readHub(t, h)
			if s.check != nil {
				s.check(t, x, all)
			}
		})
	}
}

func (s scenario) run(t *testing.T) *hub {
	t.Helper()
	h := newHub()
	h.drop = s.drop
	client, server := tlsConfigs(t, h)
	far := &quicgo.Transport{Conn: h.listen(h.server.String()), VerifySourceAddress: func(net.Addr) bool { return s.retry }}
	near := &quicgo.Transport{Conn: h.listen("198.18.0.1:5000")}
	defer func() { _ = errors.Join(near.Close(), far.Close()) }()
	if s.suite != 0 {
		defer onlySuite(s.suite)()
	}
	l, err := far.ListenEarly(server, h.config(s.server...))
	if err != nil {
		t.Fatal(err)
	}
	go serve(t, l)
	s.talk(t, &session{h, client, h.config(s.client...), near})
	return h
}

// readHub reads what a hub carried; all of it must open, and be what quic-go says
// it sent.
func readHub(t *testing.T, h *hub) (*Demux, []Packet) {
	t.Helper()
	secrets := h.secrets(t)
	h.mu.Lock()
	defer h.mu.Unlock()
	x := NewDemux(secrets)
	var all []Packet
	var sent [2]map[*Conn][]string
	again := map[string]bool{}
	sent[0], sent[1] = map[*Conn][]string{}, map[*Conn][]string{}
	for i, d := range h.log {
		c := x.Find(d.way, d.from, d.to, d.payload)
		if c == nil {
			t.Fatalf("datagram %d belongs to no connection", i)
		}
		for _, p := range c.Read(d.way, d.payload) {
			all = append(all, p)
			if p.Problem != "" || !p.Opened && p.Kind != Retry && p.Kind != VersionNegotiation {
				t.Errorf("datagram %d, %s: %+v", i, d.way, p)
			}
			if p.Opened && !again[string(d.payload)] {
				sent[d.way][c] = append(sent[d.way][c], ours(&p))
			}
		}
		again[string(d.payload)] = true // quic-go answers what comes after its close with the same bytes
	}
	for d := range sent {
		h.compare(t, lab.Direction(d), x.Conns, sent[d])
	}
	return x, all
}

func ours(p *Packet) string {
	var list []string
	for i := range p.Frames {
		if p.Frames[i].Kind != Padding {
			list = append(list, frameText(&p.Frames[i]))
		}
	}
	slices.Sort(list)
	return fmt.Sprintf("%s %d: %s", p.Kind, p.Number, strings.Join(list, ", "))
}

// compare compares the packets read with those that quic-go logged as sent. The
// last ones of a log may never have reached the wire.
func (h *hub) compare(t *testing.T, d lab.Direction, conns []*Conn, sent map[*Conn][]string) {
	t.Helper()
	var read []string
	for _, c := range conns {
		read = append(read, sent[c]...)
	}
	var logged []string
	for _, r := range h.logged[d] {
		r.mu.Lock()
		for i := range r.sent {
			logged = append(logged, theirs(&r.sent[i]))
		}
		r.mu.Unlock()
	}
	left := map[string]int{}
	for _, s := range logged {
		left[s]++
	}
	for _, s := range read { // a path's own queue may change their order
		if left[s]--; left[s] < 0 {
			t.Errorf("%s: not sent like that: %s", d, s)
		}
	}
	if len(read) == 0 || len(logged)-len(read) > 2 {
		t.Errorf("%s: %d packets read of %d sent", d, len(read), len(logged))
	}
}

var kindsOfQlog = map[qlog.PacketType]Kind{
	qlog.PacketTypeInitial: Initial, qlog.PacketTypeHandshake: Handshake,
	qlog.PacketType0RTT: ZeroRTT, qlog.PacketType1RTT: OneRTT,
}

func theirs(e *qlog.PacketSent) string {
	var list []string
	for _, f := range e.Frames {
		list = append(list, textOfQlog(f.Frame))
	}
	slices.Sort(list)
	return fmt.Sprintf("%s %d: %s", kindsOfQlog[e.Header.PacketType], e.Header.PacketNumber, strings.Join(list, ", "))
}

// textOfQlog is frameText for quic-go's frames.
func textOfQlog(frame any) string {
	f := Frame{}
	switch g := frame.(type) {
	case *qlog.PingFrame:
		f.Kind = Ping
	case *qlog.AckFrame:
		f.Kind = Ack
		for _, r := range g.AckRanges {
			f.Ranges = append(f.Ranges, Range{uint64(r.Smallest), uint64(r.Largest)})
		}
		if g.ECT0+g.ECT1+g.ECNCE > 0 {
			f.ECN = &[3]uint64{g.ECT0, g.ECT1, g.ECNCE}
		}
	case *qlog.CryptoFrame:
		f.Kind, f.Offset, f.Length = Crypto, uint64(g.Offset), int(g.Length)
	case *qlog.StreamFrame:
		f.Kind, f.Stream, f.Offset, f.Length, f.Fin = Stream, uint64(g.StreamID), uint64(g.Offset), int(g.Length), g.Fin
	case *qlog.MaxDataFrame:
		f.Kind, f.Max = MaxData, uint64(g.MaximumData)
	case *qlog.MaxStreamDataFrame:
		f.Kind, f.Stream, f.Max = MaxStreamData, uint64(g.StreamID), uint64(g.MaximumStreamData)
	case *qlog.MaxStreamsFrame:
		f.Kind, f.Uni, f.Max = MaxStreams, g.Type == 0, uint64(g.MaxStreamNum)
	case *qlog.DataBlockedFrame:
		f.Kind, f.Max = DataBlocked, uint64(g.MaximumData)
	case *qlog.StreamDataBlockedFrame:
		f.Kind, f.Stream, f.Max = StreamDataBlocked, uint64(g.StreamID), uint64(g.MaximumStreamData)
	case *qlog.NewTokenFrame:
		f.Kind, f.Data = NewToken, g.Token
	case *qlog.NewConnectionIDFrame:
		f.Kind, f.Sequence, f.Retire, f.ID, f.Token = NewConnectionID, g.SequenceNumber, g.RetirePriorTo, g.ConnectionID.Bytes(), g.StatelessResetToken
	case *qlog.RetireConnectionIDFrame:
		f.Kind, f.Sequence = RetireConnectionID, g.SequenceNumber
	case *qlog.PathChallengeFrame:
		f.Kind, f.Data = PathChallenge, g.Data[:]
	case *qlog.PathResponseFrame:
		f.Kind, f.Data = PathResponse, g.Data[:]
	case *qlog.ConnectionCloseFrame:
		f.Kind, f.App, f.Error, f.Max, f.Reason = ConnectionClose, g.IsApplicationError, g.ErrorCode, g.FrameType, g.ReasonPhrase
	case *qlog.HandshakeDoneFrame:
		f.Kind = HandshakeDone
	default:
		return fmt.Sprintf("%T", frame)
	}
	return frameText(&f)
}
