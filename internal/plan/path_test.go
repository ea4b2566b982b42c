package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/samewire/samewire/internal/lab"
)

func TestParsePath(t *testing.T) {
	const ms = time.Millisecond
	both := func(w lab.Way) lab.Path { return lab.Path{Name: "p", Up: w, Down: w} }
	down := func(w lab.Way) lab.Path { return lab.Path{Name: "p", Down: w} }
	jitter := lab.Jitter{Spread: 5 * ms}
	for _, tt := range []struct {
		notation string
		want     lab.Path
	}{
		{"rtt 40ms", both(lab.Way{Delay: 20 * ms})},
		{"rtt 3ns", lab.Path{Name: "p", Up: lab.Way{Delay: 1}, Down: lab.Way{Delay: 2}}},
		{"delay 20ms", both(lab.Way{Delay: 20 * ms})},
		{"rtt 0", both(lab.Way{})},
		{"rate unlimited", both(lab.Way{})},
		{"loss 100%", both(lab.Way{Loss: lab.Loss{Share: 1}})},
		{"family ipv4 mtu 1280", both(lab.Way{MTU: 1280})},
		{"down{loss 1%} loss 2%", lab.Path{Name: "p", Up: lab.Way{Loss: lab.Loss{Share: 0.02}}, Down: lab.Way{Loss: lab.Loss{Share: 0.01}}}},
		{"rtt 10ms up{}", both(lab.Way{Delay: 5 * ms})},
		{"up { rate 1mbit } queue 5p", lab.Path{Name: "p", Up: lab.Way{Rate: 1e6, Queue: lab.Queue{Packets: 5}}}},

		{"delay 20ms 5ms", both(lab.Way{Delay: 20 * ms, Jitter: jitter})},
		{"delay 20ms 5ms 25%", both(lab.Way{Delay: 20 * ms, Jitter: lab.Jitter{Spread: 5 * ms, Correlation: 0.25}})},
		{"delay 20ms 5ms 25% distribution normal", both(lab.Way{Delay: 20 * ms, Jitter: lab.Jitter{Spread: 5 * ms, Correlation: 0.25, Distribution: lab.Normal}})},
		{"rtt 40ms jitter 5ms pareto in-order", both(lab.Way{Delay: 20 * ms, Jitter: lab.Jitter{Spread: 5 * ms, Distribution: lab.Pareto, InOrder: true}})},
		{"jitter 5ms uniform", both(lab.Way{Jitter: jitter})},
		{"jitter 0ms 5% pareto", both(lab.Way{})},
		{"jitter 50ms distribution uniform rtt 2ms", both(lab.Way{Delay: ms, Jitter: lab.Jitter{Spread: 50 * ms}})},
		// A delay inside replaces the one outside with its jitter, but not a jitter of its own.
		{"delay 20ms 5ms up{delay 1ms}", lab.Path{Name: "p", Up: lab.Way{Delay: ms}, Down: lab.Way{Delay: 20 * ms, Jitter: jitter}}},
		{"rtt 4ms jitter 5ms up{delay 1ms}", lab.Path{Name: "p", Up: lab.Way{Delay: ms, Jitter: jitter}, Down: lab.Way{Delay: 2 * ms, Jitter: jitter}}},
		{"rtt 4ms jitter 9ms up{delay 1ms 5ms} down{jitter 0s}", lab.Path{Name: "p", Up: lab.Way{Delay: ms, Jitter: jitter}, Down: lab.Way{Delay: 2 * ms}}},

		{"rate 10mbit 14", both(lab.Way{Rate: 10e6, Overhead: 14})},
		{"rate 10mbit -4 burst 15kB", both(lab.Way{Rate: 10e6, Overhead: -4, Burst: 15000})},
		{"rate 10mbit burst 15kB police", both(lab.Way{Rate: 10e6, Burst: 15000, Police: true})},
		{"police rate 10mbit burst 15kB up{rate unlimited} down{police false}", down(lab.Way{Rate: 10e6, Burst: 15000})},
		{"rate 10mbit queue 50ms", both(lab.Way{Rate: 10e6, Queue: lab.Queue{Time: 50 * ms}})},
		{"rate 10mbit queue codel", both(lab.Way{Rate: 10e6, AQM: lab.AQM{Kind: lab.CoDel}})},
		{"rate 10mbit queue 100 fq_codel ecn quantum 300 target 10ms interval 1s flows 16 limit 200", both(lab.Way{
			Rate: 10e6, Limit: 200, Queue: lab.Queue{Packets: 100},
			AQM: lab.AQM{Kind: lab.FQCoDel, ECN: true, Quantum: 300, Target: 10 * ms, Interval: time.Second, Flows: 16},
		})},
		{"throttle udp 1mbit burst 30kB", both(lab.Way{Throttle: lab.Throttle{Transport: lab.UDP, Rate: 1e6, Burst: 30000}})},
		{"throttle 1mbit loss 1%", both(lab.Way{Throttle: lab.Throttle{Rate: 1e6}, Loss: lab.Loss{Share: 0.01}})},
		{"throttle tcp unlimited", both(lab.Way{})},
		{"trace cell.trace queue 10p", both(lab.Way{Trace: lab.NewTrace("cell.trace", cellTrace), Queue: lab.Queue{Packets: 10}})},
		{"rate 1mbit down{trace r.csv}", lab.Path{Name: "p", Up: lab.Way{Rate: 1e6}, Down: lab.Way{Trace: lab.NewTrace("r.csv", rateCSV)}}},
		{"trace rate.CSV up{rate 1mbit}", lab.Path{Name: "p", Up: lab.Way{Rate: 1e6}, Down: lab.Way{Trace: lab.NewTrace("rate.CSV", rateCSV)}}},

		{"loss random 1%", both(lab.Way{Loss: lab.Loss{Share: 0.01}})},
		{"loss 1% burst 3", both(lab.Way{Loss: lab.Loss{Share: 0.01, Burst: 3}})},
		{"loss 1% burst 1", both(lab.Way{Loss: lab.Loss{Share: 0.01}})},
		{"loss 1% burst 15kB rate 1mbit", both(lab.Way{Loss: lab.Loss{Share: 0.01}, Burst: 15000, Rate: 1e6})},
		{"loss gemodel 1% 10% rate 1mbit queue 1bdp rtt 4ms", both(lab.Way{
			Delay: 2 * ms, Rate: 1e6, Queue: lab.Queue{BDP: 1}, Loss: lab.Loss{Gilbert: lab.Gilbert{P: 0.01, R: 0.1, Bad: 1}},
		})},
		{"loss gemodel 25%", both(lab.Way{Loss: lab.Loss{Gilbert: lab.Gilbert{P: 0.25, R: 0.75, Bad: 1}}})},
		{"loss gemodel 1% 10% 50% 0.1% ecn super", both(lab.Way{Loss: lab.Loss{Gilbert: lab.Gilbert{P: 0.01, R: 0.1, Bad: 0.5, Good: 0.001}, Super: true, ECN: true}})},
		{"loss 1% down{loss 0%}", lab.Path{Name: "p", Up: lab.Way{Loss: lab.Loss{Share: 0.01}}}},
		{"duplicate 1% 25% corrupt 2%", both(lab.Way{Duplicate: lab.Chance{Share: 0.01, Correlation: 0.25}, Corrupt: lab.Chance{Share: 0.02}})},
		{"delay 5ms reorder 25% 50% gap 5", both(lab.Way{Delay: 5 * ms, Reorder: lab.Reorder{Share: 0.25, Correlation: 0.5, Gap: 5}})},

		{"mtu 1500 icmp then 1280 at 2s", both(lab.Way{MTU: 1500, TooBig: true, Shrink: lab.Shrink{MTU: 1280, At: 2 * time.Second}})},
		{"mtu default then 1400 at 0s", both(lab.Way{Shrink: lab.Shrink{MTU: 1400}})},

		{"drop udp", both(lab.Way{Rules: "drop udp"})},
		{"drop udp from 5s drop tcp 1% reject udp outage from 1s to 2s", both(lab.Way{Rules: "drop udp from 5s; drop tcp 1%; reject udp; outage from 1s to 2s"})},
		{"down{drop udp initial nth 2}", down(lab.Way{Rules: "drop udp initial nth 2"})},
		{"up{drop udp after 60kB up for 200ms} down{loss 1%}", lab.Path{
			Name: "p", Up: lab.Way{Rules: "drop udp after 60kB up for 200ms"}, Down: lab.Way{Loss: lab.Loss{Share: 0.01}},
		}},
		{"drop udp after 60kB up up{drop tcp}", lab.Path{Name: "p", Up: lab.Way{Rules: "drop tcp"}, Down: lab.Way{Rules: "drop udp after 60kB up"}}},
		{"outage from 1s to 2s drop udp up{drop tcp}", lab.Path{
			Name: "p", Up: lab.Way{Rules: "outage from 1s to 2s; drop tcp"}, Down: lab.Way{Rules: "outage from 1s to 2s; drop udp"},
		}},

		{"rebind at 5s", lab.Path{Name: "p", Rebind: lab.Rebind{At: 5 * time.Second}}},
		{"rebind address udp idle 30s every 1m up{loss 1%}", lab.Path{
			Name: "p", Up: lab.Way{Loss: lab.Loss{Share: 0.01}},
			Rebind: lab.Rebind{Address: true, Transport: lab.UDP, Idle: 30 * time.Second, Every: time.Minute},
		}},
		{"drop udp 1% handover at 5s for 300ms", lab.Path{
			Name: "p", Up: lab.Way{Rules: "drop udp 1%; outage from 5s to 5.3s"}, Down: lab.Way{Rules: "drop udp 1%; outage from 5s to 5.3s"},
			Rebind: lab.Rebind{At: 5300 * ms, Address: true},
		}},
	} {
		got, err := ParsePath("p", tt.notation, testFiles)
		if err != nil {
			t.Errorf("%q: %v", tt.notation, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.notation, diff)
		}
		checkRoundTrip(t, got)
	}
}

func TestParsePathFaults(t *testing.T) {
	for _, tt := range []struct{ notation, want string }{
		{"", "path p:1:1: the path is empty"},
		{"rtt", "1:1: rtt has no value"},
		{"rtt loss 1%", "1:1: rtt has no value"},
		{"rate 100", `1:6: rate: "100": want a number and a unit (bit, kbit, mbit, gbit)`},
		{"rate 10Mbps", `unknown unit "Mbps"`},
		{"rtt 3h", "must be from 0 to 2h"},
		{"delay -1ms", "1:7: delay:"},
		{"rtt 40ms delay 20ms", "1:16: delay: give rtt (both directions together) or delay"},
		{"down{rtt 5ms}", `1:6: "rtt" is not known`},
		{"down{rate 5mbit", "a { is not closed"},
		{"rtt 5ms}", "1:8: this } closes nothing"},
		{"{rtt 5ms}", "1:1: a { must follow a word"},
		{"down 5ms", "1:6: down must be a mapping"},
		{"rtt{rtt 5ms}", "rtt must be a single value"},
		{"queue 1bdp rtt 4ms", "1:7: queue: it has no meaning without a rate"},
		{"rate 1mbit queue 1bdp", "1:18: queue: a bandwidth-delay product needs a delay"},
		{"up{queue 5p} down{rate 5mbit}", "1:10: queue: it has no meaning"},
		{"mtu 575", "1:5: mtu: \"575\": must be from 576"},
		{"family ipv6 mtu 1279", "1:17: mtu: 1279 is too small for IPv6"},
		{"rtt 1ms rtt 2ms", "1:9: rtt is given twice"},
		{"lss 1%", `did you mean "loss"?`},
		{"mtu 1500 mtu 9000 rat 5mbit", `did you mean "rate"?`},
		{"loss 1% rat 5mbit", `1:9: "rat" is not known; did you mean "rate"? allowed: rtt, delay`},
		{"rate 1mbit queue 5p cdel", `1:21: "cdel" is not known; did you mean "codel"? allowed: rtt`},

		{"delay 20ms 5", `1:12: delay: duration "5"`},
		{"delay 20ms 5ms 100%", `1:16: delay: correlation "100%": must be below 100%`},
		{"delay 20ms 5ms 1% 2%", `1:19: delay: "2%" cannot stand here; nothing more is allowed`},
		{"delay 20ms 5ms jitter 1ms", "1:23: jitter: delay has a jitter already"},
		{"rtt 4ms distribution normal", "1:22: distribution: it has no meaning without a jitter"},
		{"jitter 5ms distribution gauss", `1:25: distribution: "gauss" is not known; allowed: uniform, normal, pareto`},
		{"jitter 5ms normal distribution pareto", "1:32: distribution: jitter has a distribution already"},
		{"jitter 5ms pareto normal", `1:19: jitter: "normal" cannot stand here; allowed: in-order`},

		{"rate unlimited 14", "1:16: rate: a packet overhead has no meaning without a limit of rate"},
		{"rate 1mbit 2000", `1:12: rate: "2000": must be a whole number from -1000 to 1000`},
		{"rate 1mbit 14 48 5", "1:15: rate: netem's cell size and cell overhead are not supported"},
		{"burst 15kB", "1:7: burst: it has no meaning without a rate"},
		{"police", "1:1: police: it has no meaning without a rate"},
		{"rate 1mbit police", "1:12: police: it needs a burst"},
		{"rate 1mbit burst 15kB police queue 5p", "1:36: queue: with police nothing waits"},
		{"rate 1mbit queue 5p codel flows 3", `1:27: queue: "flows" cannot stand here; allowed: target, interval, ecn`},
		{"rate 1mbit queue 5p fq_codel flows 0", `1:36: queue: "0": must be a whole number from 1 to 65536`},
		{"rate 1mbit queue 5p ecn", `1:21: queue: "ecn" cannot stand here; allowed: codel, fq_codel`},
		{"rate 1mbit queue 5p codel target", `1:27: queue: a time such as 5ms is missing`},
		{"limit -1", `1:7: limit: "-1": must be a whole number from 0 to 10000000`},
		{"throttle udp", "throttle: a rate such as 1mbit is missing"},
		{"throttle 1mbit udp", `1:16: throttle: "udp" cannot stand here; allowed: burst`},

		{"trace cell.trace rate 1mbit", "1:7: trace: give a rate or a trace, not both"},
		{"trace none.trace", "1:7: trace: open none.trace: no such file"},
		{"trace bad.trace", `1:7: trace: bad.trace: line 2: "x"`},
		{"trace bytes", `1:7: trace: "bytes": it is not text`},
		{"trace long", "1:7: trace: long: 16000002 bytes: a trace may have up to 16000000"},
		{"trace cell.trace 5", `1:7: trace: "cell.trace 5": a file's name cannot have blanks`},
		{"trace cell.trace burst 15kB", "1:24: burst: a token bucket needs a rate, not a trace"},

		{"loss gemdel 1% 10%", `1:6: loss: "gemdel" is not known; want a share such as 1%, random, or gemodel`},
		{"loss 1% 25%", "1:9: loss: a correlation of random loss is not supported: in netem it changes the share itself. Use burst K"},
		{"loss state 1% 10%", "1:12: loss: netem's state model is not supported: gemodel P R 1-H 1-K makes"},
		{"loss gemodel 1% 10% burst 3", `1:21: loss: "burst" cannot stand here; allowed: gemodel's 1-H, super, ecn`},
		{"loss gemodel 1% 10% 1% 1% 1%", `1:27: loss: "1%" cannot stand here; allowed: super, ecn`},
		{"loss gemodel 1% 101%", `1:17: loss: share "101%": must be from 0% to 100%`},
		{"loss 1% gemodel 1% 10%", "1:9: loss: give a share or gemodel, not both"},
		{"loss 0% ecn", "1:9: loss: ecn has no meaning where nothing is lost"},
		{"loss 1% ecn ecn", `1:13: loss: "ecn" cannot stand here; allowed: super`},
		{"duplicate 1% 2% 3%", `1:17: duplicate: "3%" cannot stand here`},
		{"reorder 5%", "1:9: reorder: it has no meaning without a delay (netem refuses it too)"},
		{"rtt 4ms jitter 1ms in-order reorder 5%", "1:37: reorder: the jitter is in-order"},
		{"delay 5ms reorder 25% gap 0", `1:27: reorder: "0": must be a whole number from 1`},

		{"mtu 1400 then 1400 at 5s", `1:15: mtu: "1400": an MTU can only become smaller than it is, 1400`},
		{"mtu default then 1500 at 5s", "smaller than it is, 1500"},
		{"mtu 1400 then 1300", "mtu: want at and a time: then 1300 at 5s"},
		{"family ipv6 mtu 1400 then 1000 at 5s", "1:17: mtu: 1000 is too small for IPv6"},

		{"drop", "1:1: drop has no value"},
		{"drop up{loss 1%}", "1:1: drop has no value"},
		{"drop udp 101%", `1:10: drop: share "101%"`},
		{"up{drop tcp udp 1%}", "1:9: drop: more than one transport"},
		{"drop udp above", `1:10: drop: above: size ""`},
		{"outage from 5s to 4s", "1:8: outage: the window ends at 4s, before it begins at 5s"},
		{"drop nth 0", `1:10: drop: nth "0": want numbers from 1`},
		{"rebind", "1:1: rebind has no value"},
		{"rebind udp", "rebind: when is missing: want at, every or idle"},
		{"rebind at 0s", `1:11: rebind: duration "0s": must be above 0`},
		{"rebind at 5s at 6s", `1:14: rebind: "at" cannot stand here; allowed: every, idle`},
		{"handover at 5s", "handover: want for and a time, such as for 300ms"},
		{"handover at 5s for 1s rebind at 1s", "1:30: rebind: handover changes the client's address already"},
		{"up{rtt 5ms rebind at 5s}", `"rebind" is not known`},
	} {
		_, err := ParsePath("p", tt.notation, testFiles)
		var faults Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got\n%v\nwant it to contain\n%s", tt.notation, err, tt.want)
		}
	}
	if _, err := ParsePath("a b", "rtt 5ms", nil); err == nil {
		t.Error("a bad name was accepted")
	}
}

func FuzzParsePath(f *testing.F) {
	for _, p := range Paths() {
		f.Add(p.Notation)
	}
	for _, s := range []string{
		"up{down{up{", "}{}{ rtt\n5ms", "delay 20ms 5ms 25% distribution normal reorder 1% 2% gap 3",
		"trace cell.trace queue 5p fq_codel target 5ms ecn flows 3", "rate 10mbit 14 burst 15kB police throttle udp 1mbit burst 1kB",
		"loss gemodel 1% 10% 1% super ecn loss 1% burst 3 burst 3kB", "drop udp after 60kB up for 200ms up{reject tcp}",
		"mtu 1500 icmp then 1280 at 2s rebind address udp at 5s idle 3s", "outage from 1s to 2s drop udp nth 1,2 handover at 5s for 1s",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if p, err := ParsePath("p", s, testFiles); err == nil {
			checkRoundTrip(t, p)
		}
	})
}

func TestFindPath(t *testing.T) {
	wired, err := FindPath("wired", nil)
	if err != nil || wired.Name != "wired" || wired.RTT() != 40*time.Millisecond {
		t.Errorf("%+v, %v", wired, err)
	}
	own, err := FindPath("rtt 40ms trace cell.trace", testFiles)
	if err != nil || own.Name != "path" || own.Up.Trace.Data != cellTrace {
		t.Errorf("%+v, %v", own, err)
	}
	for s, want := range map[string]string{
		"wird":                     `no preset path of that name: "wird" is not known; did you mean "wired"? allowed: datacenter,`,
		"rtt":                      `no preset path of that name: "rtt" is not known; allowed: datacenter, wired`,
		"":                         "the path is empty; it takes: rtt, delay",
		"rtt 5":                    `path:1:5: rtt: duration "5"`,
		"rtt 5ms trace cell.trace": `trace: "cell.trace": no file can be read here`,
	} {
		if _, err := FindPath(s, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", s, err, want)
		}
	}
}
