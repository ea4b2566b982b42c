package gauge

import "testing"

func TestCounters(t *testing.T) {
	const v4 = "Ip: Forwarding RcvbufErrors\nIp: 1 99\nUdp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors\nUdp: 5 4 3 2 17\nUdpLite: RcvbufErrors\nUdpLite: 8\n"
	if got := snmp(v4, "Udp:", "RcvbufErrors"); got != 17 {
		t.Errorf("%d", got)
	}
	if got := snmp(v4, "Udp:", "Nonesuch") + snmp("", "Udp:", "RcvbufErrors") + snmp("Udp: RcvbufErrors\nUdp:\n", "Udp:", "RcvbufErrors"); got != 0 {
		t.Errorf("%d", got)
	}
	const v6 = "Ip6InReceives \t1\nUdp6RcvbufErrors                \t23\n"
	if got := snmp6(v6, "Udp6RcvbufErrors") + snmp6(v6, "Udp6"); got != 23 {
		t.Errorf("%d", got)
	}
}
