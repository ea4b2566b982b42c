package kernel

import (
	"testing"
	"time"
)

// nap plays a thread that waits for instants that are gap apart, and that the
// kernel wakes late by so much; a look takes half a microsecond. It returns for
// how much of the span it polled, and how late it was at the median instant.
func nap(p *poller, gap, late, span time.Duration) (polled, lateness time.Duration) {
	const look = 500 * time.Nanosecond
	var delays []time.Duration
	now := time.Duration(0)
	for at := gap; now < span; {
		if now >= at {
			delays = append(delays, now-at)
			at += gap
			continue
		}
		if sleep := p.wait(now, at); sleep > 0 {
			now += sleep + late
			p.woke(now, at)
			continue
		}
		now += look
		polled += look
	}
	// The delays come in any order; half of them are below the median.
	below := func(d time.Duration) (n int) {
		for _, x := range delays {
			if x <= d {
				n++
			}
		}
		return n
	}
	for below(lateness) < (len(delays)+1)/2 {
		lateness += 100 * time.Nanosecond
	}
	return polled, lateness
}

func TestPoller(t *testing.T) {
	const span = time.Second
	for _, c := range []struct {
		name      string
		gap, late time.Duration
		most      time.Duration // lateness at the median
	}{
		{"now and then", 10 * time.Millisecond, 50 * time.Microsecond, time.Microsecond},
		{"often", time.Millisecond, 50 * time.Microsecond, time.Microsecond},
		{"a late kernel", 5 * time.Millisecond, 90 * time.Microsecond, time.Microsecond},
		{"a prompt kernel", time.Millisecond, 0, time.Microsecond},
		{"all the time", 12 * time.Microsecond, 50 * time.Microsecond, 50 * time.Microsecond},
		{"a hopeless kernel", 10 * time.Millisecond, time.Millisecond, time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := poller{lead: leadFirst}
			nap(&p, c.gap, c.late, span) // learns
			p.last = 0
			polled, late := nap(&p, c.gap, c.late, span)
			t.Logf("polled %v of %v, late %v", polled, span, late)
			if polled > span/pollShare+pollMost {
				t.Errorf("polled %v of %v", polled, span)
			}
			if late > c.most {
				t.Errorf("late by %v at the median, want at most %v", late, c.most)
			}
		})
	}
}
