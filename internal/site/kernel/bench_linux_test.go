package kernel

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
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

func BenchmarkTransfer(b *testing.B) {
	for b.Loop() {
		var got transfer
		f := carry(b, &Site{
			Server: &part{name: "sink"}, Client: &part{name: "source", args: words("2000"), answer: &got},
		}, runOn(0, 0))
		b.ReportMetric(got.rate()/1e9, "gbit/s")
		b.ReportMetric(f.Lateness.P99*1e6, "late-p99-us")
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
	sink, err := startProgram(b.Context(), hosts.server, "sink", server)
	if err != nil {
		b.Fatal(err)
	}
	source, err := startProgram(b.Context(), hosts.client, "source", server, fmt.Sprint(ms))
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

// BenchmarkAgainstCable measures TCP's throughput over the unlimited path, with
// each packet on the wire decided on and shown to the witness, and over a bare
// veth pair between the same hosts, by turns. Best of each.
func BenchmarkAgainstCable(b *testing.B) {
	requireKernel(b)
	for b.Loop() {
		var wire, bare float64
		for range 10 {
			var got transfer
			site := &Site{Server: &part{name: "sink"}, Client: &part{name: "source", args: words("700"), answer: &got}}
			hosts, err := site.Open(b.Context(), runOn(0, 0))
			if err != nil {
				b.Fatal(err)
			}
			server := cable(b, hosts)
			quiet(b)
			if err := hosts.Serve(b.Context()); err != nil {
				b.Fatal(err)
			}
			if _, err := hosts.Get(b.Context()); err != nil {
				b.Fatal(err)
			}
			quiet(b)
			bareNow := overCable(b, hosts, server, 700)
			b.Logf("wire %.2f, bare %.2f Gbit/s", got.rate()/1e9, bareNow/1e9)
			wire, bare = max(wire, got.rate()), max(bare, bareNow)
			if err := hosts.Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(wire/1e9, "gbit/s")
		b.ReportMetric(bare/1e9, "veth-gbit/s")
		b.ReportMetric(wire/bare, "ratio")
	}
}
