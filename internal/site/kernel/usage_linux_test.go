package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
)

func TestUsageSince(t *testing.T) {
	num := func(n int) *int { return &n }
	before := sideUsage{pid: 5, cpu: map[int]time.Duration{5: time.Second, 6: time.Second, 7: time.Second}, udpErrors: num(2)}
	after := sideUsage{pid: 5, cpu: map[int]time.Duration{5: 2 * time.Second, 6: 4 * time.Second, 8: time.Second}, udpErrors: num(5)}
	var side lab.Side
	after.since(before, &side)
	// 5 used one second, 6 three, 7 has gone, 8 is new.
	if side.CPU == nil || *side.CPU != 5 {
		t.Errorf("CPU %v, want 5", side.CPU)
	}
	if side.UDPReceiveErrors == nil || *side.UDPReceiveErrors != 3 {
		t.Errorf("errors %v, want 3", side.UDPReceiveErrors)
	}
	// The main process has gone: nothing is known.
	side = lab.Side{}
	delete(after.cpu, 5)
	after.udpErrors = nil
	after.since(before, &side)
	if side.CPU != nil || side.UDPReceiveErrors != nil {
		t.Errorf("have %+v, want nothing", side)
	}
}

func TestCounters(t *testing.T) {
	const snmp = "Tcp: A B\nTcp: 1 2\nUdp: InDatagrams NoPorts InErrors RcvbufErrors\nUdp: 10 0 7 7\nUdpLite: RcvbufErrors\nUdpLite: 9\n"
	if got := snmpValue(snmp, "Udp:", "RcvbufErrors"); got != 7 {
		t.Errorf("RcvbufErrors is %d, want 7", got)
	}
	if got := snmpValue(snmp, "Udp:", "Other"); got != 0 {
		t.Errorf("a counter that is not there is %d", got)
	}
	const snmp6 = "Udp6InErrors   \t4\nUdp6RcvbufErrors               \t3\n"
	if got := snmp6Value(snmp6, "Udp6RcvbufErrors"); got != 3 {
		t.Errorf("Udp6RcvbufErrors is %d, want 3", got)
	}
}

func TestWaited(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	before := sideUsage{waits: map[int]time.Duration{5: ms(10), 6: ms(20), 7: ms(50)}}
	after := sideUsage{waits: map[int]time.Duration{5: ms(15), 6: ms(20), 8: ms(7)}}
	// 5 waited 5 ms, 6 did not, 7 has gone, 8 is new.
	if w := after.waited(before); w == nil || *w != 0.012 {
		t.Errorf("waited %v, want 12 ms", w)
	}
	if w := after.waited(sideUsage{}); w != nil {
		t.Errorf("waited %v since a time that is not known", *w)
	}
}

func TestParseWait(t *testing.T) {
	if id, wait, ok := parseWait("12", "1500 2500 3\n"); id != 12 || wait != 2500 || !ok {
		t.Errorf("have %d, %v, %v", id, wait, ok)
	}
	for _, bad := range []string{"", "1", "1 x 3"} {
		if _, _, ok := parseWait("12", bad); ok {
			t.Errorf("%q was taken", bad)
		}
	}
}

// More threads than cores that all want to run must wait; one that sleeps does
// not.
func TestThreadsThatWaitAreSeen(t *testing.T) {
	const span = 200 * time.Millisecond
	crowd := func(busy bool) time.Duration {
		before := sideUsage{}
		before.addWaits("self")
		if before.waits == nil {
			cannot(t, "this kernel does not count how long threads wait")
		}
		var all sync.WaitGroup
		var over atomic.Bool
		for range 3 {
			all.Go(func() {
				runtime.LockOSThread()
				var one unix.CPUSet
				one.Set(0)
				if err := unix.SchedSetaffinity(0, &one); err != nil {
					t.Error(err)
				}
				for !over.Load() {
					if !busy {
						time.Sleep(span / 10)
					}
				}
			})
		}
		time.Sleep(span * 3 / 4) // while they are there
		after := sideUsage{}
		after.addWaits("self")
		over.Store(true)
		all.Wait()
		return time.Duration(*after.waited(before) * 1e9)
	}
	idle, busy := crowd(false), crowd(true)
	t.Logf("idle %v, busy %v", idle, busy)
	if busy < span/2 || busy < idle {
		t.Errorf("three threads on one core waited %v in %v, and %v when they slept", busy, span*3/4, idle)
	}
}
