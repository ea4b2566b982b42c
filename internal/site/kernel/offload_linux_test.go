package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/link"
)

// What is switched on is known, and NoOffload switches it off.
func TestOffloadIsSwitchedOn(t *testing.T) {
	on, off := open(t, new(Site), runOn(0, 0)), open(t, &Site{NoOffload: true}, runOn(0, 0))
	for _, h := range []*Host{on.client, on.server} {
		if words := h.Offload(); !slices.Contains(words, "csum") || !slices.Contains(words, "tso4") || !slices.Contains(words, "tso6") {
			t.Errorf("host %s has the offload %v", h.Addr(), words)
		}
	}
	t.Log(on.Offload())
	if words := off.Offload(); len(words) != 0 {
		t.Errorf("without offload there is %v", words)
	}
	if words := offloadWords(offloads[0]); len(words) != 6 {
		t.Errorf("all the offload is %v", words)
	}
}

// eachOffload runs the test with offload and without.
func eachOffload(t *testing.T, f func(*testing.T, *Site)) {
	requireKernel(t)
	for _, off := range []bool{false, true} {
		t.Run(fmt.Sprintf("offload=%v", !off), func(t *testing.T) { f(t, &Site{NoOffload: off}) })
	}
}

// Of datagrams that are sent many at once, those are lost that the model says:
// the same share, in runs of the same lengths, with offload and without (F21).
func TestLossFallsOnWirePacketsOfBursts(t *testing.T) {
	const n, size, once, share = 20000, 1000, 40, 0.01
	for _, c := range []struct {
		family   lab.Family
		overhead int
	}{{lab.IPv4, 28}, {lab.IPv6, 48}} {
		t.Run(string(c.family), func(t *testing.T) {
			eachOffload(t, func(t *testing.T, site *Site) {
				run := runOn(0, 0)
				run.Cell.Path.Family = c.family
				run.Cell.Path.Up.Loss.Share = share
				run.Seed = 11
				site.Client = &part{name: "burst", args: words(fmt.Sprint(n, size, once)), answer: new(any)}
				got, facts := collectAll(t, site, run)
				if want := survivors(run, n, size+c.overhead); !slices.Equal(got.Seqs, want) {
					t.Fatalf("received %d packets, not the %d that the model lets pass", len(got.Seqs), len(want))
				}
				if up := facts.Wire.Up; up.Bytes != int64(up.Packets)*int64(size+c.overhead) || up.Packets != n {
					t.Errorf("not %d wire packets of %d bytes: %+v", n, size+c.overhead, up)
				}
				lost, runs := runsOf(got.Seqs, n)
				// Independent losses: the number of runs is binomial too, of n(1-p) chances.
				for _, k := range []struct {
					what       string
					have, want float64
				}{{"packets", float64(lost), n * share}, {"runs of packets", float64(runs), n * share * (1 - share)}} {
					if math.Abs(k.have-k.want) > 4*math.Sqrt(k.want) {
						t.Errorf("%v %s lost, want about %.0f", k.have, k.what, k.want)
					}
				}
			})
		})
	}
}

// runsOf counts the packets that are missing, and the runs that they are in.
func runsOf(seqs []uint32, n int) (lost, runs int) {
	next := uint32(0)
	for _, s := range append(slices.Clone(seqs), uint32(n)) {
		if gap := int(s - next); gap > 0 {
			lost += gap
			runs++
		}
		next = s + 1
	}
	return lost, runs
}

// A download arrives whole, whatever the path does to its packets, and the wire
// has packets, none larger than its MTU, of which those are lost that the model
// says.
func TestDownloadIsWhole(t *testing.T) {
	const size = 3 << 20
	plain := lab.Way{Delay: 2 * time.Millisecond}
	lossy := plain
	lossy.Loss.Share = 0.01
	limited := lossy
	limited.Rate = 400e6
	rough := lossy
	rough.Corrupt.Share, rough.Duplicate.Share, rough.Reorder.Share = 0.01, 0.02, 0.01
	marking := plain
	marking.Loss = lab.Loss{Share: 0.02, ECN: true}
	for name, down := range map[string]lab.Way{"plain": plain, "lossy": lossy, "limited": limited, "rough": rough, "marking": marking} {
		for _, family := range families {
			t.Run(name+" "+string(family), func(t *testing.T) {
				eachOffload(t, func(t *testing.T, site *Site) {
					run := runOn(2*time.Millisecond, 0)
					run.Cell.Path.Family, run.Cell.Path.Down = family, down
					got, facts := fetch(t, site, run, size, 30*time.Second, "ipv4/tcp_ecn 1")
					if got.Bytes != size || got.Error != "" {
						t.Fatalf("%d of %d bytes are right: %s", got.Bytes, size, got.Error)
					}
					checkWire(t, run, facts)
				})
			})
		}
	}
}

// fetch downloads over the run's path, between hosts with some settings.
func fetch(t *testing.T, site *Site, run lab.Run, size int64, limit time.Duration, sysctls ...string) (download, lab.Facts) {
	t.Helper()
	var got download
	site.Server = &part{name: "give", args: words(fmt.Sprint(size))}
	site.Client = &part{name: "fetch", args: words(fmt.Sprint(size, limit.Milliseconds())), answer: &got}
	hosts := open(t, site, run)
	for _, setting := range sysctls {
		for _, h := range []*Host{hosts.client, hosts.server} {
			set := h.Command(t.Context(), self, words(setting)...)
			role(set.Cmd, "sysctl")
			if out, err := set.CombinedOutput(); err != nil {
				t.Fatalf("set %s: %v: %s", setting, err, out)
			}
		}
	}
	if err := hosts.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := hosts.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	facts := hosts.Facts()
	t.Logf("%.0f Mbit/s, down %+v", float64(got.Bytes)*8/got.Took.Seconds()/1e6, facts.Wire.Down)
	return got, facts
}

// checkWire makes sure that wire packets were offered to the link, and met the
// fates of the model.
func checkWire(t *testing.T, run lab.Run, f lab.Facts) {
	t.Helper()
	for d, way := range map[lab.Direction]lab.WireWay{lab.Up: f.Wire.Up, lab.Down: f.Wire.Down} {
		if way.Foreign != 0 || way.Drops[string(lab.DropMTU)] != 0 || way.Bytes > int64(way.Packets)*lab.DefaultMTU {
			t.Errorf("%s: more than packets of the path: %+v", d, way)
		}
		model, packet, lost := link.New[int](run.Cell.Path, run.Seed), make([]byte, 100), 0
		for range way.Packets {
			if model.Offer(d, 0, packet, false, 0).Drop == lab.DropLoss {
				lost++
			}
		}
		have := way.Drops[string(lab.DropLoss)]
		if run.Cell.Path.Way(d).Loss.ECN {
			have += way.Marked // instead
			if way.Marked == 0 {
				t.Errorf("%s: no packet was marked: %+v", d, way)
			}
		}
		if have != lost {
			t.Errorf("%s: %d of %d packets lost or marked, the model says %d", d, have, way.Packets, lost)
		}
	}
}
