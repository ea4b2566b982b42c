package inproc

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/samewire/samewire/internal/lab"
)

// small are offers of key exchanges with which a ClientHello fits into one
// datagram. Go's own offer takes two.
var small = []tls.CurveID{tls.X25519, tls.CurveP256}

// What is held against exact numbers of round trips is carried out in virtual time,
// where the processor takes none: without delays, a slow one makes a timer go off
// before the answer is there. What a side then sends on its own waits for nobody, and
// a chain is rightly shorter than the protocol's.

// visit is a web, and the round trips that it has to take.
type visit struct {
	name            string
	web             web
	trips, security float64
}

// visits carries out each visit over each round-trip time, all of them in one process.
func visits(t *testing.T, list []visit, rtts []time.Duration, check func(t *testing.T, v visit, f lab.Wire)) {
	t.Helper()
	var jobs []job
	for _, v := range list {
		for _, rtt := range rtts {
			jobs = append(jobs, v.web.over(rtt))
		}
	}
	answers, _ := virtually(t, jobs...)
	for n, j := range jobs {
		v, a := list[n/len(rtts)], answers[n][0]
		t.Run(fmt.Sprint(v.name, " ", j.Path.RTT()), func(t *testing.T) {
			if a.Error != "" {
				t.Fatal(a.Error)
			}
			checkTrips(t, a.Facts.Wire, v.trips, v.security)
			if check != nil {
				check(t, v, a.Facts.Wire)
			}
		})
	}
}

// byCause has what makes a response take more round trips, or fewer.
var byCause = []visit{
	{"h1", web{Protocol: lab.H1}, 3, 2},
	{"h2", web{Protocol: lab.H2}, 3, 2},
	{"h1, TLS 1.2", web{Protocol: lab.H1, Version: tls.VersionTLS12}, 4, 3},
	{"h2, TLS 1.2", web{Protocol: lab.H2, Version: tls.VersionTLS12}, 4, 3},
	{"h1, HelloRetryRequest", web{Protocol: lab.H1, Offers: small, Takes: []tls.CurveID{tls.CurveP256}}, 4, 3},
	{"h1, resumed", web{Protocol: lab.H1, Again: true}, 3, 2},
	{"h2, resumed", web{Protocol: lab.H2, Again: true}, 3, 2},
	{"h1, TLS 1.2, resumed", web{Protocol: lab.H1, Version: tls.VersionTLS12, Again: true}, 3, 2},
	{"h3", web{Protocol: lab.H3}, 2, 1},
	{"h3, HelloRetryRequest", web{Protocol: lab.H3, Offers: small, Takes: []tls.CurveID{tls.CurveP256}}, 3, 2},
	{"h3, Retry", web{Protocol: lab.H3, Retry: true}, 3, 2},
	{"h3, version negotiation", web{Protocol: lab.H3, Versions: []quic.Version{quic.Version2, quic.Version1}}, 3, 2},
	{"h3, resumed", web{Protocol: lab.H3, Again: true}, 2, 1},
	{"h3, early data", web{Protocol: lab.H3, Again: true, Early: true}, 1, 1},
	{"h3, early data rejected", web{Protocol: lab.H3, Again: true, Early: true, Reject: true}, 2, 1},
}

func TestVirtualRoundTripsByCause(t *testing.T) {
	visits(t, byCause, []time.Duration{0, 40 * time.Millisecond, 150 * time.Millisecond}, nil)
}

// In real time the same. The shortest timers of a path of 100 ms wait for as much
// again; where the processor took even longer, so that one went off without any
// loss, the run is done again.
func TestRoundTripsInRealTime(t *testing.T) {
	for _, v := range byCause {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			for tries := 3; ; tries-- {
				a := doOnce(v.web.over(100 * time.Millisecond))
				if a.Error != "" {
					t.Fatal(a.Error)
				}
				if f := a.Facts.Wire; tries == 1 || tripsAre(f, v.trips, v.security) || !timerFired(f) {
					checkTrips(t, f, v.trips, v.security)
					return
				}
			}
		})
	}
}

// timerFired says whether a side sent something again because of a timer.
func timerFired(f lab.Wire) bool {
	return slices.ContainsFunc(f.Conversations, func(c lab.Conversation) bool {
		return slices.ContainsFunc([]lab.SenderFacts{c.Up, c.Down}, func(s lab.SenderFacts) bool {
			return s.Recoveries == nil || s.Recoveries.RTO+s.Recoveries.TLP+s.Recoveries.PTO > 0
		})
	})
}

// F12: a certificate chain beyond three times the client's first flight costs
// QUIC a round trip, and TCP none.
func TestVirtualRoundTripsOfLongCertificates(t *testing.T) {
	var list []visit
	for _, c := range []struct {
		cert   int
		offers []tls.CurveID
		h3     float64 // to the handshake's end
	}{
		{1200, small, 1}, {4000, small, 2}, {6000, small, 2}, {9000, small, 2},
		{1200, nil, 1}, {4000, nil, 1}, {6000, nil, 2}, {9000, nil, 2},
	} {
		name := fmt.Sprint(c.cert, " ", c.offers)
		list = append(list, visit{"h3 " + name, web{Protocol: lab.H3, Cert: c.cert, Offers: c.offers}, c.h3 + 1, c.h3},
			visit{"h1 " + name, web{Protocol: lab.H1, Cert: c.cert, Offers: c.offers}, 3, 2})
	}
	visits(t, list, []time.Duration{0, 100 * time.Millisecond}, func(t *testing.T, v visit, f lab.Wire) {
		t.Helper()
		q := f.Conversations[0].QUIC
		if v.web.Protocol != lab.H3 {
			return
		}
		// quic-go asks before a datagram whether the limit of three times was reached, not
		// whether the datagram fits: its last one may go beyond it, by less than itself,
		// and it is no longer than the first one of the client.
		if q.Blocked != (v.security > 1) || q.Amplification == nil || *q.Amplification >= 3+1 || *q.Amplification <= 0 {
			t.Errorf("blocked %v, amplification %v", q.Blocked, *q.Amplification)
		}
	})
}

// A flight beyond the initial window of ten segments waits for an acknowledgement.
func TestVirtualRoundTripsOfAFlightBeyondTheWindow(t *testing.T) {
	var list []visit
	for cert, want := range map[int]float64{9000: 3, 20000: 4, 50000: 5} {
		list = append(list, visit{fmt.Sprint(cert), web{Protocol: lab.H2, Cert: cert}, want, want - 1})
	}
	visits(t, list, []time.Duration{0, 40 * time.Millisecond}, nil)
}

func TestVirtualHandshakeFacts(t *testing.T) {
	for _, c := range []struct {
		name  string
		web   web
		check func(h *lab.Handshake, q *lab.QUICFacts) bool
	}{
		{"h2", web{Protocol: lab.H2}, func(h *lab.Handshake, q *lab.QUICFacts) bool {
			return q == nil && h.TLS == "1.3" && h.ALPN == "h2" && h.ServerName == lab.ServerName && !h.HelloRetry && !h.Resumed &&
				h.EarlyData == "none" && h.ServerSize > 500 && h.ClientSize != nil && *h.ClientSize > 200
		}},
		{"h3", web{Protocol: lab.H3}, func(h *lab.Handshake, q *lab.QUICFacts) bool {
			return h.TLS == "1.3" && h.ALPN == "h3" && q.Version == "1" && !q.Retry && !q.Blocked && q.Undecrypted == 0 &&
				*q.SmallestInitialUp >= 1200 && q.Coalesced > 0
		}},
		{"Retry", web{Protocol: lab.H3, Retry: true}, func(_ *lab.Handshake, q *lab.QUICFacts) bool { return q.Retry && *q.Amplification < 1 }},
		{"accepted", web{Protocol: lab.H3, Again: true, Early: true}, func(h *lab.Handshake, _ *lab.QUICFacts) bool {
			return h.Resumed && h.EarlyData == "accepted" && h.EarlyBytes > 0
		}},
		{"rejected", web{Protocol: lab.H3, Again: true, Early: true, Reject: true}, func(h *lab.Handshake, _ *lab.QUICFacts) bool {
			return h.EarlyData == "rejected"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers, _ := virtually(t, c.web.over(10*time.Millisecond))
			a := answers[0][0]
			f := a.Facts.Wire
			if a.Error != "" || len(f.Conversations) == 0 {
				t.Fatalf("%s; %d conversations", a.Error, len(f.Conversations))
			}
			v := f.Conversations[len(f.Conversations)-1]
			if v.Handshake == nil || !c.check(v.Handshake, v.QUIC) {
				t.Errorf("%+v\n%+v", v.Handshake, v.QUIC)
			}
			if f.NotDecodable > 0 || f.NotKept > 0 {
				t.Errorf("%d packets could not be read, %d were not kept", f.NotDecodable, f.NotKept)
			}
		})
	}
}

// tripsAre says whether the round trips are those that are wanted.
func tripsAre(f lab.Wire, trips, security float64) bool {
	return tripsOf(f.RoundTrips) == trips && tripsOf(f.HandshakeRoundTrips) == security
}

func tripsOf(v *float64) float64 {
	if v == nil {
		return -1
	}
	return *v
}

func checkTrips(t *testing.T, f lab.Wire, trips, security float64) {
	t.Helper()
	if tripsAre(f, trips, security) {
		return
	}
	var b strings.Builder
	for _, c := range f.Causes {
		fmt.Fprintf(&b, "\n\t%3d %4s %.4f %s: %s", c.Packet, c.Direction, c.At, c.What, c.Why)
	}
	t.Errorf("round trips %v, to the handshake's end %v; want %v and %v (-1: none)%s",
		tripsOf(f.RoundTrips), tripsOf(f.HandshakeRoundTrips), trips, security, b.String())
}
