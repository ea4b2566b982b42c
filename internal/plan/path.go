package plan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// The limits of a path's MTU: what every IPv4 host must take (RFC 791, 3.1),
// the least of IPv6 (RFC 8200, 5), and what an IP header can say.
const (
	minMTU4 = 576
	minMTU6 = 1280
	maxMTU  = 65535
)

var (
	pathWords = grammar{words: []string{"rtt", "delay", "rate", "loss", "queue", "mtu", "family", "up", "down"}}
	mtuRange  = fmt.Sprintf("from %d (IPv6: %d) to %d bytes", minMTU4, minMTU6, maxMTU)
)

// ParsePath reads the one-line notation of a path:
//
//	rtt 40ms rate 100mbit loss 1% queue 1bdp down{rate 50mbit}
//
// The words: rtt (both directions together), delay (of each direction), rate,
// loss, queue and mtu (of each direction), family (ipv4 or ipv6), and up{…} and
// down{…}, which hold delay, rate, loss, queue and mtu of one direction and
// override what stands outside. What is not said is zero: no delay, no limit of
// rate, no loss. The error is Faults, with columns of the notation.
func ParsePath(name, notation string) (lab.Path, error) {
	t := newText("path "+name, notation)
	if err := checkName("path", name); err != nil {
		t.fault(place{1, 1}, err.Error())
	}
	n := &node{kind: scalar, text: notation, at: place{1, 1}, offsets: len(t.lines) == 1}
	p := t.path(name, n)
	return p, t.faults.err()
}

// path reads a path out of a mapping or a one-line notation.
func (t *text) path(name string, n *node) lab.Path {
	if n.kind == scalar {
		n = t.notation(n, pathWords)
	}
	if n.kind == mapping && len(n.entries) == 0 {
		t.fault(n.at, "the path is empty; it takes: "+strings.Join(pathWords.words, ", "))
	}
	r := pathReader{text: t, path: lab.Path{Name: name}}
	r.read(n)
	return r.path
}

// pathReader gathers a path. What is said of one direction is applied after
// what is said of both, wherever it stands.
type pathReader struct {
	*text
	path lab.Path
	mtus []mtuAt // to be checked once the family is known
	// Where a delay, or a queue, was said: of both directions, and of each.
	delay, queue, upQueue, downQueue place
}

type mtuAt struct {
	mtu int
	at  place
}

func (r *pathReader) read(n *node) {
	var up, down *node
	both := append([]field{{"rtt", r.rtt}}, r.wayFields(&r.delay, &r.queue, func(set func(*lab.Way)) {
		set(&r.path.Up)
		set(&r.path.Down)
	})...)
	both = append(both,
		field{"family", read(r.text, "family", parseFamily, func(f lab.Family) { r.path.Family = f })},
		field{"up", func(n *node) { up = n }},
		field{"down", func(n *node) { down = n }},
	)
	r.fields(n, "a path", both)
	r.way("up", up, &r.upQueue, &r.path.Up)
	r.way("down", down, &r.downQueue, &r.path.Down)
	r.checkMTUs()
	r.checkQueues()
}

func (r *pathReader) way(name string, n *node, queue *place, w *lab.Way) {
	if n == nil {
		return
	}
	var delay place
	r.fields(n, name, r.wayFields(&delay, queue, func(set func(*lab.Way)) { set(w) }))
}

// wayFields are the words that hold for a direction, or for both.
func (r *pathReader) wayFields(delay, queue *place, apply func(func(*lab.Way))) []field {
	return []field{
		{"delay", func(n *node) {
			r.delayOnce(n, delay)
			read(r.text, "delay", lab.ParseDelay, func(d time.Duration) { apply(func(w *lab.Way) { w.Delay = d }) })(n)
		}},
		{"rate", read(r.text, "rate", lab.ParseRate, func(v lab.Rate) { apply(func(w *lab.Way) { w.Rate = v }) })},
		{"loss", read(r.text, "loss", lab.ParseShare, func(p float64) { apply(func(w *lab.Way) { w.Loss = lab.Loss{Share: p} }) })},
		{"queue", func(n *node) {
			*queue = n.at
			read(r.text, "queue", lab.ParseQueue, func(q lab.Queue) { apply(func(w *lab.Way) { w.Queue = q }) })(n)
		}},
		{"mtu", func(n *node) {
			read(r.text, "mtu", parseMTU, func(mtu int) {
				r.mtus = append(r.mtus, mtuAt{mtu, n.at})
				apply(func(w *lab.Way) { w.MTU = mtu })
			})(n)
		}},
	}
}

// rtt is shared out between the directions; an odd nanosecond goes down.
func (r *pathReader) rtt(n *node) {
	r.delayOnce(n, &r.delay)
	read(r.text, "rtt", parseRTT, func(d time.Duration) {
		r.path.Up.Delay, r.path.Down.Delay = d/2, d-d/2
	})(n)
}

func (r *pathReader) delayOnce(n *node, said *place) {
	if *said != (place{}) {
		r.fault(n.at, "give rtt (both directions together) or delay (of each), not both")
	}
	*said = n.at
}

func (r *pathReader) checkMTUs() {
	for _, m := range r.mtus {
		if r.path.Family == lab.IPv6 && m.mtu < minMTU6 {
			r.fault(m.at, fmt.Sprintf("mtu: %d is too small for IPv6; must be %s", m.mtu, mtuRange))
		}
	}
}

// checkQueues refuses queues that could have no meaning: what waits, waits for
// the rate. A queue said of both directions holds where there is a rate.
func (r *pathReader) checkQueues() {
	const useless = "queue: a queue has no meaning without a rate: give a rate too, or leave it out"
	up, down := &r.path.Up, &r.path.Down
	if r.queue != (place{}) && up.Rate == 0 && down.Rate == 0 {
		r.fault(r.queue, useless)
	}
	if r.upQueue != (place{}) && up.Rate == 0 {
		r.fault(r.upQueue, useless)
	}
	if r.downQueue != (place{}) && down.Rate == 0 {
		r.fault(r.downQueue, useless)
	}
	for _, w := range []*lab.Way{up, down} {
		if w.Rate == 0 {
			w.Queue = lab.Queue{}
		}
	}
	if (up.Queue.BDP > 0 || down.Queue.BDP > 0) && r.path.RTT() == 0 {
		at := r.queue
		for _, p := range []place{r.upQueue, r.downQueue} {
			if p != (place{}) {
				at = p
			}
		}
		r.fault(at, "queue: a bandwidth-delay product needs a delay: give an rtt, or the queue in packets (100p) or bytes (64kB)")
	}
}

func parseRTT(s string) (time.Duration, error) {
	d, err := lab.ParseDuration(s)
	if err != nil {
		return 0, err
	}
	if d < 0 || d > 2*lab.MaxDelay {
		return 0, fmt.Errorf("duration %q: must be from 0 to %s", s, 2*lab.MaxDelay)
	}
	return d, nil
}

func parseFamily(s string) (lab.Family, error) {
	switch f := lab.Family(s); f {
	case lab.IPv4:
		return "", nil // the zero value, so that equal paths are equal values
	case lab.IPv6:
		return f, nil
	}
	return "", errors.New(notKnown(s, []string{string(lab.IPv4), string(lab.IPv6)}))
}

func parseMTU(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < minMTU4 || n > maxMTU {
		return 0, fmt.Errorf("%q: must be %s", s, mtuRange)
	}
	return n, nil
}

// FormatPath writes a path, without its name, as ParsePath reads it. What is
// the same in both directions stands outside up{…} and down{…}.
func FormatPath(p lab.Path) string {
	var words []string
	up, down, both := p.Up, p.Down, lab.Way{}
	split := up.Delay != p.RTT()/2
	if !split {
		words = append(words, "rtt "+p.RTT().String())
	}
	share(&both.Rate, &up.Rate, &down.Rate)
	share(&both.Loss, &up.Loss, &down.Loss)
	share(&both.Queue, &up.Queue, &down.Queue)
	share(&both.MTU, &up.MTU, &down.MTU)
	words = append(words, formatWay(both, false)...)
	if p.Family == lab.IPv6 {
		words = append(words, "family ipv6")
	}
	if w := formatWay(up, split); len(w) > 0 {
		words = append(words, "up{"+strings.Join(w, " ")+"}")
	}
	if w := formatWay(down, split); len(w) > 0 {
		words = append(words, "down{"+strings.Join(w, " ")+"}")
	}
	return strings.Join(words, " ")
}

// share moves what is the same in both directions out of them.
func share[T comparable](both, up, down *T) {
	if *up == *down {
		var zero T
		*both, *up, *down = *up, zero, zero
	}
}

func formatWay(w lab.Way, delay bool) (words []string) {
	if delay {
		words = append(words, "delay "+w.Delay.String())
	}
	if w.Rate != 0 {
		words = append(words, "rate "+w.Rate.String())
	}
	if w.Loss.Share != 0 {
		words = append(words, "loss "+formatShare(w.Loss.Share))
	}
	if w.Queue != (lab.Queue{}) {
		words = append(words, "queue "+w.Queue.String())
	}
	if w.MTU != 0 {
		words = append(words, "mtu "+strconv.Itoa(w.MTU))
	}
	return words
}

// formatShare writes a share so that lab.ParseShare gives the same number
// back: shortly where that does, with all digits where it does not.
func formatShare(p float64) string {
	short := lab.FormatShare(p)
	if back, err := lab.ParseShare(short); err == nil && back == p {
		return short
	}
	v := p * 100
	for _, near := range []float64{v, math.Nextafter(v, 0), math.Nextafter(v, 200)} {
		if near/100 == p {
			v = near
			break
		}
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + "%"
}
