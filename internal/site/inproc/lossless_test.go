package inproc

import (
	"fmt"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// What is not lost is not sent again: netstack's TCP does, where packets that
// leave at one instant carry one time (see clock).
func TestVirtualNoLossNoRetransmit(t *testing.T) {
	var jobs []job
	for _, cc := range []string{"cubic", "reno"} {
		for _, rtt := range []time.Duration{0, 200 * time.Microsecond} {
			for _, rate := range []lab.Rate{0, 1e9} {
				jobs = append(jobs, job{Path: path(rtt, rate, 0), CC: cc, Size: 1e6}, job{Path: path(rtt, rate, 0), CC: cc, Size: 3e6})
			}
		}
		jobs = append(jobs,
			job{Path: path(40*time.Millisecond, 1e6, 0), CC: cc, Size: 300e3},
			job{Path: path(100*time.Millisecond, 1e8, 0), CC: cc, Size: 3e6})
	}
	for i := range jobs {
		// No room for a loss: reno, which has no HyStart, fills the default queue.
		jobs[i].Path.Down.Queue = lab.Queue{Packets: 1e5}
	}
	answers, _ := virtually(t, jobs...)
	for i, j := range jobs {
		a := answers[i][0]
		name := fmt.Sprintf("%s, RTT %v, rate %v, %d bytes", j.CC, j.Path.RTT(), j.Path.Down.Rate, j.Size)
		if a.Error != "" {
			t.Errorf("%s: %s", name, a.Error)
			continue
		}
		up, down := a.Facts.Wire.Up, a.Facts.Wire.Down
		if up.TCPRetransmits != 0 || down.TCPRetransmits != 0 {
			t.Errorf("%s: %d retransmits up, %d down", name, up.TCPRetransmits, down.TCPRetransmits)
		}
		if len(up.Drops) != 0 || len(down.Drops) != 0 {
			t.Errorf("%s: drops %v up, %v down", name, up.Drops, down.Drops)
		}
		if rate := j.Path.Down.Rate; rate > 0 {
			checkSerialised(t, name, a, rate)
		}
		if want := (lab.Sender{Transport: "tcp", CC: j.CC, InitialWindow: 10, Source: "socket"}); a.Sender != want {
			t.Errorf("%s: client's sender %+v, want %+v", name, a.Sender, want)
		}
		t.Logf("%s: %v, %d packets", name, a.Last, down.Packets)
	}
}

// checkSerialised holds a transfer against the time that its bytes take at the
// rate.
func checkSerialised(t *testing.T, name string, a answer, rate lab.Rate) {
	t.Helper()
	least := time.Duration(float64(a.Facts.Wire.Down.Bytes) * 8e9 / float64(rate))
	if a.Last < least {
		t.Errorf("%s: took %v, but its bytes alone take %v", name, a.Last, least)
	}
}
