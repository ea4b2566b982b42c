package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/link"
)

// families are the IP versions that every machine in the tests must have.
var families = []lab.Family{lab.IPv4, lab.IPv6}

// attempts is how often a test of time is tried: others may use the machine.
const attempts = 8

func TestRoundTripIsThePaths(t *testing.T) {
	requireKernel(t)
	for family, n := range map[lab.Family]int{lab.IPv4: 300, lab.IPv6: 100} {
		t.Run(string(family), func(t *testing.T) {
			run := runOn(20*time.Millisecond, 0)
			run.Cell.Path.Family = family
			var got pings
			for range attempts {
				facts := carry(t, &Site{
					Server: &part{name: "echo"}, Client: &part{name: "ping", args: words(fmt.Sprint(n)), answer: &got},
				}, run)
				t.Logf("%+v, lateness %+v", got, facts.Lateness)
				if got.Min < 40*time.Millisecond {
					t.Fatalf("a round trip took %v, less than the path's 40ms", got.Min)
				}
				checkSilent(t, facts, n, n)
				if got.P50 <= 41200*time.Microsecond {
					return
				}
			}
			t.Errorf("median round trip %v, want at most 41.2ms", got.P50)
		})
	}
}

// checkSilent makes sure that nothing but the programs' packets was on the wire.
func checkSilent(t *testing.T, f lab.Facts, up, down int) {
	t.Helper()
	if f.Wire.Up.Packets != up || f.Wire.Down.Packets != down || f.Wire.Up.Foreign != 0 || f.Wire.Down.Foreign != 0 {
		t.Errorf("want %d packets up and %d down, none foreign; have %+v and %+v", up, down, f.Wire.Up, f.Wire.Down)
	}
}

func TestLossIsTheModels(t *testing.T) {
	requireKernel(t)
	const n, size = 20000, 1000
	for _, c := range []struct {
		family   lab.Family
		rate     lab.Rate
		overhead int
	}{{lab.IPv4, 0, 28}, {lab.IPv6, 200e6, 48}, {lab.IPv4, 0, 28}} {
		t.Run(fmt.Sprint(c.family, c.rate), func(t *testing.T) {
			run := runOn(0, c.rate)
			run.Cell.Path.Family = c.family
			run.Cell.Path.Up.Loss.Share = 0.01
			run.Seed = 7
			got, _ := collectAll(t, &Site{Client: sending(fmt.Sprint(n, size, 0))}, run)
			want := survivors(run, n, size+c.overhead)
			if !slices.Equal(got.Seqs, want) {
				t.Fatalf("received %d packets, not the %d that the model lets pass", len(got.Seqs), len(want))
			}
			lost, sigma := float64(n-len(want)), math.Sqrt(n*0.01*0.99)
			if math.Abs(lost-n*0.01) > 3*sigma {
				t.Errorf("lost %v of %d at 1%%", lost, n)
			}
		})
	}
}

// survivors are the packets of the upward direction that the model delivers.
func survivors(run lab.Run, n, size int) []uint32 {
	model := link.New[int](run.Cell.Path, run.Seed)
	var seqs []uint32
	for i := range n {
		if model.Offer(lab.Up, time.Duration(i)*time.Second, make([]byte, size), false, 0).Drop == lab.NotDropped {
			seqs = append(seqs, uint32(i))
		}
	}
	return seqs
}

// collect has the site's client send datagrams over the run's path, and returns
// what arrived.
func collect(t *testing.T, site *Site, run lab.Run) (collection, lab.Facts) {
	t.Helper()
	var got collection
	server := &part{name: "collect"}
	site.Server = server
	hosts := open(t, site, run)
	if err := hosts.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := hosts.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	facts := hosts.Facts()
	passed := facts.Wire.Up.Packets
	for _, n := range facts.Wire.Up.Drops {
		passed -= n
	}
	// On a busy machine much still waits in the receiver's socket.
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if err := server.program.ask("what", &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Seqs) >= passed || time.Now().After(deadline) || facts.Server.UDPReceiveErrors != nil && *facts.Server.UDPReceiveErrors > 0 {
			return got, facts
		}
	}
}

// sending is a client that sends datagrams.
func sending(args string) *part { return &part{name: "send", args: words(args), answer: new(any)} }

// collectAll is collect without loss at the receiver's socket or in the lab,
// which is no fault of the path: tried again.
func collectAll(t *testing.T, site *Site, run lab.Run) (collection, lab.Facts) {
	t.Helper()
	for range attempts {
		got, facts := collect(t, site, run)
		if facts.Wire.Up.Foreign+facts.Wire.Down.Foreign != 0 {
			t.Errorf("foreign packets: %+v", facts.Wire)
		}
		errs := facts.Server.UDPReceiveErrors
		if errs == nil {
			t.Fatal("receive errors are not known")
		}
		if *errs == 0 && facts.Wire.Up.Drops[dropByLab] == 0 {
			return got, facts
		}
		t.Logf("again: the machine is too busy: %d receive errors, %+v", *errs, facts.Wire.Up)
	}
	t.Fatal("the receiver is too slow on this machine")
	return collection{}, lab.Facts{}
}

func TestRateIsThePaths(t *testing.T) {
	const n, size = 17500, 1400 + 28
	run := runOn(10*time.Millisecond, 100e6)
	run.Cell.Path.Up.Queue = lab.Queue{Packets: n} // so that nothing is dropped
	var rate float64
	for range attempts {
		got, facts := collect(t, &Site{Client: sending(fmt.Sprint(n, 1400, 300_000_000))}, run)
		if facts.Wire.Up.Drops[dropByLab] > 0 {
			continue
		}
		// The packets that the receiver's socket had no room for were on the wire.
		sent := got.Seqs[len(got.Seqs)-1] - got.Seqs[0]
		rate = float64(sent) * size * 8 / got.Took.Seconds()
		t.Logf("%d packets in %v: %.2f Mbit/s", sent, got.Took, rate/1e6)
		if math.Abs(rate/100e6-1) < 0.01 && got.Took > 1500*time.Millisecond {
			return
		}
	}
	t.Errorf("%.2f Mbit/s over a path of 100", rate/1e6)
}

func TestStackSetsTCP(t *testing.T) {
	requireKernel(t)
	for _, c := range []struct {
		family lab.Family
		want   socket
	}{
		{lab.IPv4, socket{"cubic", 10}},
		{lab.IPv6, socket{"cubic", 32}},
		{lab.IPv4, socket{"reno", 32}},
		{lab.IPv6, socket{"reno", 4}},
	} {
		t.Run(fmt.Sprint(c.family, c.want), func(t *testing.T) {
			run := runOn(time.Millisecond, 0)
			run.Cell.Path.Family = c.family
			run.Cell.Stack.CC, run.Cell.Stack.InitCwnd = c.want.CC, int(c.want.Cwnd)
			var got transfer
			facts := carry(t, &Site{
				Server: &part{name: "sink"}, Client: &part{name: "source", args: words("50"), answer: &got},
			}, run)
			if got.Client != c.want || got.Server != c.want {
				t.Errorf("client %+v, server %+v, want %+v", got.Client, got.Server, c.want)
			}
			if facts.Wire.Connections != 1 || facts.Wire.Up.TCPPackets < 10 || got.Bytes == 0 {
				t.Errorf("%d bytes sent, but the wire saw %+v", got.Bytes, facts.Wire)
			}
		})
	}
}

func TestUnknownCongestionControlIsUnsupported(t *testing.T) {
	requireKernel(t)
	run := runOn(0, 0)
	run.Cell.Stack.CC = "nosuch"
	for _, family := range families {
		run.Cell.Path.Family = family
		_, err := new(Site).Open(t.Context(), run)
		if !errors.Is(err, lab.ErrUnsupported) {
			t.Errorf("%s: got %v", family, err)
		}
		t.Log(err)
	}
}

func TestMTUIsTheDevices(t *testing.T) {
	run := runOn(0, 0)
	run.Cell.Path.Up.MTU, run.Cell.Path.Down.MTU = 1400, 9000
	hosts := open(t, new(Site), run)
	for host, want := range map[*Host]int{hosts.client: 1500, hosts.server: 9000} {
		l, err := host.netlink.LinkByName(deviceName)
		if err != nil || l.Attrs().MTU != want {
			t.Errorf("host %s: MTU %d, want %d (%v)", host.Addr(), l.Attrs().MTU, want, err)
		}
	}
}

// sendFrom sends n datagrams of size bytes from the host to nobody's port, each
// cut into segments if that is not zero.
func sendFrom(host *Host, n, size, segment int) error {
	return host.Do(func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		if segment > 0 {
			if err := unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, segment); err != nil {
				return err
			}
		}
		to := &unix.SockaddrInet4{Port: 9, Addr: host.network.peer.As4()}
		for range n {
			if err := unix.Sendto(fd, make([]byte, size), 0, to); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestWhatTheLabLosesIsCounted(t *testing.T) {
	hosts := open(t, new(Site), runOn(0, 0))
	if err := hosts.stopPump(); err != nil {
		t.Fatal(err)
	}
	if err := sendFrom(hosts.client, queueLength+100, 100, 0); err != nil {
		t.Fatal(err)
	}
	if f := hosts.Facts().Wire; f.Up.Drops[dropByLab] != 100 || f.Down.Drops[dropByLab] != 0 || f.Up.Packets != 0 {
		t.Errorf("100 more than the device holds, but the facts say %+v", f)
	}
}

func TestSegmentsAreWirePackets(t *testing.T) {
	hosts := open(t, new(Site), runOn(0, 0))
	err := sendFrom(hosts.client, 3, 10_000, 1000)
	if errors.Is(err, unix.EIO) {
		t.Skip("before Linux 6.11 the kernel has no UDP segmentation without a device's checksums")
	}
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the last segment", func() bool { return hosts.Facts().Wire.Up.Packets >= 30 })
	if up := hosts.Facts().Wire.Up; up.Packets != 30 || up.Bytes != 30*1028 || len(up.Drops) > 0 {
		t.Errorf("want 30 packets of 1028 bytes, have %+v", up)
	}
}

func TestCPUIsTheLoads(t *testing.T) {
	facts := carry(t, &Site{
		Server: &part{name: "echo"}, Client: &part{name: "busy", args: words("300"), answer: new(any)},
	}, runOn(0, 0))
	client, server := facts.Client.CPU, facts.Server.CPU
	if client == nil || server == nil {
		t.Fatal("CPU time is not known")
	}
	if *client < 0.3 || *client > 0.45 {
		t.Errorf("the client used 0.3 s of CPU time, counted were %v", *client)
	}
	if *server > 0.05 {
		t.Errorf("the server did nothing, counted were %v s", *server)
	}
	if facts.Server.Program != "test" {
		t.Error("what the server says of itself is not in the facts")
	}
}

// watching is a client that looks at the priorities while it is asked to start.
type watching struct {
	*part
	during *map[string]int
}

func (w watching) Prepare(ctx context.Context, host *Host, run lab.Run) (Prepared, error) {
	p, err := w.part.Prepare(ctx, host, run)
	return watched{p, w.during}, err
}

type watched struct {
	Prepared
	during *map[string]int
}

func (w watched) Go(ctx context.Context) (lab.Report, error) {
	*w.during = policies()
	return w.Prepared.Go(ctx)
}

// policies counts the threads of this process by scheduling policy.
func policies() map[string]int {
	counts := map[string]int{}
	stats, _ := filepath.Glob("/proc/self/task/*/stat")
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has just ended
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		if f := strings.Fields(rest); len(f) > 38 {
			counts[f[38]]++ // proc_pid_stat(5): policy is field 41
		}
	}
	return counts
}

// All threads go first while the load runs, or none, and none before and after.
func TestPriorityLastsForTheLoad(t *testing.T) {
	requireKernel(t)
	var got pings
	during := map[string]int{}
	client := watching{&part{name: "ping", args: words("3"), answer: &got}, &during}
	carry(t, &Site{Server: &part{name: "echo"}, Client: client}, runOn(time.Millisecond, 0))
	if len(during) != 1 {
		t.Errorf("during the load the threads have the policies %v, want one", during)
	}
	const normal = "0"
	if after := policies(); len(after) != 1 || after[normal] == 0 {
		t.Errorf("after the load the threads have the policies %v, want only %s", after, normal)
	}
}

func TestCloseEndsWhatDaemonsLeave(t *testing.T) {
	requireKernel(t)
	hosts, err := new(Site).Open(t.Context(), runOn(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	cmd := hosts.server.Command(t.Context(), "sh", "-c", "setsid sleep 1000 & setsid sleep 1001 & sleep 0.1")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	hanging := hosts.client.Command(t.Context(), "sleep", "1002")
	if err := hanging.Start(); err != nil {
		t.Fatal(err)
	}
	server, client := hosts.server.inode, hosts.client.inode
	if s, c := processesIn(server), processesIn(client); len(s) != 2 || len(c) != 1 || c[0] != hanging.PID() {
		t.Errorf("processes of server %v and client %v, want two and %d", s, c, hanging.PID())
	}
	if err := hosts.Close(); err != nil {
		t.Error(err)
	}
	if left := append(processesIn(server), processesIn(client)...); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if pid := endedChild(); pid != 0 {
		t.Errorf("process %d has not been reaped", pid)
	}
	if err := hosts.server.Command(t.Context(), "true").Run(); !errors.Is(err, errClosed) {
		t.Errorf("a closed host started a process: %v", err)
	}
}

func TestCommandRunsInItsHost(t *testing.T) {
	hosts := open(t, new(Site), runOn(0, 0))
	out, err := hosts.client.Command(t.Context(), "cat", "/proc/net/dev").Output()
	if err != nil || !slices.Contains(words(string(out)), deviceName+":") {
		t.Errorf("the process is not in its host (%v):\n%s", err, out)
	}
	if out, err := hosts.client.Command(t.Context(), "sh", "-c", "echo a; echo b >&2").CombinedOutput(); string(out) != "a\nb\n" {
		t.Errorf("output %q, error %v", out, err)
	}
}

func TestCommandEndsWithItsContext(t *testing.T) {
	hosts := open(t, new(Site), runOn(0, 0))
	ctx, cancel := context.WithCancel(t.Context())
	// The child holds the output open, and must go too.
	cmd := hosts.client.Command(ctx, "sh", "-c", "sleep 1000 & sleep 1001")
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := cmd.Wait(); err == nil {
		t.Error("the process was killed without an error")
	}
	if err := cmd.Wait(); err == nil {
		t.Error("a second Wait has another answer")
	}
	if err := cmd.Stop(time.Minute); err != nil {
		t.Errorf("stop a process that has gone: %v", err)
	}
}

func TestGetTellsOfABrokenLab(t *testing.T) {
	hosts := open(t, &Site{
		Server: &part{name: "echo"}, Client: &part{name: "busy", args: words("10"), answer: new(any)},
	}, runOn(0, 0))
	if err := hosts.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	wire, err := hosts.client.netlink.LinkByName(deviceName)
	if err != nil {
		t.Fatal(err)
	}
	if err := hosts.client.netlink.LinkDel(wire); err != nil {
		t.Fatal(err)
	}
	<-hosts.pump.done
	if _, err := hosts.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "read packet up") {
		t.Errorf("got %v", err)
	}
}
