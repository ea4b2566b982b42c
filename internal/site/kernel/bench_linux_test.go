package kernel

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/samewire/samewire/internal/lab"
)

func BenchmarkRoundTrip(b *testing.B) {
	for _, spin := range []bool{false, true} {
		b.Run(fmt.Sprintf("spin=%v", spin), func(b *testing.B) {
			for b.Loop() {
				var got pings
				f := carry(b, &Site{
					Server: &part{name: "echo"}, Client: &part{name: "ping", args: words("100"), answer: &got}, Spin: spin,
				}, runOn(20*time.Millisecond, 0))
				b.ReportMetric(got.P50.Seconds()*1e3, "rtt-p50-ms")
				b.ReportMetric(got.P99.Seconds()*1e3, "rtt-p99-ms")
				b.ReportMetric(f.Lateness.P50*1e6, "late-p50-us")
				b.ReportMetric(f.Lateness.P99*1e6, "late-p99-us")
			}
		})
	}
}

// flood sends datagrams over the run's path, and returns what arrived.
func flood(b *testing.B, site *Site, run lab.Run, send string) (tally, lab.Facts) {
	b.Helper()
	server := &part{name: "tally"}
	site.Server, site.Client = server, &part{name: "flood", args: words(send), answer: new(int)}
	hosts, err := site.Open(b.Context(), run)
	if err != nil {
		b.Fatal(err)
	}
	if err := hosts.Serve(b.Context()); err != nil {
		b.Fatal(err)
	}
	if _, err := hosts.Get(b.Context()); err != nil {
		b.Fatal(err)
	}
	var got tally
	if err := server.program.ask("what", &got); err != nil {
		b.Fatal(err)
	}
	facts := hosts.Facts()
	if err := hosts.Close(); err != nil {
		b.Fatal(err)
	}
	if e := facts.Server.UDPReceiveErrors; e == nil || *e != 0 || facts.Wire.Up.Drops[dropByLab] != 0 {
		b.Logf("the receiver or the lab was too slow: %+v", facts)
	}
	return got, facts
}

// BenchmarkGigabit sends packets of 1500 bytes over a path of 1 Gbit/s, more
// than fit, for 10 seconds: each is decided on by itself.
func BenchmarkGigabit(b *testing.B) {
	requireKernel(b)
	const rate, size = 1e9, 1500
	run := runOn(time.Millisecond, rate)
	run.Cell.Path.Up.Queue.Packets = 10000 // so that it never runs dry when the sender does not come to run
	for b.Loop() {
		quiet(b)
		got, facts := flood(b, new(Site), run, "10600 1472 85500 16")
		have := got.Rate * size * 8
		b.ReportMetric(have/1e9, "gbit/s")
		b.ReportMetric((have/rate-1)*100, "rate-error-%")
		b.ReportMetric(got.Rate, "packets/s")
		b.ReportMetric(facts.Lateness.P50*1e6, "late-p50-us")
		b.ReportMetric(facts.Lateness.P99*1e6, "late-p99-us")
		b.ReportMetric(facts.Lateness.Max*1e6, "late-max-us")
	}
}

// BenchmarkDelay is by how much a path's delay is wrong, one way, from before a
// datagram is sent to the receiver's kernel's stamp.
func BenchmarkDelay(b *testing.B) {
	requireKernel(b)
	for _, spin := range []bool{false, true} {
		b.Run(fmt.Sprintf("spin=%v", spin), func(b *testing.B) {
			const delay = 20 * time.Millisecond
			for b.Loop() {
				quiet(b)
				got, facts := flood(b, &Site{Spin: spin}, runOn(delay, 0), "3000 100 200 1")
				b.ReportMetric(float64(got.Min-delay)/1e3, "error-min-us")
				b.ReportMetric(float64(got.P50-delay)/1e3, "error-p50-us")
				b.ReportMetric(float64(got.P99-delay)/1e3, "error-p99-us")
				b.ReportMetric(facts.Lateness.P50*1e6, "late-p50-us")
				b.ReportMetric(facts.Lateness.P99*1e6, "late-p99-us")
			}
		})
	}
}

func BenchmarkTransfer(b *testing.B) {
	for b.Loop() {
		var got transfer
		f := carry(b, &Site{
			Server: &part{name: "sink"}, Client: &part{name: "source", args: words("2000"), answer: &got},
		}, runOn(0, 0))
		b.ReportMetric(got.rate()/1e9, "gbit/s")
		b.ReportMetric(f.Lateness.P99*1e6, "late-p99-us")
		b.ReportMetric(f.Lateness.Max*1e6, "late-max-us")
	}
}

func BenchmarkOpen(b *testing.B) {
	requireKernel(b)
	for b.Loop() {
		hosts, err := new(Site).Open(b.Context(), runOn(0, 0))
		if err != nil {
			b.Fatal(err)
		}
		if err := hosts.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// quiet waits, for a while, until nobody else uses the machine.
func quiet(b *testing.B) {
	b.Helper()
	const glance, patience = 200 * time.Millisecond, 5 * time.Second
	var idle float64
	for start := time.Now(); time.Since(start) < patience; {
		before, total := idleTime(b)
		time.Sleep(glance)
		after, all := idleTime(b)
		if idle = float64(after-before) / float64(all-total); idle > 0.95 {
			return
		}
	}
	b.Logf("the machine is busy: %.0f %% idle", idle*100)
}

// idleTime is for how long the cores have been idle, and for how long they have
// been, in ticks.
func idleTime(b *testing.B) (idle, all int) {
	b.Helper()
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		b.Fatal(err)
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	for i, f := range words(line)[1:] {
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		if all += n; i == 3 || i == 4 {
			idle += n
		}
	}
	return idle, all
}

// cable joins the two hosts with a bare veth pair besides, with the kernel's
// default offloads, and returns the server's address on it.
func cable(b *testing.B, hosts *Hosts) string {
	b.Helper()
	const name = "cable"
	addrs := [2]string{"198.18.1.1/30", "198.18.1.2/30"}
	veth := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: name, MTU: 1500}, PeerName: name,
		PeerNamespace: netlink.NsFd(hosts.server.ns.Fd()),
	}
	if err := hosts.client.netlink.LinkAdd(veth); err != nil {
		b.Fatal(err)
	}
	for i, h := range []*Host{hosts.client, hosts.server} {
		l, err := h.netlink.LinkByName(name)
		if err != nil {
			b.Fatal(err)
		}
		addr, err := netlink.ParseAddr(addrs[i])
		if err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(h.netlink.AddrAdd(l, addr), h.netlink.LinkSetUp(l)); err != nil {
			b.Fatal(err)
		}
	}
	return "198.18.1.2"
}

// overCable is the throughput of TCP over the cable, in bit/s.
func overCable(b *testing.B, hosts *Hosts, server string, ms int) float64 {
	b.Helper()
	sink, err := startProgram(b.Context(), hosts.server, "sink", server, "urgent")
	if err != nil {
		b.Fatal(err)
	}
	source, err := startProgram(b.Context(), hosts.client, "source", server, fmt.Sprint(ms), "urgent")
	if err != nil {
		b.Fatal(err)
	}
	var got transfer
	if err := source.ask("go", &got); err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(source.Close(), sink.Close()); err != nil {
		b.Fatal(err)
	}
	return got.rate()
}

// overPath is the throughput of TCP over a site's path, and then over the cable.
func overPath(b *testing.B, site *Site, ms int) (path, bare float64) {
	b.Helper()
	var got transfer
	site.Server = &part{name: "sink", args: words("urgent")}
	site.Client = &part{name: "source", args: words(fmt.Sprintf("%d urgent", ms)), answer: &got}
	hosts, err := site.Open(b.Context(), runOn(0, 0))
	if err != nil {
		b.Fatal(err)
	}
	server := cable(b, hosts)
	if err := hosts.Serve(b.Context()); err != nil {
		b.Fatal(err)
	}
	if _, err := hosts.Get(b.Context()); err != nil {
		b.Fatal(err)
	}
	bare = overCable(b, hosts, server, ms)
	if err := hosts.Close(); err != nil {
		b.Fatal(err)
	}
	return got.rate(), bare
}

// BenchmarkAgainstCable measures TCP's throughput over the unlimited path, with
// each packet on the wire decided on and shown to the witness, and over a bare
// veth pair between the same hosts, by turns. The programs go before all others,
// so that what else runs on the machine matters little; it is the same for both.
func BenchmarkAgainstCable(b *testing.B) {
	requireKernel(b)
	for _, off := range []bool{false, true} {
		b.Run(fmt.Sprintf("offload=%v", !off), func(b *testing.B) {
			for b.Loop() {
				var paths, bares []float64
				for range 9 {
					path, bare := overPath(b, &Site{NoOffload: off}, 700)
					paths, bares = append(paths, path/1e9), append(bares, bare/1e9)
				}
				slices.Sort(paths)
				slices.Sort(bares)
				last := len(paths) - 1
				b.ReportMetric(paths[last/2], "gbit/s")
				b.ReportMetric(bares[last/2], "veth-gbit/s")
				b.ReportMetric(paths[last/2]/bares[last/2], "ratio")
				b.ReportMetric(paths[last]/bares[last], "ratio-of-bests")
				b.Logf("path %.1f, bare %.1f Gbit/s", paths, bares)
			}
		})
	}
}
