package plan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Netem is a path in the words of tc: what has to be typed on Linux for the
// kernel's netem, tbf and others to do the same, and what they cannot do.
type Netem struct {
	// Up and Down are the arguments of tc for each direction, in order. Device
	// stands where the name of the device belongs whose egress is the direction.
	Up, Down []string
	// Link and Ethtool are the arguments of ip and ethtool without which netem
	// loses whole super-packets instead of packets of the wire, for the device of
	// each direction. ethtool's switches alone are not enough: since Linux 4.17
	// TCP makes super-packets whatever they say, and has them cut behind the
	// queueing disciplines, unless they may have no more than one segment
	// (gso_max_segs). Without checksums (tx) Linux before 6.11 refuses UDP's
	// segmentation offload, which nothing else switches off.
	Link, Ethtool []string
	// Missing says what the commands cannot do or do otherwise, one sentence
	// each.
	Missing []string
	// Absent are those of Missing without which it is another path: what the
	// commands leave out altogether, and not only do at another place or with
	// other arithmetic.
	Absent []string
}

// Device stands for the name of a device in the commands of a Netem.
const Device = "DEV"

// What tc needs and a path does not say.
const (
	ethernet = 14      // bytes of header that tc counts and a path does not
	endless  = 1000000 // packets: netem's limit where the path has none
	tbfPart  = 1000    // of a second: what tbf's least bucket holds of its rate, since its timer may be late
)

// ExportNetem returns a path as tc commands. Where a plain wire carries packets at
// a rate, three netems hang from each other, in the order in which the link does
// the same: the first loses, the second has the rate and its queue, the third
// delays. netem keeps a rate whatever its timer is late, since a packet leaves
// when the one before it has; a token bucket (tbf) loses what it cannot hold. tbf
// stands where a bucket is asked for, or what netem has not: queue management
// and, since Linux refuses two netems where one makes copies, copies. netem
// stands before it then: with a delay that does not vary, a packet leaves both at
// the same time in either order.
func ExportNetem(p lab.Path) Netem {
	var n Netem
	e := exporter{path: p, said: map[string]bool{}, out: &n}
	n.Up = e.way(lab.Up)
	n.Down = e.way(lab.Down)
	if !e.super {
		n.Link = []string{"link", "set", "dev", Device, "gso_max_segs", "1"}
		n.Ethtool = []string{"-K", Device, "tso", "off", "gso", "off", "gro", "off", "tx", "off"}
	}
	if p.Rebind != (lab.Rebind{}) {
		e.lack("rebinding of the client's address or port")
	}
	return n
}

type exporter struct {
	path  lab.Path
	super bool // losses are per super-packet
	said  map[string]bool
	out   *Netem
}

// lack says what tc leaves out altogether, once.
func (e *exporter) lack(what string) {
	if !e.said[what] {
		e.out.Absent = append(e.out.Absent, what)
	}
	e.miss(what)
}

// miss says what tc cannot do, or does otherwise, once.
func (e *exporter) miss(what string) {
	if !e.said[what] {
		e.said[what] = true
		e.out.Missing = append(e.out.Missing, what)
	}
}

func (e *exporter) way(d lab.Direction) (commands []string) {
	w := e.path.Way(d)
	e.super = e.super || w.Loss.Super
	e.missing(w)
	var stages []stage
	switch shaped := w.Rate > 0 && !w.Police; {
	case shaped && w.Burst == 0 && w.AQM.Kind == "" && w.Duplicate.Share == 0:
		stages = e.wire(w)
	case shaped:
		stages = e.bucket(w)
	default:
		stages = e.plain(w)
	}
	return append(hang(stages), e.filters(w)...)
}

// stage is a queueing discipline, and the handle by which it is known.
type stage struct {
	handle      int
	before      string // what stands before its kind
	kind, words string
}

// The handles.
const (
	netemStage = 1 // netem: all of it, or the losses alone
	rateStage  = 2 // the rate, by netem or tbf
	aqmStage   = 3
	delayStage = 4 // netem: delays, behind the rate
)

// hang hangs each stage from the one before.
func hang(stages []stage) (commands []string) {
	parent := "root"
	for _, s := range stages {
		commands = append(commands, fmt.Sprintf("qdisc add dev %s %s handle %d: %s%s %s", Device, parent, s.handle, s.before, s.kind, s.words))
		parent = fmt.Sprintf("parent %d:1", s.handle)
	}
	return commands
}

// plain is a way without a rate.
func (e *exporter) plain(w lab.Way) []stage {
	words := append(e.delay(w), e.chance(w)...)
	if len(words) == 0 && w.Limit == 0 {
		return nil
	}
	return []stage{{handle: netemStage, kind: "netem", words: limited(words, e.limit(w))}}
}

// wire is a way whose rate is a plain wire's.
func (e *exporter) wire(w lab.Way) (stages []stage) {
	if words := e.chance(w); len(words) > 0 {
		stages = append(stages, stage{handle: netemStage, kind: "netem", words: limited(words, endless)})
	}
	rate := []string{"rate", fmt.Sprintf("%dbit", int64(w.Rate)), strconv.Itoa(w.Overhead - ethernet)}
	stages = append(stages, stage{handle: rateStage, kind: "netem", words: limited(rate, e.queuePackets(w))})
	if words := e.delay(w); len(words) > 0 || w.Limit > 0 {
		stages = append(stages, stage{handle: delayStage, kind: "netem", words: limited(words, e.limit(w))})
	}
	return stages
}

// bucket is a way whose rate has a token bucket, or queue management.
func (e *exporter) bucket(w lab.Way) []stage {
	if w.Jitter.Spread > 0 {
		e.miss("jitter behind the rate: here packets are delayed first, and wait for the rate then")
	}
	stages := append(e.plain(w), e.rate(w)...)
	stages[0].before = sizes(w)
	return stages
}

// limited adds netem's limit of packets.
func limited(words []string, packets int) string {
	return strings.Join(append(words, "limit", strconv.Itoa(packets)), " ")
}

// limit is netem's limit where it delays.
func (e *exporter) limit(w lab.Way) int {
	if w.Limit == 0 {
		return endless
	}
	if w.Rate > 0 {
		e.miss("a limit on packets that wait for the rate and are under way together: here it holds for those under way alone")
	}
	return w.Limit
}

// sizes has the words by which tbf counts other bytes than a frame's. They must
// stand at the root: Linux refuses them elsewhere ("STAB not supported on a non
// root"), and what hangs from the root counts by them as well.
func sizes(w lab.Way) string {
	return fmt.Sprintf("stab overhead %d linklayer ethernet ", w.Overhead-ethernet)
}

// delay has netem's words of a delay.
func (e *exporter) delay(w lab.Way) (words []string) {
	add := func(more ...string) { words = append(words, more...) }
	if w.Delay > 0 || w.Jitter.Spread > 0 {
		add("delay", micros(w.Delay))
		e.jitter(w.Jitter, add)
	}
	if w.Reorder.Share > 0 {
		e.share("reorder", w.Reorder.Share, w.Reorder.Correlation, add)
		if w.Reorder.Gap > 1 {
			add("gap", strconv.Itoa(w.Reorder.Gap))
		}
	}
	return words
}

// chance has netem's words of what chance does to packets.
func (e *exporter) chance(w lab.Way) (words []string) {
	add := func(more ...string) { words = append(words, more...) }
	e.loss(w.Loss, add)
	e.share("duplicate", w.Duplicate.Share, w.Duplicate.Correlation, add)
	e.share("corrupt", w.Corrupt.Share, w.Corrupt.Correlation, add)
	if w.Duplicate.Share > 0 && (w.Loss != (lab.Loss{}) || w.Jitter.Spread > 0) {
		e.miss("copies that share their packet's fate: netem delays a copy on its own, may lose it, and delivers one of a packet that is to be lost and copied")
	}
	return words
}

func (e *exporter) share(word string, share, correlation float64, add func(...string)) {
	if share == 0 {
		return
	}
	add(word, percent(share))
	if correlation > 0 {
		add(percent(correlation))
		e.miss("correlation of " + word + ": netem's arithmetic makes the share another one than asked for")
	}
}

func (e *exporter) jitter(j lab.Jitter, add func(...string)) {
	if j.Spread == 0 {
		return
	}
	add(micros(j.Spread))
	if j.Correlation > 0 {
		add(percent(j.Correlation))
		e.miss("correlation of jitter: netem takes the delay from the low bits of a correlated number, and those are not correlated")
	}
	if j.Distribution != lab.Uniform {
		add("distribution", string(j.Distribution))
	}
	if j.InOrder {
		e.lack("jitter without reordering: netem lets packets overtake")
	}
}

func (e *exporter) loss(l lab.Loss, add func(...string)) {
	switch g := l.Gilbert; {
	case g != (lab.Gilbert{}):
		add("loss", "gemodel", percent(g.P), percent(g.R), percent(g.Bad), percent(g.Good))
	case l.Share == 0:
		return
	case l.Burst > 1:
		add("loss", percent(l.Share))
		e.lack("loss in bursts of exactly " + strconv.Itoa(l.Burst) + ": here the same share is lost independently")
	default:
		add("loss", percent(l.Share))
	}
	if l.ECN {
		add("ecn")
	}
}

// rate has tbf, with its queue or active queue management.
func (e *exporter) rate(w lab.Way) []stage {
	burst := max(w.Burst, int64(w.DeviceMTU()), int64(w.Rate)/8/tbfPart)
	if w.Burst == 0 {
		e.miss("a plain wire: tbf lets what its bucket holds (a packet, or what the rate carries in 1 ms) pass at once after a pause")
	}
	limit := e.queueBytes(w)
	tbf := stage{handle: rateStage, kind: "tbf", words: fmt.Sprintf("rate %dbit burst %d limit %d", int64(w.Rate), burst, limit)}
	if w.AQM.Kind == "" {
		return []stage{tbf}
	}
	return []stage{tbf, {handle: aqmStage, kind: string(w.AQM.Kind), words: aqm(w, limit)}}
}

func aqm(w lab.Way, bytes int64) string {
	a := w.AQM
	words := []string{"limit", strconv.FormatInt(max(bytes/int64(w.DeviceMTU()), 1), 10)}
	if a.Target > 0 {
		words = append(words, "target", micros(a.Target))
	}
	if a.Interval > 0 {
		words = append(words, "interval", micros(a.Interval))
	}
	if a.Flows > 0 && a.Kind == lab.FQCoDel {
		words = append(words, "flows", strconv.Itoa(a.Flows))
	}
	if a.Quantum > 0 && a.Kind == lab.FQCoDel {
		words = append(words, "quantum", strconv.Itoa(a.Quantum))
	}
	if a.ECN {
		return strings.Join(append(words, "ecn"), " ")
	}
	return strings.Join(append(words, "noecn"), " ")
}

// queuePackets is netem's limit: what may wait, and the packet that the rate is
// taking.
func (e *exporter) queuePackets(w lab.Way) int {
	q := w.Queue
	switch {
	case q.Packets > 0:
		return q.Packets + 1
	case q == (lab.Queue{}):
		return lab.DefaultQueue + 1
	}
	e.miss("a queue in bytes: netem counts packets, here those of full size, so that smaller ones find room for fewer bytes")
	return int(queueBytes(w, e.path.RTT())/int64(w.DeviceMTU())) + 1
}

// queueBytes is tbf's limit: what may wait, and the packet that waits for its
// tokens.
func (e *exporter) queueBytes(w lab.Way) int64 {
	mtu, packets := int64(w.DeviceMTU()), int64(w.Queue.Packets)
	if w.Queue == (lab.Queue{}) {
		packets = lab.DefaultQueue
	}
	if packets > 0 {
		e.miss("a queue in packets: tbf counts bytes, here those of packets of full size")
		return (packets + 1) * mtu
	}
	return queueBytes(w, e.path.RTT()) + mtu
}

// filters have what clsact can do on egress: policers.
func (e *exporter) filters(w lab.Way) (commands []string) {
	police := func(match string, rate lab.Rate, burst int64) {
		commands = append(commands, fmt.Sprintf("filter add dev %s egress %s action police rate %dbit burst %d conform-exceed drop/pipe",
			Device, match, int64(rate), burst))
	}
	if w.Police && w.Rate > 0 {
		police("matchall", w.Rate, w.Burst)
	}
	if t := w.Throttle; t != (lab.Throttle{}) {
		match := "matchall"
		if t.Transport != "" {
			match = "protocol " + e.etherType() + " flower ip_proto " + string(t.Transport)
		}
		police(match, t.Rate, t.BurstBytes())
	}
	if len(commands) > 0 {
		e.miss("policers that count IP bytes: tc's counts the Ethernet header of each packet as well")
		commands = append([]string{"qdisc add dev " + Device + " clsact"}, commands...)
	}
	return commands
}

func (e *exporter) etherType() string {
	if e.path.Family == lab.IPv6 {
		return "ipv6"
	}
	return "ip"
}

// missing names what no qdisc can do.
func (e *exporter) missing(w lab.Way) {
	for _, m := range []struct {
		is   bool
		what string
	}{
		{w.Trace != (lab.Trace{}), "a rate that follows a trace"},
		{w.Rules != "", "exact rules (drop, reject, outage)"},
		{w.MTU > 0 && w.MTU < lab.DefaultMTU && !w.TooBig, "an MTU as a black hole: set the device's MTU, and packets are refused or fragmented instead"},
		{w.MTU > 0 && w.TooBig, "an MTU with ICMP: give a router's device behind this one that MTU"},
		{w.Shrink != (lab.Shrink{}), "an MTU that shrinks"},
	} {
		if m.is {
			e.lack(m.what)
		}
	}
	if w.Loss != (lab.Loss{}) && !w.Loss.Super || w.Duplicate != (lab.Chance{}) || w.Corrupt != (lab.Chance{}) {
		e.miss("chance for each packet where a program leaves it to the kernel to cut its datagrams (UDP_SEGMENT, as QUIC servers do), from Linux 6.11 on: netem draws once for all of them")
	}
	if w.Loss != (lab.Loss{}) || w.Rules != "" {
		e.miss("the same losses for each protocol: netem draws anew for each packet of whatever kind, unless it is given a seed (Linux 6.5, iproute2 6.6)")
	}
}

// percent writes a share to nine decimals: netem knows it to 32 bits.
func percent(share float64) string { return lab.FormatShare(share) }

// micros writes a duration as tc takes it, to the nanosecond.
func micros(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/1e3, 'f', -1, 64) + "us"
}
