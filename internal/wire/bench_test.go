package wire

import (
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// segment is a TCP segment over IPv4 with 1460 bytes of payload.
func segment() []byte {
	p := make([]byte, 1500)
	p[0], p[2], p[3], p[9] = 0x45, 0x05, 0xdc, protoTCP
	p[20+12] = 5 << 4
	return p
}

func BenchmarkSee(b *testing.B) {
	b.ReportAllocs()
	w, p := New(), segment()
	for i := 0; b.Loop(); i++ {
		w.See(lab.Down, time.Duration(i), p, lab.Fate{})
	}
}

func TestSeeAllocatesNothing(t *testing.T) {
	w, p := New(), segment()
	w.See(lab.Down, 0, p, lab.Fate{Drop: "loss"})
	if n := testing.AllocsPerRun(1000, func() { w.See(lab.Down, 1, p, lab.Fate{Drop: "loss"}) }); n != 0 {
		t.Errorf("%v allocations for a packet", n)
	}
}
