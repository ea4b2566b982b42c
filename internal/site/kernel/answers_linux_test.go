package kernel

import (
	"fmt"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// A path that is narrower than the hosts' devices says so, and their TCP heeds
// it.
func TestTooBigIsHeeded(t *testing.T) {
	const size = 2 << 20
	for _, family := range families {
		t.Run(string(family), func(t *testing.T) {
			eachOffload(t, func(t *testing.T, site *Site) {
				run := runOn(5*time.Millisecond, 0)
				run.Cell.Path.Family = family
				run.Cell.Path.Down.MTU, run.Cell.Path.Down.TooBig = 1400, true
				got, facts := fetch(t, site, run, size, 20*time.Second)
				for n := 1; n < attempts && got.Took > 2*time.Second; n++ {
					got, facts = fetch(t, site, run, size, 20*time.Second)
				}
				if got.Bytes != size || got.Error != "" {
					t.Errorf("%d of %d bytes: %s", got.Bytes, size, got.Error)
				}
				wire := facts.Wire
				if wire.Up.Router == 0 || wire.Down.Drops[string(lab.DropMTU)] == 0 || wire.Down.Drops[dropByLab]+wire.Up.Drops[dropByLab] != 0 {
					t.Errorf("the path did not say that packets were too big: %+v", wire)
				}
				if got.Took > 2*time.Second {
					t.Errorf("it took %v: not by what the path said", got.Took)
				}
			})
		})
	}
}

// A black hole stalls TCP, unless the host probes (RFC 4821).
func TestBlackHoleStalls(t *testing.T) {
	requireKernel(t)
	const size = 1 << 20
	run := runOn(5*time.Millisecond, 0)
	run.Cell.Path.Down.MTU = 1400
	got, facts := fetch(t, new(Site), run, size, 1500*time.Millisecond)
	if got.Bytes != 0 || got.Error == "" || facts.Wire.Up.Router != 0 || facts.Wire.Down.Drops[string(lab.DropMTU)] == 0 {
		t.Errorf("%+v through a black hole: %+v", got, facts.Wire)
	}

	probed, _ := fetch(t, new(Site), run, size, 20*time.Second, "ipv4/tcp_mtu_probing 1")
	t.Logf("with probes: %+v", probed)
	if probed.Bytes != size || probed.Error != "" {
		t.Errorf("with probes: %+v", probed)
	}
}

// When the path's address translation gives the client another address, the
// server's host answers to that, and the client gets it.
func TestRebindingIsCarried(t *testing.T) {
	requireKernel(t)
	for _, family := range families {
		for _, address := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s address=%v", family, address), func(t *testing.T) {
				run := runOn(5*time.Millisecond, 0)
				run.Cell.Path.Family = family
				run.Cell.Path.Rebind = lab.Rebind{Every: 200 * time.Millisecond, Address: address}
				var got pings
				facts := carry(t, &Site{
					Server: &part{name: "echo"}, Client: &part{name: "ping", args: words("60"), answer: &got},
				}, run)
				t.Logf("%+v", got)
				lost := facts.Wire.Down.Drops[string(lab.DropNAT)] // to an address that was no longer the client's
				if got.Lost != lost || lost > 10 || facts.Wire.Up.Packets != 60 || facts.Wire.Down.Packets != 60 || facts.Wire.Down.Foreign != 0 {
					t.Errorf("%d of 60 round trips failed: %+v", got.Lost, facts.Wire)
				}
				if n := facts.Server; n.UDPReceiveErrors == nil || *n.UDPReceiveErrors != 0 {
					t.Errorf("the server's errors: %v", n.UDPReceiveErrors)
				}
			})
		}
	}
}
