package inproc

import (
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

func TestEcho(t *testing.T) {
	const rtt = 10 * time.Millisecond
	for _, f := range []lab.Family{"", lab.IPv4, lab.IPv6} {
		t.Run("family "+string(f), func(t *testing.T) {
			p := path(rtt, 0, 0)
			p.Family = f
			a := doOnce(job{Path: p, Size: 10, Datagram: 100})
			if a.Error != "" {
				t.Fatal(a.Error)
			}
			for name, took := range map[string]time.Duration{"connect": a.Connect, "first byte": a.First - a.Connect, "UDP": a.UDP} {
				if took < rtt || took > time.Second {
					t.Errorf("%s took %v on a path of %v", name, took, rtt)
				}
			}
			checkEcho(t, a)
			t.Logf("connect %v, UDP %v, lateness %+v", a.Connect, a.UDP, a.Facts.Lateness)
			if a.Facts.Lateness.Max == 0 {
				t.Error("in real time no packet was late at all")
			}
		})
	}
}

func TestVirtualEcho(t *testing.T) {
	var jobs []job
	for _, rtt := range []time.Duration{0, 200 * time.Microsecond, 10 * time.Millisecond, 150 * time.Millisecond} {
		for _, f := range []lab.Family{lab.IPv4, lab.IPv6} {
			p := path(rtt, 0, 0)
			p.Family = f
			jobs = append(jobs, job{Path: p, Size: 10, Datagram: 100})
		}
	}
	answers, _ := virtually(t, jobs...)
	for i, j := range jobs {
		a, rtt := answers[i][0], j.Path.RTT()
		if a.Error != "" {
			t.Fatalf("%s, RTT %v: %s", j.Path.Family, rtt, a.Error)
		}
		if a.Connect != rtt || a.First != 2*rtt || a.UDP != rtt {
			t.Errorf("%s, RTT %v: connect %v, first byte %v, UDP %v", j.Path.Family, rtt, a.Connect, a.First, a.UDP)
		}
		if l := a.Facts.Lateness; l != (lab.Lateness{}) {
			t.Errorf("%s, RTT %v: lateness %+v in virtual time", j.Path.Family, rtt, l)
		}
		checkEcho(t, a)
	}
}

// checkEcho compares the facts with the one connection and the two datagrams
// that there were.
func checkEcho(t *testing.T, a answer) {
	t.Helper()
	up, down := a.Facts.Wire.Up, a.Facts.Wire.Down
	if a.Facts.Wire.Connections != 1 || up.UDPPackets != 1 || down.UDPPackets != 1 {
		t.Errorf("wire: %d TCP connections, datagrams %d up, %d down", a.Facts.Wire.Connections, up.UDPPackets, down.UDPPackets)
	}
	if up.Foreign != 0 || down.Foreign != 0 {
		t.Errorf("wire: foreign packets %d up, %d down", up.Foreign, down.Foreign)
	}
	if up.Packets != up.TCPPackets+up.UDPPackets || down.Packets != down.TCPPackets+down.UDPPackets {
		t.Errorf("wire: packets of neither TCP nor UDP: %+v, %+v", up, down)
	}
	if n := a.Facts.Server.UDPReceiveErrors; n == nil || *n != 0 {
		t.Errorf("server's UDP receive errors: %v", n)
	}
	if n := a.Facts.Client.UDPReceiveErrors; n == nil || *n != 0 {
		t.Errorf("client's UDP receive errors: %v", n)
	}
}
