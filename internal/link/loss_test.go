package link

import (
	"fmt"
	"math"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// runLengths counts the runs of true, by length.
func runLengths(list []bool) (runs map[int]int, all int) {
	runs = map[int]int{}
	length := 0
	for _, lost := range append(list, false) {
		switch {
		case lost:
			length++
		case length > 0:
			runs[length]++
			all++
			length = 0
		}
	}
	return runs, all
}

// near complains when a count is more than four standard deviations from what
// it should be.
func near(t *testing.T, what string, got int, want, sigma float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 4*sigma {
		t.Errorf("%s: %d, want %.0f ± %.0f", what, got, want, 4*sigma)
	}
}

// Bursts of k: the share of lost packets is what was asked for, and runs are
// multiples of k, of which a share of (1-s)·s^(m-1) is m bursts long: a burst
// begins where another has ended as it does anywhere.
func TestBursts(t *testing.T) {
	const n = 400_000
	for _, tt := range []struct {
		p float64
		k int
	}{{0.001, 2}, {0.01, 3}, {0.05, 10}, {0.3, 4}, {0.9, 2}} {
		for seed := range uint64(3) {
			name := fmt.Sprintf("share %v, bursts of %d, seed %d", tt.p, tt.k, seed)
			lost := lostOf(one(lab.Way{Loss: lab.Loss{Share: tt.p, Burst: tt.k}}, seed), n)
			s := tt.p / (float64(tt.k)*(1-tt.p) + tt.p)
			// A renewal process: the packets at which a burst could start are one
			// packet long, or k. Its variance by the renewal theorem.
			mean := 1 + s*float64(tt.k-1)
			sigma := math.Sqrt(n/mean*s*(1-s)) * float64(tt.k) * (1 - tt.p + tt.p/float64(tt.k))
			near(t, name, count(lost), n*tt.p, sigma+float64(tt.k))

			runs, all := runLengths(lost[:n-tt.k]) // the last may have been cut off
			for length, got := range runs {
				if length%tt.k != 0 && got > 1 {
					t.Errorf("%s: %d runs of length %d", name, got, length)
				}
			}
			for m := 1; m <= 3; m++ {
				share := (1 - s) * math.Pow(s, float64(m-1))
				near(t, fmt.Sprintf("%s: runs of %d bursts", name, m), runs[m*tt.k],
					float64(all)*share, math.Sqrt(float64(all)*share*(1-share))+1)
			}
		}
	}
	for p, want := range map[float64]int{0: 0, 1: 1000} {
		if got := count(lostOf(one(lab.Way{Loss: lab.Loss{Share: p, Burst: 3}}, 1), 1000)); got != want {
			t.Errorf("share %v in bursts: %d of 1000 lost", p, got)
		}
	}
}

// A burst of 1 is no burst: the same packets are lost.
func TestBurstOfOneIsIndependent(t *testing.T) {
	one, two := one(lab.Way{Loss: lab.Loss{Share: 0.1}}, 3), one(lab.Way{Loss: lab.Loss{Share: 0.1, Burst: 1}}, 3)
	for i, lost := range lostOf(one, 10_000) {
		if lost != (two.Offer(0, 1500).Drop == lab.DropLoss) {
			t.Fatalf("packet %d differs", i)
		}
	}
}

// Gilbert's model (losses in the bad state only, and there always): runs of lost
// packets are geometric with mean 1/r, the share is p/(p+r).
func TestGilbertRuns(t *testing.T) {
	const n, p, r = 2_000_000, 0.01, 0.25
	for seed := range uint64(3) {
		lost := lostOf(one(lab.Way{Loss: lab.Loss{Gilbert: lab.Gilbert{P: p, R: r, Bad: 1}}}, seed), n)
		near(t, "lost", count(lost), n*p/(p+r), gilbertSigma(n, p, r, 1, 0))
		runs, all := runLengths(lost)
		// A run and the gap behind it take 1/p + 1/r packets.
		near(t, "runs", all, n/(1/p+1/r), math.Sqrt(n/(1/p+1/r)))
		for k := 1; k <= 8; k++ {
			share := r * math.Pow(1-r, float64(k-1))
			near(t, fmt.Sprintf("runs of length %d", k), runs[k], float64(all)*share, math.Sqrt(float64(all)*share*(1-share)))
		}
	}
}

// gilbertSigma is the standard deviation of the number of losses: that of a
// Markov-modulated Bernoulli process whose state has the correlation 1-p-r.
func gilbertSigma(n, p, r, bad, good float64) float64 {
	pb := p / (p + r)
	mean := pb*bad + (1-pb)*good
	rho := 1 - p - r
	state := pb * (1 - pb) * (bad - good) * (bad - good)
	return math.Sqrt(n * (mean*(1-mean) + 2*state*rho/(1-rho)))
}

// Gilbert and Elliott's model with all four parameters: the share of losses, and
// of losses right after a loss.
func TestGilbertElliott(t *testing.T) {
	const n = 2_000_000
	for _, g := range []lab.Gilbert{
		{P: 0.02, R: 0.1, Bad: 0.7, Good: 0.01}, {P: 0.5, R: 0.9, Bad: 0.4, Good: 0.1}, {P: 0.001, R: 0.002, Bad: 0.3, Good: 0},
		{P: 0.3, R: 1, Bad: 1, Good: 0},
	} {
		way := lab.Way{Loss: lab.Loss{Gilbert: g}}
		lost := lostOf(one(way, 11), n)
		near(t, fmt.Sprintf("%+v: lost", g), count(lost), n*way.Loss.Mean(), gilbertSigma(n, g.P, g.R, g.Bad, g.Good))

		// Two losses in a row: from each state to the next.
		bad := g.P / (g.P + g.R)
		next := bad*g.Bad*((1-g.R)*g.Bad+g.R*g.Good) + (1-bad)*g.Good*(g.P*g.Bad+(1-g.P)*g.Good)
		pairs := 0
		for i := 1; i < n; i++ {
			if lost[i] && lost[i-1] {
				pairs++
			}
		}
		near(t, fmt.Sprintf("%+v: pairs", g), pairs, n*next, 3*gilbertSigma(n, g.P, g.R, g.Bad, g.Good))
	}
}

// The model is netem's to the packet: it starts in the good state; a packet is
// judged by the state in which it finds it, and the state changes with it.
func TestGilbertLooksAtTheStateBefore(t *testing.T) {
	for _, tt := range []struct {
		g    lab.Gilbert
		want []bool
	}{
		{lab.Gilbert{P: 1, R: 1, Bad: 1}, []bool{false, true, false, true, false, true}},
		{lab.Gilbert{P: 1, R: 0, Bad: 1}, []bool{false, true, true, true, true, true}},
		{lab.Gilbert{P: 1, R: 1, Good: 1}, []bool{true, false, true, false, true, false}},
		{lab.Gilbert{P: 0, R: 1, Bad: 1}, []bool{false, false, false, false, false, false}},
		{lab.Gilbert{P: 0, R: 0, Good: 1}, []bool{true, true, true, true, true, true}},
	} {
		if got := lostOf(one(lab.Way{Loss: lab.Loss{Gilbert: tt.g}}, 1), len(tt.want)); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%+v: %v, want %v", tt.g, got, tt.want)
		}
	}
}

// The state moves with every packet offered, also with one that another stage has
// dropped.
func TestLossStateMovesWithEveryPacket(t *testing.T) {
	for _, loss := range []lab.Loss{
		{Share: 0.3}, {Share: 0.3, Burst: 4}, {Gilbert: lab.Gilbert{P: 0.1, R: 0.3, Bad: 0.8, Good: 0.1}},
	} {
		want := lostOf(one(lab.Way{Loss: loss}, 9), 2000)
		w := one(lab.Way{Loss: loss}, 9)
		for i, lost := range want {
			size := 1500
			if i%3 == 0 {
				size = 1501 // dropped before loss is looked at
			}
			if got := w.Offer(0, size).Drop; size == 1500 && (got == lab.DropLoss) != lost {
				t.Fatalf("%+v: packet %d: %q, want lost %v", loss, i, got, lost)
			}
		}
	}
}

// One decision for each super-packet, numbered by super-packets: those that are
// lost are the ones that would be lost as packets.
func TestSuperPacketsAreDecidedOnce(t *testing.T) {
	for _, loss := range []lab.Loss{
		{Share: 0.2}, {Share: 0.2, Burst: 3}, {Gilbert: lab.Gilbert{P: 0.1, R: 0.3, Bad: 0.8, Good: 0.1}},
	} {
		want := lostOf(one(lab.Way{Loss: loss}, 4), 1000)
		super := loss
		super.Super = true
		w := one(lab.Way{Loss: super}, 4)
		for i, lost := range want {
			for part := range 1 + i%5 {
				fate := w.link.Offer(lab.Down, 0, zeros[:1500], part > 0, i)
				if (fate.Drop == lab.DropLoss) != lost {
					t.Fatalf("%+v: part %d of super-packet %d: %q, want lost %v", loss, part, i, fate.Drop, lost)
				}
			}
		}
	}
	// Without Super the parts are packets like others.
	plain, parts := one(lab.Way{Loss: lab.Loss{Share: 0.2}}, 4), one(lab.Way{Loss: lab.Loss{Share: 0.2}}, 4)
	for i, lost := range lostOf(plain, 1000) {
		if got := parts.link.Offer(lab.Down, 0, zeros[:1500], i%4 > 0, i); (got.Drop == lab.DropLoss) != lost {
			t.Fatalf("packet %d differs", i)
		}
	}
	// A packet that continues nothing is the first of a super-packet.
	if w := one(lab.Way{Loss: lab.Loss{Share: 1, Super: true}}, 1); w.link.Offer(lab.Down, 0, zeros[:100], true, 0).Drop != lab.DropLoss {
		t.Error("a first packet that continues was not decided")
	}
}

// With ECN the same packets are marked instead, if they can be.
func TestLossMarksWhatUnderstandsECN(t *testing.T) {
	for _, family := range []lab.Family{lab.IPv4, lab.IPv6} {
		for _, transport := range []lab.Transport{lab.UDP, lab.TCP} {
			want := lostOf(one(lab.Way{Loss: lab.Loss{Share: 0.3}}, 2), 200)
			w := one(lab.Way{Loss: lab.Loss{Share: 0.3, ECN: true}}, 2)
			for i, lost := range want {
				ecn := uint8(i % 4)
				packet := build{family: family, transport: transport, d: lab.Down, ecn: ecn, payload: []byte{1, 2, byte(i)}}.bytes()
				fate := w.link.Offer(lab.Down, 0, packet, false, i)
				if drop := lost && ecn == 0; drop != (fate.Drop == lab.DropLoss) || fate.Marked != (lost && ecn != 0) {
					t.Fatalf("packet %d with ECN %d: %+v, lost %v", i, ecn, fate, lost)
				}
				if fate.Drop != lab.NotDropped {
					continue
				}
				out, _ := w.link.Pop(lab.Down, 0)
				if out.Marked || out.Changed() != fate.Marked {
					t.Fatalf("packet %d: marked later %v, changed %v, fate %+v", i, out.Marked, out.Changed(), fate)
				}
				out.Apply(packet)
				if got, want := see(t, packet).ecn, map[bool]uint8{true: 3, false: ecn}[fate.Marked]; got != want {
					t.Fatalf("packet %d arrives with ECN %d, want %d", i, got, want)
				}
			}
		}
	}
}
