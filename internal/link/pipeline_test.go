package link

import (
	"bytes"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/samewire/samewire/internal/lab"
)

// chooser draws a number from 0 to n-1.
type chooser func(n int) int

func (c chooser) time(list ...time.Duration) time.Duration { return list[c(len(list))] }

func (c chooser) share() float64 { return []float64{0, 0, 0.1, 0.5, 1}[c(5)] }

func (c chooser) correlation() float64 { return []float64{0, 0, 0.3, 0.99}[c(4)] }

func (c chooser) chance() lab.Chance {
	return lab.Chance{Share: c.share(), Correlation: c.correlation()}
}

func (c chooser) rate() lab.Rate { return []lab.Rate{0, 0, 1000, 1e6, 1e9, lab.MaxRate}[c(6)] }

// someRules have each part of the notation at least once.
var someRules = []lab.Rules{
	"", "", "", "drop every 3", "reject udp", "outage from 1ms to 5ms", "drop initial nth 2; drop tcp syn nth 1", "drop above 1000B 50%",
	"drop after 3kB for 10ms", "drop after 1kB up", "drop every 5ms; reject 1rtt 10%", "reject tcp after 2kB down for 3ms",
}

// way is any way that a path may have.
func (c chooser) way() lab.Way {
	w := lab.Way{
		Delay: c.time(0, 1, ms, 20*ms, lab.MaxDelay),
		Jitter: lab.Jitter{
			Spread: c.time(0, 0, ms, time.Second), Correlation: c.correlation(),
			Distribution: []lab.Distribution{lab.Uniform, lab.Normal, lab.Pareto}[c(3)], InOrder: c(2) == 0,
		},
		Rate: c.rate(), Limit: []int{0, 0, 1, 20}[c(4)],
		Queue:     []lab.Queue{{}, {Packets: 3}, {Bytes: 5000}, {BDP: 1}, {Time: ms}}[c(5)],
		AQM:       lab.AQM{Kind: []lab.AQMKind{"", lab.CoDel, lab.FQCoDel}[c(3)], ECN: c(2) == 0},
		Throttle:  lab.Throttle{Transport: []lab.Transport{"", lab.UDP, lab.TCP}[c(3)], Rate: c.rate()},
		Loss:      lab.Loss{Share: c.share(), Burst: c(4), Super: c(2) == 0, ECN: c(2) == 0},
		Rules:     someRules[c(len(someRules))],
		Duplicate: c.chance(), Corrupt: c.chance(),
		Reorder: lab.Reorder{Share: c.share(), Correlation: c.correlation(), Gap: c(4)},
		MTU:     []int{0, 0, 1280, 100}[c(4)], TooBig: c(2) == 0,
	}
	w.Overhead = []int{0, 0, 38, -1000}[c(4)]
	if w.Rate == 0 && c(3) == 0 {
		w.Trace = []lab.Trace{
			{Name: "m", Kind: lab.Mahimahi, Data: "1\n2\n2\n7\n"}, {Name: "c", Kind: lab.RateCSV, Data: "0,1mbit\n0.01,8kbit\n0.02,1gbit\n"},
		}[c(2)]
	}
	if w.Rate > 0 && c(4) == 0 {
		w.Burst, w.Police = 3000, c(2) == 0
	}
	if c(4) == 0 {
		w.Loss = lab.Loss{Gilbert: lab.Gilbert{P: c.share(), R: c.share(), Bad: c.share(), Good: c.share()}}
	}
	if c(4) == 0 {
		w.Shrink = lab.Shrink{MTU: 90, At: c.time(0, 5*ms)}
	}
	return w
}

func (c chooser) path() lab.Path {
	p := lab.Path{Up: c.way(), Down: c.way()}
	if c(3) == 0 {
		p.Rebind = lab.Rebind{
			At: c.time(0, ms), Every: c.time(0, 3*ms), Idle: c.time(0, ms), Address: c(2) == 0,
			Transport: []lab.Transport{"", lab.UDP, lab.TCP}[c(3)],
		}
	}
	return p
}

// somePackets are packets of all kinds, and bytes that are none.
func somePackets() [][]byte {
	list := [][]byte{nil, {0x45}, zeros[:1500], bytes.Repeat([]byte{0xff}, 1600), {0x60, 1, 2}}
	for _, family := range []lab.Family{lab.IPv4, lab.IPv6} {
		for i, payload := range [][]byte{nil, initial, zeroRTT, handshake, retry, oneRTT} {
			for _, d := range []lab.Direction{lab.Up, lab.Down} {
				list = append(list, build{family: family, transport: lab.UDP, d: d, payload: payload, ecn: uint8(i % 4), size: 100 * i}.bytes(),
					build{family: family, transport: lab.TCP, d: d, syn: i == 0, ecn: uint8(i % 4), size: 300 * i}.bytes())
			}
		}
	}
	return list
}

// ledger follows every packet through a link.
type ledger struct {
	t       reporter
	link    *Link[int]
	offered []time.Duration
	fates   []lab.Fate
	out     []int // deliveries and later drops
	done    []bool
	packets [][]byte
	last    [2]time.Duration
}

func (l *ledger) offer(d lab.Direction, now time.Duration, packet []byte, continues bool) lab.Fate {
	fate := l.link.Offer(d, now, packet, continues, len(l.fates))
	if fate.Drop != lab.NotDropped && fate != (lab.Fate{Drop: fate.Drop}) {
		l.t.Fatalf("a packet was dropped, and more: %+v", fate)
	}
	l.fates, l.offered = append(l.fates, fate), append(l.offered, now)
	l.out, l.done, l.packets = append(l.out, 0), append(l.done, fate.Drop != ""), append(l.packets, packet)
	return fate
}

// drain takes out of direction d all that is due at time now.
func (l *ledger) drain(d lab.Direction, now time.Duration) {
	for {
		at, ok := l.link.Next(d)
		out, popped := l.link.Pop(d, now)
		if popped && (!ok || at > out.At) {
			l.t.Fatalf("Next says %v (%v), and then something of %v comes out", at, ok, out.At)
		}
		if !popped {
			if ok && at > now {
				return
			}
			if at, ok := l.link.Next(d); ok && at <= now {
				l.t.Fatalf("at %v Next says %v, but nothing comes out", now, at)
			}
			return
		}
		l.see(d, now, out)
	}
}

func (l *ledger) see(d lab.Direction, now time.Duration, out Delivery[int]) {
	if out.At > now || out.At < l.last[d] {
		l.t.Fatalf("something of %v comes out at %v, after something of %v", out.At, now, l.last[d])
	}
	l.last[d] = out.At
	if out.Router != nil {
		if !out.Last || out.Changed() || out.Drop != "" || readHeaders(out.Router).version == 0 {
			l.t.Fatalf("not a message: %+v", out)
		}
		return
	}
	i := out.Hold
	if l.done[i] {
		l.t.Fatalf("packet %d comes out after it was done with: %+v", i, out)
	}
	if out.At < l.offered[i] {
		l.t.Fatalf("packet %d, offered at %v, comes at %v", i, l.offered[i], out.At)
	}
	if out.Drop != "" && (out.Drop != lab.DropAQM && out.Drop != lab.DropQueue || out.Marked) {
		l.t.Fatalf("packet %d was dropped later: %+v", i, out)
	}
	l.out[i]++
	l.done[i] = out.Last
	arrives := bytes.Clone(l.packets[i])
	out.Apply(arrives)
	if !out.Changed() && !bytes.Equal(arrives, l.packets[i]) {
		l.t.Fatalf("packet %d was changed, but does not say so", i)
	}
}

// finish takes everything out, and checks that each packet came to its end.
func (l *ledger) finish() {
	for _, d := range []lab.Direction{lab.Up, lab.Down} {
		l.drain(d, math.MaxInt64)
		if at, ok := l.link.Next(d); ok {
			l.t.Fatalf("at the end something is still due at %v", at)
		}
	}
	if _, ok := l.link.First(); ok {
		l.t.Fatalf("at the end there is a first")
	}
	for i, fate := range l.fates {
		want := 1
		switch {
		case fate.Drop != "":
			want = 0
		case fate.Duplicated:
			want = 2
		}
		if l.out[i] != want || !l.done[i] {
			l.t.Fatalf("packet %d with fate %+v came out %d times, done %v", i, fate, l.out[i], l.done[i])
		}
	}
}

// Whatever the path and the packets: no panic; each packet is dropped when it is
// offered or comes out as Last exactly once, not before it was offered; what comes
// out is in order of time; and Next names no time too late.
func TestEveryPacketComesToItsEnd(t *testing.T) {
	packets := somePackets()
	rapid.Check(t, func(t *rapid.T) {
		c := chooser(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
		l := ledger{t: t, link: New[int](c.path(), rapid.Uint64().Draw(t, "seed"))}
		l.run(c, packets, 60, c.time(0, -time.Hour, time.Hour))
	})
}

// run offers packets and takes some out, as chosen.
func (l *ledger) run(c chooser, packets [][]byte, steps int, now time.Duration) {
	l.last = [2]time.Duration{now, now}
	for range steps {
		now += c.time(0, 0, 1, 100*time.Microsecond, ms, 10*ms, time.Minute)
		d := lab.Direction(c(2))
		l.offer(d, now, packets[c(len(packets))], c(3) == 0)
		if c(2) == 0 {
			l.drain(lab.Direction(c(2)), now)
		}
	}
	for d := range l.link.ways {
		if got := l.link.Waiting(lab.Direction(d), now); got < 0 {
			l.t.Fatalf("%d bytes wait", got)
		}
	}
	l.finish()
}

// What chance decides about the nth packet depends on seed, direction and n
// alone: not on time, size, protocol, or what became of others.
func TestChanceDependsOnTheNumberAlone(t *testing.T) {
	packets := somePackets()
	rapid.Check(t, func(t *rapid.T) {
		c := chooser(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
		way := lab.Way{
			Delay: time.Second, Loss: lab.Loss{Share: c.share(), Burst: c(4)}, Duplicate: c.chance(), Corrupt: c.chance(),
			Reorder: lab.Reorder{Share: c.share(), Correlation: c.correlation(), Gap: c(4)},
			Jitter:  lab.Jitter{Spread: ms, Correlation: c.correlation(), Distribution: []lab.Distribution{lab.Uniform, lab.Normal, lab.Pareto}[c(3)]},
		}
		if c(2) == 0 {
			way.Loss = lab.Loss{Gilbert: lab.Gilbert{P: 0.2, R: 0.4, Bad: c.share(), Good: c.share()}}
		}
		seed := rapid.Uint64().Draw(t, "seed")
		d := lab.Direction(c(2))
		plain, other := New[int](lab.Path{Up: way, Down: way}, seed), way
		other.MTU, other.Rules = 1000, "drop tcp every 2"
		busy := New[int](lab.Path{Up: other, Down: other}, seed)
		var now time.Duration
		for i := range 60 {
			want := plain.Offer(d, 0, zeros[:1000], false, i)
			if c(3) == 0 { // the other direction does not matter
				busy.Offer(1-d, now, packets[c(len(packets))], false, i)
			}
			now += c.time(0, ms, time.Hour)
			packet := packets[c(len(packets))]
			got := busy.Offer(d, now, packet, c(2) == 0, i)
			if got.Drop == lab.DropMTU || got.Drop == lab.DropRule {
				for _, ok := plain.Pop(d, math.MaxInt64); ok; _, ok = plain.Pop(d, math.MaxInt64) {
				}
				continue
			}
			if len(packet) == 0 {
				got.Corrupted = want.Corrupted // there is no bit to be flipped
			}
			if got != want {
				t.Fatalf("packet %d: %+v, alone %+v", i, got, want)
			}
			if want.Drop == "" {
				sameDelay(t, plain, busy, d, now)
			}
		}
	})
}

// sameDelay compares the delay of what both links have just taken in, and empties
// them.
func sameDelay(t *rapid.T, plain, busy *Link[int], d lab.Direction, now time.Duration) {
	for {
		a, ok := plain.Pop(d, math.MaxInt64)
		b, also := busy.Pop(d, math.MaxInt64)
		if ok != also {
			t.Fatalf("one link has more than the other")
		}
		if !ok {
			return
		}
		if a.At != b.At-now || a.Last != b.Last || a.Hold != b.Hold {
			t.Fatalf("packet %d comes after %v, alone after %v", b.Hold, b.At-now, a.At)
		}
	}
}

// On a path that is in order by its own account no packet overtakes another.
func TestOrder(t *testing.T) {
	packets := somePackets()
	rapid.Check(t, func(t *rapid.T) {
		c := chooser(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
		path := c.path()
		for _, w := range []*lab.Way{&path.Up, &path.Down} {
			w.Reorder = lab.Reorder{}
			w.Jitter.InOrder = true
			if w.AQM.Kind == lab.FQCoDel {
				w.AQM.Kind = lab.CoDel
			}
		}
		if !path.InOrder() {
			t.Fatal("the path says that it is not in order")
		}
		link, now := New[int](path, rapid.Uint64().Draw(t, "seed")), time.Duration(0)
		for i := range 100 {
			now += c.time(0, 1, 100*time.Microsecond, 10*ms)
			link.Offer(lab.Direction(c(2)), now, packets[c(len(packets))], false, i)
		}
		for _, d := range []lab.Direction{lab.Up, lab.Down} {
			last := -1
			for out, ok := link.Pop(d, math.MaxInt64); ok; out, ok = link.Pop(d, math.MaxInt64) {
				if out.Router != nil || out.Drop != "" {
					continue
				}
				if out.Hold < last {
					t.Fatalf("packet %d comes after packet %d", out.Hold, last)
				}
				last = out.Hold
			}
		}
	})
}

// The caller's lateness in taking packets out changes nothing of what becomes of
// them.
func TestTakingOutLateChangesNothing(t *testing.T) {
	packets := somePackets()
	rapid.Check(t, func(t *rapid.T) {
		c := chooser(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
		path, seed := c.path(), rapid.Uint64().Draw(t, "seed")
		prompt, late := New[int](path, seed), New[int](path, seed)
		var now time.Duration
		var first []Delivery[int]
		for i := range 60 {
			now += c.time(0, 1, 100*time.Microsecond, 10*ms)
			d, packet := lab.Direction(c(2)), packets[c(len(packets))]
			for {
				out, ok := prompt.Pop(d, now)
				if !ok {
					break
				}
				if out.Router == nil {
					first = append(first, out)
				}
			}
			if a, b := prompt.Offer(d, now, packet, false, i), late.Offer(d, now, packet, false, i); a != b {
				t.Fatalf("packet %d: %+v when taken out in time, %+v when late", i, a, b)
			}
		}
		times := map[int]Delivery[int]{}
		for _, d := range []lab.Direction{lab.Up, lab.Down} {
			for out, ok := late.Pop(d, math.MaxInt64); ok; out, ok = late.Pop(d, math.MaxInt64) {
				if out.Router == nil && out.Last {
					times[out.Hold] = out
				}
			}
		}
		for _, out := range first {
			if out.Last && times[out.Hold].At != out.At && times[out.Hold].Last {
				t.Fatalf("packet %d comes at %v when taken out in time, %v when late", out.Hold, out.At, times[out.Hold].At)
			}
		}
	})
}

// FuzzLink runs any bytes over any path.
func FuzzLink(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, []byte{0x45, 0, 0, 28}, uint64(1))
	f.Add(bytes.Repeat([]byte{3, 1, 0, 2}, 60), udp(initial), uint64(2))
	f.Add(bytes.Repeat([]byte{0, 0, 0, 1, 3}, 60), build{family: lab.IPv6, transport: lab.TCP, syn: true}.bytes(), uint64(3))
	packets := somePackets()
	f.Fuzz(func(t *testing.T, choices, packet []byte, seed uint64) {
		c := chooser(func(n int) int {
			if len(choices) == 0 {
				return 0
			}
			x := int(choices[0]) % n
			choices = choices[1:]
			return x
		})
		l := ledger{t: t, link: New[int](c.path(), seed)}
		l.run(c, append([][]byte{packet}, packets...), 40, 0)
	})
}
