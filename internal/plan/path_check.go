package plan

import (
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

// check finds what contradicts itself in a direction. A word whose value is a
// fault already contradicts nothing.
func (r *pathReader) check(w *wayReader) {
	w.checkDelay()
	w.checkRate()
	w.checkQueue(r.path)
	w.checkReorder()
	w.checkMTU(r.path.Family)
}

// at faults the value of a word.
func (w *wayReader) at(word, format string, args ...any) {
	if s, ok := w.find(word); ok {
		w.fault(s.value.at, word+": "+fmt.Sprintf(format, args...))
	}
}

func (w *wayReader) checkDelay() {
	j := w.way.Jitter
	if _, ok := w.find(rttWord); ok {
		w.at("delay", "give rtt (both directions together) or delay (of each), not both")
	}
	if s, ok := w.find("delay"); ok && w.has("jitter") && len(parts(s.value.text)) > 1 && s.outer == w.outer("jitter") {
		w.at("jitter", "delay has a jitter already: give it there or here, not both")
	}
	if !w.has("distribution") || w.bad["jitter"] || w.bad["delay"] {
		return
	}
	if j.Spread == 0 {
		w.at("distribution", "it has no meaning without a jitter: give a jitter too, or leave it out")
	}
	if s, ok := w.find("jitter"); ok && saysDistribution(s.value.text) {
		w.at("distribution", "jitter has a distribution already: give it there or here, not both")
	}
}

// outer says whether a word stands outside up{…} and down{…}.
func (w *wayReader) outer(word string) bool {
	s, ok := w.find(word)
	return ok && s.outer
}

func saysDistribution(jitter string) bool {
	for _, p := range parts(jitter) {
		if p == "uniform" || p == "normal" || p == "pareto" {
			return true
		}
	}
	return false
}

func (w *wayReader) checkRate() {
	_, rate := w.find("rate")
	_, trace := w.find(traceWord)
	if rate && trace {
		w.at(traceWord, "give a rate or a trace, not both")
		return
	}
	if !w.limited() {
		for _, word := range lab.Words() {
			if word.Rate && w.has(word.Name) && word.Text(w.way) != "" || word.Name == "queue" && w.has("queue") {
				w.at(word.Name, "it has no meaning without a rate: give a rate too, or leave it out")
			}
		}
		return
	}
	if trace {
		for _, word := range []string{"burst", "police"} {
			if w.has(word) && (w.way.Burst > 0 || w.way.Police) {
				w.at(word, "a token bucket needs a rate, not a trace: give a rate instead of the trace, or leave %s out", word)
			}
		}
		return
	}
	if w.way.Police && w.way.Burst == 0 && !w.bad["burst"] {
		w.at("police", "it needs a burst, the bytes that may pass at once: give a burst too, such as burst 15kB")
	}
}

func (w *wayReader) checkQueue(p lab.Path) {
	if !w.has("queue") || !w.limited() {
		return
	}
	if w.way.Police {
		w.at("queue", "with police nothing waits: give police or a queue, not both")
	}
	if w.way.Queue.BDP == 0 {
		return
	}
	if p.RTT() == 0 && !w.bad["delay"] && !w.bad[rttWord] {
		w.at("queue", "a bandwidth-delay product needs a delay: give an rtt, or the queue in packets (100p), bytes (64kB) or time (50ms)")
	}
}

func (w *wayReader) checkReorder() {
	if !w.has("reorder") || w.way.Reorder == (lab.Reorder{}) {
		return
	}
	if w.way.Delay == 0 && !w.bad["delay"] && !w.bad[rttWord] {
		w.at("reorder", "it has no meaning without a delay (netem refuses it too): give an rtt or a delay, or leave it out")
	}
	if w.way.Jitter.InOrder {
		w.at("reorder", "the jitter is in-order, so that no packet may overtake: leave in-order out, or reorder")
	}
}

func (w *wayReader) checkMTU(family lab.Family) {
	if family != lab.IPv6 || !w.has("mtu") {
		return
	}
	for _, mtu := range []int{w.way.MTU, w.way.Shrink.MTU} {
		if mtu != 0 && mtu < lab.MinMTU6 {
			w.at("mtu", "%d is too small for IPv6: must be from %d to %d bytes", mtu, lab.MinMTU6, lab.MaxMTU)
		}
	}
}
