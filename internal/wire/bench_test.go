package wire

import (
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// segment is a TCP segment over IPv4 with timestamps and 1448 bytes of payload.
func segment() []byte {
	return ip4(protoTCP, tcp(443, 50000, 0, flagACK, 1448))
}

// traffic makes the packets of a download: segments, and an acknowledgement for
// two of them, delivered as many packets later as are under way.
type traffic struct {
	w        *Witness
	data     []byte
	ack      []byte
	underWay int
	n, left  int
}

func newTraffic(w *Witness, underWay int) *traffic {
	return &traffic{w: w, data: segment(), ack: ip4(protoTCP, tcp(50000, 443, 1, flagACK, 0)), underWay: underWay}
}

func (t *traffic) next() {
	packet, d := t.data, lab.Down
	if t.n%3 == 2 {
		packet, d = t.ack, lab.Up
	}
	binary.BigEndian.PutUint32(packet[24:], binary.BigEndian.Uint32(packet[24:])+uint32(len(packet)-52))
	t.n++
	now := time.Duration(t.n) * 1000
	t.w.See(d, now, packet, lab.Fate{})
	if t.left < t.n-t.underWay {
		t.left++
		t.w.Left(t.left, now, 10, 20)
	}
}

// BenchmarkSee is the cost of a packet to the witness: seen, kept as far as the
// limits go, and delivered later. The data of UDP is whole until the limit.
func BenchmarkSee(b *testing.B) {
	for _, underWay := range []int{10, 30_000} {
		b.Run(map[int]string{10: "near", 30_000: "far"}[underWay], func(b *testing.B) {
			b.ReportAllocs()
			t := newTraffic(New(), underWay)
			for b.Loop() {
				t.next()
			}
		})
	}
	b.Run("UDP", func(b *testing.B) {
		b.ReportAllocs()
		w, p := New(), ip4(protoUDP, udp(443, 50000, make([]byte, 1200)))
		for i := 0; b.Loop(); i++ {
			w.Left(w.See(lab.Down, time.Duration(i), p, lab.Fate{}), time.Duration(i), 0, 0)
		}
	})
}

// BenchmarkSeeWithoutLog is a witness that only counts.
func BenchmarkSeeWithoutLog(b *testing.B) {
	b.ReportAllocs()
	w := New()
	w.log.sealed = true
	t := newTraffic(w, 10)
	for b.Loop() {
		t.next()
	}
}

// A packet costs no allocation, but for a chunk now and then, and those that are
// dropped none either.
func TestSeeAllocatesNothing(t *testing.T) {
	for name, fate := range map[string]lab.Fate{"delivered": {}, "dropped": {Drop: lab.DropLoss}, "marked": {Marked: true}} {
		w, p := New(), segment()
		see := func() {
			n := w.See(lab.Down, 1, p, fate)
			w.Left(n, 2, 0, 0)
		}
		see()
		const packets = 200 // in the first chunk
		if n := testing.AllocsPerRun(1, func() {
			for range packets {
				w.See(lab.Down, 1, p[:52], fate)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations for %d packets", name, n, packets)
		}
	}
}

// The memory is that of the limits after ten million packets.
func TestMemoryIsBounded(t *testing.T) {
	const packets = 10_000_000
	n := packets
	if testing.Short() {
		n /= 4
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	traffic := newTraffic(New(), 1000)
	for range n {
		traffic.next()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	const total = 192 << 20
	used := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	if used > total+1<<20 || used < total*9/10 {
		t.Errorf("%d bytes in use after %d packets", used, n)
	}
	t.Logf("%d packets: %.1f MiB", n, float64(used)/(1<<20))
	c := traffic.w.Capture(0, 0)
	if f := traffic.w.Facts(1, 0); f.Up.Packets+f.Down.Packets != n || len(c.Packets)+c.Skipped != n {
		t.Errorf("%d and %d packets counted, %d kept, %d skipped, of %d", f.Up.Packets, f.Down.Packets, len(c.Packets), c.Skipped, n)
	}
}
