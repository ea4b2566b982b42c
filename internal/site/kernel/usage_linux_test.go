package kernel

import (
	"testing"
	"time"

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
