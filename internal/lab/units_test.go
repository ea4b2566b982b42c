package lab

import (
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseRate(t *testing.T) {
	for s, want := range map[string]Rate{
		"100mbit": 100e6, "1.5mbit": 1.5e6, "10Mbit": 10e6, "2gbit": 2e9, "64kbit": 64e3, "1bit": 1, "unlimited": 0, "1000gbit": MaxRate,
	} {
		if got, err := ParseRate(s); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "100", "mbit", "-1mbit", "0bit", "1001gbit", "1mbps", "1e3bit", "1..2mbit", "NaNbit", " 1mbit", "1 mbit"} {
		if got, err := ParseRate(s); err == nil {
			t.Errorf("%q was accepted as %d", s, got)
		}
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"100B": 100, "8kB": 8000, "8KiB": 8192, "3MB": 3e6, "1.5kB": 1500, "1GiB": 1 << 30, "0B": 0, "1000GB": MaxSize,
	} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "100", "8KB", "8kb", "-1B", "0.5B", "1001GB", "B"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("%q was accepted as %d", s, got)
		}
	}
}

func TestParseShare(t *testing.T) {
	for s, want := range map[string]float64{"1%": 0.01, "0%": 0, "100%": 1, "0.5%": 0.005, "1.3%": 0.013, "-0%": 0} {
		if got, err := ParseShare(s); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "%", "1", "0.01", "-1%", "150%", "NaN%", "Inf%", "1%%", "1 %", "1e-3%", "0x1p-2%", "1_0%", ".%", "1e400%"} {
		if got, err := ParseShare(s); err == nil {
			t.Errorf("%q was accepted as %v", s, got)
		}
	}
}

func TestParseQueue(t *testing.T) {
	for s, want := range map[string]Queue{
		"100p": {Packets: 100}, "100": {Packets: 100}, "64kB": {Bytes: 64000}, "1bdp": {BDP: 1}, "0.5bdp": {BDP: 0.5}, "default": {},
		"50ms": {Time: 50 * time.Millisecond}, "1h": {Time: time.Hour},
	} {
		if got, err := ParseQueue(s); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "0", "0p", "-5p", "0B", "0bdp", "-1bdp", "1001bdp", "NaNbdp", "bdp", "p", "5pp", "10000001", "1x", "0s", "-5ms", "61m"} {
		if got, err := ParseQueue(s); err == nil {
			t.Errorf("%q was accepted as %+v", s, got)
		}
	}
}

func TestParseDelay(t *testing.T) {
	for s, want := range map[string]time.Duration{"0": 0, "20ms": 20 * time.Millisecond, "1.5s": 1500 * time.Millisecond, "1h": time.Hour} {
		if got, err := ParseDelay(s); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "20", "-1ms", "61m", "ms", "1 ms"} {
		if got, err := ParseDelay(s); err == nil {
			t.Errorf("%q was accepted as %v", s, got)
		}
	}
}

// Whatever is written back means the same.
func TestUnitsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := Rate(rapid.Int64Range(0, int64(MaxRate)).Draw(t, "rate"))
		if got, err := ParseRate(rate.String()); err != nil || got != rate {
			t.Fatalf("rate %d → %q → %d, %v", rate, rate, got, err)
		}
		size := rapid.Int64Range(0, MaxSize).Draw(t, "size")
		if got, err := ParseSize(FormatSize(size)); err != nil || got != size {
			t.Fatalf("size %d → %q → %d, %v", size, FormatSize(size), got, err)
		}
		share := rapid.Float64Range(0, 1).Draw(t, "share")
		if got, err := ParseShare(FormatShare(share)); err != nil || got != share {
			t.Fatalf("share %v → %q → %v, %v", share, FormatShare(share), got, err)
		}
		// Shares of up to nine decimals of a percent come back as they were typed.
		percent := strconv.FormatFloat(float64(rapid.Int64Range(0, 100e9).Draw(t, "typed"))/1e9, 'f', -1, 64) + "%"
		if got, err := ParseShare(percent); err != nil || FormatShare(got) != percent {
			t.Fatalf("share %q → %v → %q, %v", percent, got, FormatShare(got), err)
		}
		span := time.Duration(rapid.Int64Range(0, int64(MaxTime)).Draw(t, "duration"))
		if got, err := ParseDuration(FormatDuration(span)); err != nil || got != span {
			t.Fatalf("duration %d → %q → %d, %v", span, FormatDuration(span), got, err)
		}
		q := drawQueue(t)
		if got, err := ParseQueue(q.String()); err != nil || got != q {
			t.Fatalf("queue %+v → %q → %+v, %v", q, q, got, err)
		}
	})
}

func drawQueue(t *rapid.T) Queue {
	switch rapid.IntRange(0, 4).Draw(t, "queue") {
	case 3:
		return Queue{Time: time.Duration(rapid.Int64Range(1, int64(MaxDelay)).Draw(t, "wait"))}
	case 0:
		return Queue{Packets: rapid.IntRange(1, 1e7).Draw(t, "packets")}
	case 1:
		return Queue{Bytes: rapid.Int64Range(1, MaxSize).Draw(t, "bytes")}
	case 2:
		return Queue{BDP: rapid.Float64Range(1e-12, 1000).Draw(t, "bdp")}
	}
	return Queue{}
}

// Nothing that can be typed makes a parser panic, and what one accepts it
// accepts again as written back.
func FuzzUnits(f *testing.F) {
	for _, s := range []string{"100mbit", "3MB", "1%", "1bdp", "100p", "20ms", "default", "unlimited", "-1", "1e999%", "∞"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := ParseRate(s); err == nil {
			if back, err := ParseRate(v.String()); err != nil || back != v || v < 0 || v > MaxRate {
				t.Errorf("rate %q → %d → %d, %v", s, v, back, err)
			}
		}
		if v, err := ParseSize(s); err == nil {
			if back, err := ParseSize(FormatSize(v)); err != nil || back != v || v < 0 || v > MaxSize {
				t.Errorf("size %q → %d → %d, %v", s, v, back, err)
			}
		}
		if v, err := ParseQueue(s); err == nil {
			if back, err := ParseQueue(v.String()); err != nil || back != v {
				t.Errorf("queue %q → %+v → %+v, %v", s, v, back, err)
			}
		}
		if v, err := ParseShare(s); err == nil {
			if back, err := ParseShare(FormatShare(v)); err != nil || back != v || v < 0 || v > 1 {
				t.Errorf("share %q → %v → %v, %v", s, v, back, err)
			}
		}
		if v, err := ParseDelay(s); err == nil && (v < 0 || v > MaxDelay) {
			t.Errorf("delay %q is %v", s, v)
		}
	})
}
