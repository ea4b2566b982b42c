package kernel

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
)

// requireNetem skips the test where the kernel has no netem. It may also be
// missing where kernel runs must work (SAMEWIRE_REQUIRE_KERNEL); netem/tests.sh
// carries the tests out in a guest that has it, with SAMEWIRE_REQUIRE_NETEM.
func requireNetem(t *testing.T) {
	t.Helper()
	err := Netem.Check()
	if err == nil {
		return
	}
	if os.Getenv("SAMEWIRE_REQUIRE_NETEM") == "1" {
		t.Fatal(err)
	}
	t.Skip(err)
}

// requirePair skips the test where this process may not join hosts by a pair.
func requirePair(t *testing.T) {
	t.Helper()
	requireKernel(t)
	if !realRoot() {
		t.Skip("backend netem needs root outside any user namespace")
	}
}

// A path without words needs no tc and no netem: the pair alone.
func TestPairIsSilent(t *testing.T) {
	requirePair(t)
	for _, family := range families {
		t.Run(string(family), func(t *testing.T) {
			run := runOn(0, 0)
			run.Cell.Path.Family = family
			var got pings
			facts := carry(t, &Site{
				Backend: Netem, Server: &part{name: "echo"}, Client: &part{name: "ping", args: words("50"), answer: &got},
			}, run)
			checkSilent(t, facts, 50, 50)
			if facts.Lateness != (lab.Lateness{}) {
				t.Errorf("lateness %+v, which nobody can know", facts.Lateness)
			}
		})
	}
}

// bulkOver sends over TCP and returns what the wire saw, and the mean size of
// the packets with data.
func bulkOver(t *testing.T, run lab.Run, site Site) (transfer, lab.Facts, float64) {
	t.Helper()
	var got transfer
	site.Server, site.Client = &part{name: "sink"}, &part{name: "source", args: words("200"), answer: &got}
	facts := carry(t, &site, run)
	if facts.Wire.Connections != 1 || facts.Wire.Up.Packets == 0 {
		t.Fatalf("%d bytes sent, but the wire saw %+v", got.Bytes, facts.Wire)
	}
	return got, facts, float64(facts.Wire.Up.Bytes) / float64(facts.Wire.Up.Packets)
}

func TestPairCarriesPacketsOfTheWire(t *testing.T) {
	requirePair(t)
	for _, family := range families {
		run := runOn(0, 0)
		run.Cell.Path.Family = family
		run.Cell.Stack.CC, run.Cell.Stack.InitCwnd = "reno", 32
		got, facts, mean := bulkOver(t, run, Site{Backend: Netem})
		if mean > lab.DefaultMTU || mean < lab.DefaultMTU/2 {
			t.Errorf("%s: %.0f bytes a packet, want those of an MTU of %d: %+v", family, mean, lab.DefaultMTU, facts.Wire)
		}
		if want := (socket{"reno", 32}); got.Client != want || got.Server != want {
			t.Errorf("%s: client %+v, server %+v, want %+v", family, got.Client, got.Server, want)
		}
	}
}

// Without checksums in the device the kernel either refuses to cut datagrams, or
// cuts them itself, which it does behind the queueing discipline.
func TestPairCutsDatagrams(t *testing.T) {
	requirePair(t)
	hosts := open(t, &Site{Backend: Netem}, runOn(0, 0))
	err := sendFrom(hosts.client, 3, 10_000, 1000)
	if errors.Is(err, unix.EIO) {
		t.Skip("before Linux 6.11 the kernel has no UDP segmentation without a device's checksums")
	}
	if err != nil {
		t.Fatal(err)
	}
	var w lab.Wire
	for deadline := time.Now().Add(5 * time.Second); w.Up.Packets < 30 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		w = hosts.Facts().Wire
	}
	if w.Up.Packets != 30 || w.Up.Bytes != 30*1028 {
		t.Errorf("want 30 packets of 1028 bytes, have %+v", w)
	}
}

func TestPairKeepsSuperPacketsWhereAsked(t *testing.T) {
	requirePair(t)
	pair := openPair(t, true)
	for _, host := range []*Host{pair.client, pair.server} {
		for _, s := range offloadOf(t, host) {
			if s == 0 {
				t.Errorf("host %s: offload %v, want all on", host.Addr(), offloadOf(t, host))
				break
			}
		}
	}
	pair = openPair(t, false)
	for _, host := range []*Host{pair.client, pair.server} {
		for i, s := range offloadOf(t, host) {
			if s != 0 {
				t.Errorf("host %s: %s is on", host.Addr(), switches[i].what)
			}
		}
		wire, err := host.netlink.LinkByName(deviceName)
		if err != nil || wire.Attrs().GSOMaxSegs != 1 {
			t.Errorf("host %s: %d segments to a super-packet, want 1 (%v)", host.Addr(), wire.Attrs().GSOMaxSegs, err)
		}
	}
}

// openPair joins two hosts without tc.
func openPair(t *testing.T, super bool) *pair {
	t.Helper()
	clientNet, serverNet := networks(runOn(0, 0))
	var hosts []*Host
	for _, n := range []network{clientNet, serverNet} {
		h, err := newBareHost(n)
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, h)
	}
	p, err := join(t.Context(), hosts[0], hosts[1], lab.Path{}, super, newNetemObserver())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(p.close(), closeHosts(hosts...)); err != nil {
			t.Error(err)
		}
	})
	return p
}

// offloadOf reads the switches of a host's device, in their order. Receive
// offload is off by default on such a device and left out.
func offloadOf(t *testing.T, h *Host) (values []uint32) {
	t.Helper()
	get := map[uint32]uint32{
		unix.ETHTOOL_STSO: unix.ETHTOOL_GTSO, unix.ETHTOOL_SGSO: unix.ETHTOOL_GGSO, unix.ETHTOOL_STXCSUM: unix.ETHTOOL_GTXCSUM,
	}
	err := h.Do(func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		for _, s := range switches {
			command, ok := get[s.command]
			if !ok {
				continue
			}
			v := ethtoolValue{command: command}
			if err := ethtool(fd, deviceName, &v); err != nil {
				return fmt.Errorf("%s: %w", s.what, err)
			}
			values = append(values, v.data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestProcessorMask(t *testing.T) {
	for cpu, want := range map[int]string{0: "1", 5: "20", 31: "80000000", 32: "1,00000000", 70: "40,00000000,00000000"} {
		if got := processorMask(cpu); got != want {
			t.Errorf("processor %d: %q, want %q", cpu, got, want)
		}
	}
	var set unix.CPUSet
	set.Set(3)
	set.Set(7)
	if got := firstOf(set); got != 3 {
		t.Errorf("first processor %d, want 3", got)
	}
}

// Packets that netem let go one after the other arrive in that order, whichever
// processor its timer runs on.
func TestNetemKeepsTheOrder(t *testing.T) {
	requireNetem(t)
	run := runOn(0, 0)
	run.Cell.Path.Up.Delay = 10 * time.Millisecond
	var got collection
	server := &part{name: "collect"}
	hosts := open(t, &Site{
		Backend: Netem, Server: server, Client: &part{name: "send", args: words("3000 100 4000000"), answer: new(any)},
	}, run)
	if err := hosts.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := hosts.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := server.program.ask("what", &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Seqs) < 2000 || !slices.IsSorted(got.Seqs) {
		t.Errorf("of %d packets some overtook others", len(got.Seqs))
	}
}

// What the queueing discipline is given is as large as what it lets go: a bucket
// of one packet would drop anything larger, or cut it and count the pieces.
func TestPairGivesTheQueuePacketsOfTheWire(t *testing.T) {
	requirePair(t)
	if _, err := findTC(); err != nil {
		t.Skip(err)
	}
	run := runOn(0, 10e6)
	run.Cell.Path.Up.Burst, run.Cell.Path.Down.Burst = 1500, 1500
	run.Cell.Path.Up.Queue, run.Cell.Path.Down.Queue = lab.Queue{Bytes: 60e6}, lab.Queue{Bytes: 60e6} // nothing is dropped but for its size
	got, facts, _ := bulkOver(t, run, Site{Backend: Netem})
	if n := facts.Wire.Up.Drops[string(lab.DropQueue)]; n != 0 || got.Bytes == 0 {
		t.Errorf("%d packets dropped: %+v", n, facts.Wire)
	}
}

// tbf needs no netem: kernels without the one often have the other.
func TestPairCountsTheQueuesDrops(t *testing.T) {
	requirePair(t)
	if _, err := findTC(); err != nil {
		t.Skip(err)
	}
	run := runOn(0, 1e6)
	run.Cell.Path.Up.Burst, run.Cell.Path.Up.Queue = 1500, lab.Queue{Packets: 10}
	run.Cell.Path.Down.Burst = 1500
	hosts, err := (&Site{Backend: Netem}).Open(t.Context(), run)
	if err != nil && strings.Contains(err.Error(), "qdisc kind is unknown") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := hosts.Close(); err != nil {
			t.Error(err)
		}
	}()
	const n, size = 300, 1472
	if err := sendFrom(hosts.client, n, size, 0); err != nil {
		t.Fatal(err)
	}
	// 10 wait, and some have left: 300 ms at 1 Mbit/s are 25 packets.
	time.Sleep(300 * time.Millisecond)
	w := hosts.Facts().Wire
	if got := w.Up.Drops[string(lab.DropQueue)]; got < n-11-200 || got > n-11 {
		t.Errorf("%d of %d dropped: %+v", got, n, w)
	}
	if w.Up.Drops[dropByLab] != 0 || w.Up.Packets > n {
		t.Errorf("%+v", w)
	}
}

func TestNetemRefusesWhatItCannotDo(t *testing.T) {
	requireKernel(t)
	run := runOn(0, 0)
	run.Cell.Path.Down.Rules = "drop every 3"
	_, err := (&Site{Backend: Netem}).Open(t.Context(), run)
	if !errors.Is(err, lab.ErrUnsupported) || !strings.Contains(err.Error(), "exact rules") {
		t.Errorf("got %v", err)
	}
}

func TestNetemDelays(t *testing.T) {
	requireNetem(t)
	for _, family := range families {
		run := runOn(20*time.Millisecond, 0)
		run.Cell.Path.Family = family
		var got pings
		facts := carry(t, &Site{
			Backend: Netem, Server: &part{name: "echo"}, Client: &part{name: "ping", args: words("50"), answer: &got},
		}, run)
		t.Logf("%s: %+v", family, got)
		if got.Min < 40*time.Millisecond || got.Min > 50*time.Millisecond { // the guest is emulated, and its host may be busy
			t.Errorf("%s: round trips %+v over a path of 40ms", family, got)
		}
		checkSilent(t, facts, 50, 50)
	}
}

// All that is offered is either seen or counted as dropped.
func TestNetemLosesAndCounts(t *testing.T) {
	requireNetem(t)
	run := runOn(0, 0)
	run.Cell.Path.Up.Loss.Share = 0.05
	hosts := open(t, &Site{Backend: Netem}, run)
	const n = 4000
	if err := sendFrom(hosts.client, n, 100, 0); err != nil {
		t.Fatal(err)
	}
	var w lab.Wire
	for deadline := time.Now().Add(5 * time.Second); w.Up.Packets < n && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		w = hosts.Facts().Wire
	}
	lost, sigma := float64(w.Up.Drops[string(lab.DropNetem)]), math.Sqrt(n*0.05*0.95)
	if w.Up.Packets != n || math.Abs(lost-n*0.05) > 4*sigma {
		t.Errorf("%d packets, %.0f of them lost, want %d and %.0f ± %.0f: %+v", w.Up.Packets, lost, n, n*0.05, 4*sigma, w)
	}
}

func TestNetemTakesEachWord(t *testing.T) {
	requireNetem(t)
	for _, way := range []lab.Way{
		{Delay: 5e6, Jitter: lab.Jitter{Spread: 1e6, Distribution: lab.Normal, Correlation: 0.2}},
		{Delay: 5e6, Jitter: lab.Jitter{Spread: 1e6, Distribution: lab.Pareto}},
		{Loss: lab.Loss{Gilbert: lab.Gilbert{P: 0.01, R: 0.1, Bad: 0.9, Good: 0.001}}},
		{Loss: lab.Loss{Share: 0.01, ECN: true}},
		{Delay: 5e6, Reorder: lab.Reorder{Share: 0.25, Correlation: 0.5, Gap: 5}},
		{Duplicate: lab.Chance{Share: 0.01}, Corrupt: lab.Chance{Share: 0.001}},
		{Delay: 5e6, Limit: 100},
		{Delay: 5e6, Rate: 1e7, Queue: lab.Queue{Time: 20e6}},
		{Delay: 5e6, Rate: 1e7, Burst: 5000, AQM: lab.AQM{Kind: lab.CoDel, ECN: true}},
		{Rate: 1e7, Burst: 5000, AQM: lab.AQM{Kind: lab.FQCoDel, Flows: 64, Quantum: 300, Target: 1e7, Interval: 2e8}},
		{Rate: 1e7, Burst: 5000, Police: true},
		{Throttle: lab.Throttle{Transport: lab.UDP, Rate: 1e6}},
	} {
		run := runOn(0, 0)
		run.Cell.Path.Up, run.Cell.Path.Down = way, way
		for _, family := range families {
			run.Cell.Path.Family = family
			hosts, err := (&Site{Backend: Netem}).Open(t.Context(), run)
			if err != nil {
				t.Errorf("%s %+v: %v", family, way, err)
				continue
			}
			if err := hosts.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestNetemCheckSaysWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{explainNetem(unix.ENOENT), "modprobe sch_netem"},
		{explainNetem(unix.EPERM), "add netem to a device: operation not permitted"},
	} {
		if s := c.err.Error(); !strings.Contains(s, c.want) {
			t.Errorf("want %q in %q", c.want, s)
		}
	}
	requireKernel(t)
	if err := Netem.Check(); err != nil {
		t.Log(err)
		if !strings.Contains(err.Error(), "netem") {
			t.Errorf("it does not say what is missing: %v", err)
		}
	}
}
