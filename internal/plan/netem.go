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
	// Ethtool are the arguments of ethtool without which netem loses whole
	// super-packets instead of packets of the wire, for the device of each
	// direction. Without checksums (tx) Linux before 6.11 refuses UDP's
	// segmentation offload, which the switches for TCP's leave on.
	Ethtool []string
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

// ExportNetem returns a path as tc commands. netem stands first (loss, delay,
// duplicates …) and tbf, with the queue, behind it: with a delay that does not
// vary, a packet leaves both at the same time in either order.
func ExportNetem(p lab.Path) Netem {
	var n Netem
	e := exporter{path: p, said: map[string]bool{}, out: &n}
	n.Up = e.way(lab.Up)
	n.Down = e.way(lab.Down)
	if !e.super {
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
	shaped := w.Rate > 0 && !w.Police
	root := "root"
	if args := e.netem(w); args != "" {
		commands = append(commands, "qdisc add dev "+Device+" root handle 1: "+sizes(w, shaped)+"netem "+args)
		root = "parent 1:1"
	}
	if shaped {
		commands = append(commands, e.rate(w, root, sizes(w, root == "root"))...)
	}
	return append(commands, e.filters(w)...)
}

// sizes has the words by which a rate counts other bytes than a frame's. They
// must stand at the root: Linux refuses them elsewhere ("STAB not supported on a
// non root"), and what hangs from the root counts by them as well.
func sizes(w lab.Way, here bool) string {
	if !here {
		return ""
	}
	return fmt.Sprintf("stab overhead %d linklayer ethernet ", w.Overhead-ethernet)
}

// netem has the arguments of netem itself; empty where it is not needed.
func (e *exporter) netem(w lab.Way) string {
	var args []string
	add := func(words ...string) { args = append(args, words...) }
	if w.Delay > 0 || w.Jitter.Spread > 0 {
		add("delay", micros(w.Delay))
		e.jitter(w, add)
	}
	e.loss(w.Loss, add)
	chance := func(word string, share, correlation float64) {
		if share > 0 {
			add(word, percent(share))
			if correlation > 0 {
				add(percent(correlation))
				e.miss("correlation of " + word + ": netem's arithmetic makes the share another one than asked for")
			}
		}
	}
	chance("duplicate", w.Duplicate.Share, w.Duplicate.Correlation)
	chance("corrupt", w.Corrupt.Share, w.Corrupt.Correlation)
	chance("reorder", w.Reorder.Share, w.Reorder.Correlation)
	if w.Reorder.Share > 0 && w.Reorder.Gap > 1 {
		add("gap", strconv.Itoa(w.Reorder.Gap))
	}
	if len(args) == 0 && w.Limit == 0 {
		return ""
	}
	limit := endless
	if w.Limit > 0 {
		limit = w.Limit
		if w.Rate > 0 {
			e.miss("a limit on packets that wait for the rate and are under way together: here it holds for those under way alone")
		}
	}
	add("limit", strconv.Itoa(limit))
	return strings.Join(args, " ")
}

func (e *exporter) jitter(w lab.Way, add func(...string)) {
	j := w.Jitter
	if j.Spread == 0 {
		return
	}
	add(micros(j.Spread))
	if j.Correlation > 0 {
		add(percent(j.Correlation))
		e.miss("correlation of jitter: netem's arithmetic makes the spread smaller than asked for")
	}
	if j.Distribution != lab.Uniform {
		add("distribution", string(j.Distribution))
	}
	if j.InOrder {
		e.lack("jitter without reordering: netem lets packets overtake")
	}
	if w.Rate > 0 {
		e.miss("jitter behind the rate: here packets are delayed first, and wait for the rate then")
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
func (e *exporter) rate(w lab.Way, parent, sizes string) []string {
	burst := max(w.Burst, int64(w.DeviceMTU()), int64(w.Rate)/8/tbfPart)
	if w.Burst == 0 {
		e.miss("a plain wire: tbf lets what its bucket holds (a packet, or what the rate carries in 1 ms) pass at once after a pause")
	}
	limit := e.queueBytes(w)
	c := fmt.Sprintf("qdisc add dev %s %s handle 2: %stbf rate %dbit burst %d limit %d",
		Device, parent, sizes, int64(w.Rate), burst, limit)
	if w.AQM.Kind == "" {
		return []string{c}
	}
	return []string{c, "qdisc add dev " + Device + " parent 2:1 handle 3: " + aqm(w, limit)}
}

func aqm(w lab.Way, bytes int64) string {
	a := w.AQM
	words := []string{string(a.Kind), "limit", strconv.FormatInt(max(bytes/int64(w.DeviceMTU()), 1), 10)}
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

// queueBytes is tbf's limit: what may wait, and the packet that waits for its
// tokens.
func (e *exporter) queueBytes(w lab.Way) int64 {
	mtu := int64(w.DeviceMTU())
	q := w.Queue
	perSecond := float64(w.Rate) / 8
	switch {
	case q.Bytes > 0:
		return q.Bytes + mtu
	case q.BDP > 0:
		return int64(q.BDP*perSecond*e.path.RTT().Seconds()) + mtu
	case q.Time > 0:
		return int64(perSecond*q.Time.Seconds()) + mtu
	case q.Packets > 0:
		e.miss("a queue in packets: tbf counts bytes, here those of packets of full size")
		return int64(q.Packets+1) * mtu
	}
	e.miss("a queue in packets: tbf counts bytes, here those of packets of full size")
	return int64(lab.DefaultQueue+1) * mtu
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
