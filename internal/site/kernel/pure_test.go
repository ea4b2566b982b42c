package kernel

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

func TestLatenessQuantiles(t *testing.T) {
	if got := summary(new(lateness)); got != (lab.Lateness{}) {
		t.Errorf("of nothing: %+v", got)
	}
	var a, b lateness
	for i := range 1000 { // 1 µs to 1 ms
		l := &a
		if i%2 == 0 {
			l = &b
		}
		l.add(time.Duration(i+1) * time.Microsecond)
	}
	a.add(3 * time.Second)
	got := summary(&a, &b)
	near := func(what string, got, want float64) {
		if got > want || got < want*(1-1.0/steps)-1e-9 {
			t.Errorf("%s is %v, want %v or at most 1/%d less", what, got, want, steps)
		}
	}
	near("median", got.P50, 501e-6)
	near("99th percentile", got.P99, 991e-6)
	if got.Max != 3 {
		t.Errorf("worst is %v, want 3", got.Max)
	}
}

func TestBucketsCoverAllDurations(t *testing.T) {
	last := -1
	for _, d := range []time.Duration{0, 1, 31, 32, 33, 63, 64, 65, 1000, 1e6, 1e9, 1e12, math.MaxInt64} {
		i := bucket(uint64(d))
		if i < last || i >= len(lateness{}.buckets) {
			t.Errorf("%d is in bucket %d after %d", d, i, last)
		}
		if least(i) > d || i+1 < len(lateness{}.buckets) && least(i+1) <= d {
			t.Errorf("%d is in bucket %d from %d to %d", d, i, least(i), least(i+1))
		}
		last = i
	}
	for i := range len(lateness{}.buckets) {
		if got := bucket(uint64(least(i))); got != i {
			t.Fatalf("bucket %d starts in bucket %d", i, got)
		}
	}
}

func TestEnds(t *testing.T) {
	v4 := func(from, to netip.Addr) []byte {
		p := make([]byte, 20)
		p[0] = 0x45
		copy(p[12:], from.AsSlice())
		copy(p[16:], to.AsSlice())
		return p
	}
	v6 := func(from, to netip.Addr) []byte {
		p := make([]byte, 40)
		p[0] = 0x60
		copy(p[8:], from.AsSlice())
		copy(p[24:], to.AsSlice())
		return p
	}
	up4, down6 := newEnds(lab.ClientAddr4, lab.ServerAddr4), newEnds(lab.ServerAddr6, lab.ClientAddr6)
	for _, c := range []struct {
		name   string
		ends   ends
		packet []byte
		want   bool
	}{
		{"up", up4, v4(lab.ClientAddr4, lab.ServerAddr4), true},
		{"the other way", up4, v4(lab.ServerAddr4, lab.ClientAddr4), false},
		{"multicast", up4, v4(lab.ClientAddr4, netip.MustParseAddr("224.0.0.251")), false},
		{"cut short", up4, v4(lab.ClientAddr4, lab.ServerAddr4)[:19], false},
		{"empty", up4, nil, false},
		{"other version", up4, v6(lab.ClientAddr6, lab.ServerAddr6), false},
		{"down", down6, v6(lab.ServerAddr6, lab.ClientAddr6), true},
		{"router solicitation", down6, v6(netip.IPv6Unspecified(), netip.MustParseAddr("ff02::2")), false},
		{"IPv4 on IPv6", down6, v4(lab.ServerAddr4, lab.ClientAddr4), false},
	} {
		if got := c.ends.match(c.packet); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
