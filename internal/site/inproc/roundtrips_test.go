package inproc

import (
	"crypto/tls"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/samewire/samewire/internal/lab"
)

// small are offers of key exchanges with which a ClientHello fits into one
// datagram. Go's own offer takes two.
var small = []tls.CurveID{tls.X25519, tls.CurveP256}

func TestRoundTripsByCause(t *testing.T) {
	p256 := []tls.CurveID{tls.CurveP256}
	for _, c := range []struct {
		name            string
		web             web
		trips, security float64
	}{
		{"h1", web{protocol: lab.H1}, 3, 2},
		{"h2", web{protocol: lab.H2}, 3, 2},
		{"h1, TLS 1.2", web{protocol: lab.H1, version: tls.VersionTLS12}, 4, 3},
		{"h2, TLS 1.2", web{protocol: lab.H2, version: tls.VersionTLS12}, 4, 3},
		{"h1, HelloRetryRequest", web{protocol: lab.H1, offers: small, takes: p256}, 4, 3},
		{"h1, resumed", web{protocol: lab.H1, again: true}, 3, 2},
		{"h2, resumed", web{protocol: lab.H2, again: true}, 3, 2},
		{"h1, TLS 1.2, resumed", web{protocol: lab.H1, version: tls.VersionTLS12, again: true}, 3, 2},
		{"h3", web{protocol: lab.H3}, 2, 1},
		{"h3, HelloRetryRequest", web{protocol: lab.H3, offers: small, takes: p256}, 3, 2},
		{"h3, Retry", web{protocol: lab.H3, retry: true}, 3, 2},
		{"h3, version negotiation", web{protocol: lab.H3, versions: []quic.Version{quic.Version2, quic.Version1}}, 3, 2},
		{"h3, resumed", web{protocol: lab.H3, again: true}, 2, 1},
		{"h3, early data", web{protocol: lab.H3, again: true, early: true}, 1, 1},
		{"h3, early data rejected", web{protocol: lab.H3, again: true, early: true, reject: true}, 2, 1},
	} {
		for _, rtt := range []time.Duration{0, 40 * time.Millisecond, 150 * time.Millisecond} {
			t.Run(fmt.Sprint(c.name, " ", rtt), func(t *testing.T) {
				t.Parallel()
				checkTrips(t, c.web.facts(t, path(rtt, 0, 0)), c.trips, c.security)
			})
		}
	}
}

// F12: a certificate chain beyond three times the client's first flight costs
// QUIC a round trip, and TCP none.
func TestRoundTripsOfLongCertificates(t *testing.T) {
	for _, c := range []struct {
		cert   int
		offers []tls.CurveID
		h3     float64 // to the handshake's end
	}{
		{1200, small, 1}, {4000, small, 2}, {6000, small, 2}, {9000, small, 2},
		{1200, nil, 1}, {4000, nil, 1}, {6000, nil, 2}, {9000, nil, 2},
	} {
		for _, rtt := range []time.Duration{0, 100 * time.Millisecond} {
			t.Run(fmt.Sprint(c.cert, " ", c.offers, " ", rtt), func(t *testing.T) {
				t.Parallel()
				f := web{protocol: lab.H3, cert: c.cert, offers: c.offers}.facts(t, path(rtt, 0, 0))
				checkTrips(t, f, c.h3+1, c.h3)
				q := f.Conversations[0].QUIC
				if q.Blocked != (c.h3 > 1) || q.Amplification == nil || *q.Amplification > 3 || *q.Amplification <= 0 {
					t.Errorf("blocked %v, amplification %v", q.Blocked, *q.Amplification)
				}
				checkTrips(t, web{protocol: lab.H1, cert: c.cert, offers: c.offers}.facts(t, path(rtt, 0, 0)), 3, 2)
			})
		}
	}
}

// A flight beyond the initial window of ten segments waits for an acknowledgement.
func TestRoundTripsOfAFlightBeyondTheWindow(t *testing.T) {
	for cert, want := range map[int]float64{9000: 3, 20000: 4, 50000: 5} {
		for _, rtt := range []time.Duration{0, 40 * time.Millisecond} {
			t.Run(fmt.Sprint(cert, " ", rtt), func(t *testing.T) {
				t.Parallel()
				checkTrips(t, web{protocol: lab.H2, cert: cert}.facts(t, path(rtt, 0, 0)), want, want-1)
			})
		}
	}
}

func TestHandshakeFacts(t *testing.T) {
	for _, c := range []struct {
		name  string
		web   web
		check func(h *lab.Handshake, q *lab.QUICFacts) bool
	}{
		{"h2", web{protocol: lab.H2}, func(h *lab.Handshake, q *lab.QUICFacts) bool {
			return q == nil && h.TLS == "1.3" && h.ALPN == "h2" && h.ServerName == lab.ServerName && !h.HelloRetry && !h.Resumed &&
				h.EarlyData == "none" && h.ServerSize > 500 && h.ClientSize != nil && *h.ClientSize > 200
		}},
		{"h3", web{protocol: lab.H3}, func(h *lab.Handshake, q *lab.QUICFacts) bool {
			return h.TLS == "1.3" && h.ALPN == "h3" && q.Version == "1" && !q.Retry && !q.Blocked && q.Undecrypted == 0 &&
				*q.SmallestInitialUp >= 1200 && q.Coalesced > 0
		}},
		{"Retry", web{protocol: lab.H3, retry: true}, func(_ *lab.Handshake, q *lab.QUICFacts) bool { return q.Retry && *q.Amplification < 1 }},
		{"accepted", web{protocol: lab.H3, again: true, early: true}, func(h *lab.Handshake, _ *lab.QUICFacts) bool {
			return h.Resumed && h.EarlyData == "accepted" && h.EarlyBytes > 0
		}},
		{"rejected", web{protocol: lab.H3, again: true, early: true, reject: true}, func(h *lab.Handshake, _ *lab.QUICFacts) bool {
			return h.EarlyData == "rejected"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := c.web.facts(t, path(10*time.Millisecond, 0, 0))
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

func checkTrips(t *testing.T, f lab.Wire, trips, security float64) {
	t.Helper()
	value := func(v *float64) float64 {
		if v == nil {
			return -1
		}
		return *v
	}
	if value(f.RoundTrips) == trips && value(f.HandshakeRoundTrips) == security {
		return
	}
	var b strings.Builder
	for _, c := range f.Causes {
		fmt.Fprintf(&b, "\n\t%3d %4s %.4f %s: %s", c.Packet, c.Direction, c.At, c.What, c.Why)
	}
	t.Errorf("round trips %v, to the handshake's end %v; want %v and %v (-1: none)%s",
		value(f.RoundTrips), value(f.HandshakeRoundTrips), trips, security, b.String())
}
