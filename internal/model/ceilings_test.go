package model

import (
	"math"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

func near(a, b, share float64) bool { return math.Abs(a/b-1) <= share }

func TestHandshakes(t *testing.T) {
	for _, k := range []struct {
		name string
		h    handshake
		want int
	}{
		{"TCP and TLS 1.3", handshake{}, 2},
		{"TCP and TLS 1.3, resumed", handshake{Resumed: true}, 2},
		{"TCP and TLS 1.3, early data", handshake{Resumed: true, Early: true}, 1},
		{"TCP and TLS 1.2", handshake{TLS12: true}, 3},
		{"TCP and TLS 1.2, resumed", handshake{TLS12: true, Resumed: true}, 2},
		{"QUIC", handshake{QUIC: true}, 1},
		{"QUIC has no TLS 1.2", handshake{QUIC: true, TLS12: true}, 1},
		{"QUIC, 0-RTT", handshake{QUIC: true, Resumed: true, Early: true}, 0},
		{"QUIC, Retry", handshake{QUIC: true, Retry: true}, 2},
		{"QUIC, 0-RTT and Retry", handshake{QUIC: true, Resumed: true, Early: true, Retry: true}, 1},
		{"QUIC, a flight of three times the client's", handshake{QUIC: true, Flight: 3600}, 1},
		{"QUIC, one byte more", handshake{QUIC: true, Flight: 3601}, 2},
		{"QUIC, a chain at the 95th percentile", handshake{QUIC: true, Flight: 5801 + 1000}, 2},
		{"QUIC, the same after two datagrams", handshake{QUIC: true, Flight: 5801 + 1000, ClientBytes: 2400}, 1},
		{"QUIC, a chain after Retry", handshake{QUIC: true, Flight: 9000, Retry: true}, 2},
		{"TCP does not care for the chain", handshake{Flight: 9000}, 2},
	} {
		if got := k.h.roundTrips(); got != k.want {
			t.Errorf("%s: %d round trips, want %d", k.name, got, k.want)
		}
	}
}

func TestCeilings(t *testing.T) {
	for _, k := range []struct {
		name      string
		got, want float64
	}{
		{"β 0.5: 1.22/√p", additive(0.5, 0.01), 12.25},
		{"β 0.7: 1.68/√p", additive(0.7, 0.01), 16.83},
		{"CUBIC where Reno is faster", cubic(0.1, 0.01), 12.25},
		{"CUBIC's own (RFC 9438, table 1: RTT 0.1 s, p 1e-5)", cubic(0.1, 1e-5), 1054},
		{"a queue of one product, β 0.5", utilisation(0.5, 1, 1), 1},
		{"no queue, β 0.5", utilisation(0.5, 1, 0), 0.75},
		{"no queue, β 0.7", utilisation(0.7, 1, 0), 0.85},
		{"a window of three or less", lateShare(3), 1},
	} {
		if !near(k.got, k.want, 0.01) {
			t.Errorf("%s: %v, want %v", k.name, k.got, k.want)
		}
	}
}

// In the long run the sawtooth is the ceiling that it was derived from.
func TestSawtoothReachesItsCeiling(t *testing.T) {
	for _, k := range []struct {
		name  string
		cubic bool
		beta  float64
		p     float64
		want  float64
	}{
		{"Reno 0.5", false, 0.5, 1e-4, additive(0.5, 1e-4)},
		{"Reno 0.7", false, 0.7, 1e-4, additive(0.7, 1e-4)},
		{"CUBIC's friendly region", true, cubicBeta, 1e-3, additive(0.5, 1e-3)},
		{"CUBIC", true, cubicBeta, 1e-5, cubic(0.1, 1e-5)},
	} {
		c := cellOf(path(100*time.Millisecond, k.p), "big", lab.H1)
		c.Path.Down.Rate, c.Path.Up.Rate = 0, 0
		x := newTransfer(c)
		x.cubic, x.beta, x.patience = k.cubic, k.beta, 0
		data, _ := x.ways()
		took := make([]float64, 2)
		for i := range took {
			x.framing.object = float64(200*(i+1)) / k.p
			took[i] = x.lossy(data)
		}
		got := 200 / k.p / (1 - k.p) / (took[1] - took[0]) * x.rtt
		if !near(got, k.want, 0.08) {
			t.Errorf("%s: %.2f packets a round trip, want %.2f", k.name, got, k.want)
		}
	}
}

// The rest of a long transfer moves at the rate, or at the window over the round
// trip.
func TestLongRun(t *testing.T) {
	c := cellOf(path(40*time.Millisecond, 0), "big", lab.H2)
	c.Load.Size = 1e9
	if got, want := (Theory{}).Predict(c)[lab.Goodput], 1e8*0.955; !near(got, want, 0.02) {
		t.Errorf("a long transfer has %.4g bit/s, want the rate without headers, %.4g", got, want)
	}
	c.Path.Up.Rate, c.Path.Down.Rate = 0, 0
	c.Load.Size = 1e11
	if got, want := (Theory{}).Predict(c)[lab.Goodput], 8*float64(h2Stream)/0.04; !near(got, want, 0.02) {
		t.Errorf("a long transfer without a rate has %.4g bit/s, want the window over the round trip, %.4g", got, want)
	}
}

func TestSaysNothing(t *testing.T) {
	base := cellOf(path(40*time.Millisecond, 0), "big", lab.H3)
	for name, change := range map[string]func(c *lab.Cell){
		"jitter":                         func(c *lab.Cell) { c.Path.Down.Jitter.Spread = time.Millisecond },
		"reordering":                     func(c *lab.Cell) { c.Path.Down.Reorder.Share = 0.1 },
		"bursts of loss":                 func(c *lab.Cell) { c.Path.Down.Loss = lab.Loss{Share: 0.01, Burst: 3} },
		"Gilbert":                        func(c *lab.Cell) { c.Path.Down.Loss = lab.Loss{Gilbert: lab.Gilbert{P: 0.01, R: 0.3, Bad: 1}} },
		"a policer":                      func(c *lab.Cell) { c.Path.Down.Police, c.Path.Down.Burst = true, 9000 },
		"a small MTU":                    func(c *lab.Cell) { c.Path.Down.MTU = 1400 },
		"CoDel":                          func(c *lab.Cell) { c.Path.Down.AQM.Kind = lab.CoDel },
		"another server":                 func(c *lab.Cell) { c.Stack.Server = "nginx" },
		"BBR":                            func(c *lab.Cell) { c.Protocol, c.Stack.CC = lab.H2, "bbr" },
		"few losses":                     func(c *lab.Cell) { c.Path.Down.Loss.Share = 0.001 },
		"heavy loss":                     func(c *lab.Cell) { c.Path.Down.Loss.Share = 0.3 },
		"loss of acknowledgements alone": func(c *lab.Cell) { c.Path.Up.Loss.Share = 0.01 },
		"rest":                           func(c *lab.Cell) { c.Load.Warm, c.Load.Idle = true, time.Second },
		"a small queue":                  func(c *lab.Cell) { c.Path.Down.Queue = lab.Queue{Packets: 5} },
		"no time at all":                 func(c *lab.Cell) { c.Path = lab.Path{} },
	} {
		c := base
		change(&c)
		if v, ok := (Theory{}).Predict(c)[lab.Duration]; ok {
			t.Errorf("%s: a duration of %v is predicted", name, v)
		}
	}
	if _, ok := (Theory{}).Predict(base)[lab.Duration]; !ok {
		t.Error("without any of these nothing is predicted either")
	}
}
