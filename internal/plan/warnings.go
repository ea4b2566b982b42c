package plan

import (
	"fmt"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

const (
	// internetMTU is the largest packet that any usual network carries: a jumbo
	// frame's.
	internetMTU = 9000
	// smallQueue is the share of a bandwidth-delay product below which a queue is
	// told to be small: one flow of Reno needs 1, of CUBIC 0.43 ((1-β)/β with
	// the β of RFC 9438), several flows together less.
	smallQueue = 0.1
)

// Warnings says what should be known of a path before a study starts: limits
// that cap the rate, queues that cannot hold what the path needs, and what is
// not as on the internet or not the same on every site. None of it is a fault.
func Warnings(p lab.Path) (out []string) {
	up, down := wayWarnings(p, p.Up), wayWarnings(p, p.Down)
	for _, w := range up {
		out = append(out, fmt.Sprintf("path %s, %s: %s", p.Name, where(w, down, "up"), w))
	}
	for _, w := range down {
		if where(w, up, "") == "" {
			out = append(out, fmt.Sprintf("path %s, down: %s", p.Name, w))
		}
	}
	return out
}

// where says in which directions a warning holds that one of them has.
func where(warning string, other []string, one string) string {
	for _, o := range other {
		if o == warning {
			return "both directions"
		}
	}
	return one
}

func wayWarnings(p lab.Path, w lab.Way) (out []string) {
	for _, s := range []string{capWarning(w), queueWarning(p, w), policeWarning(w), mtuWarning(w), orderWarning(w), outageWarning(w), superWarning(w)} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// capWarning: netem's limit counts what is under way, so that no more than the
// limit can pass in one delay, whatever the rate is.
func capWarning(w lab.Way) string {
	if w.Limit == 0 || w.Delay == 0 {
		return ""
	}
	most := lab.Rate(float64(w.Limit) * lab.DefaultMTU * 8 / w.Delay.Seconds())
	rate, name := meanRate(w)
	if rate > 0 && most >= rate {
		return ""
	}
	of := "there is no other limit of rate"
	if rate > 0 {
		of = name + " is " + round(rate)
	}
	return fmt.Sprintf("limit %d caps the rate at about %s (%d packets of %d B in a delay of %s; netem's limit counts those under way); %s",
		w.Limit, round(most), w.Limit, lab.DefaultMTU, lab.FormatDuration(w.Delay), of)
}

func queueWarning(p lab.Path, w lab.Way) string {
	rate, _ := meanRate(w)
	if rate == 0 || w.Police || w.AQM != (lab.AQM{}) {
		return ""
	}
	bdp := carried(rate, p.RTT())
	holds := queueBytes(w, p.RTT())
	if float64(holds) >= smallQueue*float64(bdp) {
		return ""
	}
	return fmt.Sprintf("the queue (%s) holds %s, which is %.2g of the %s that fill the path (%s × %s): one connection cannot keep the rate",
		w.Queue, size(holds), float64(holds)/float64(bdp), size(bdp), round(rate), lab.FormatDuration(p.RTT()))
}

func policeWarning(w lab.Way) string {
	if !w.Police || w.Burst >= int64(w.DeviceMTU()) {
		return ""
	}
	return fmt.Sprintf("a packet of more than %s never passes the policer: its bucket (burst) holds no more", lab.FormatSize(w.Burst))
}

func mtuWarning(w lab.Way) string {
	if w.MTU <= internetMTU {
		return ""
	}
	return fmt.Sprintf("an MTU of %d is no internet MTU (above %d): results say nothing about the internet", w.MTU, internetMTU)
}

func orderWarning(w lab.Way) string {
	if w.Reorder == (lab.Reorder{}) && (w.Jitter == (lab.Jitter{}) || w.Jitter.InOrder) {
		return ""
	}
	return "packets overtake each other: on the site virtual TCP (h1, h2) is not comparable then, for its stack takes reordering for loss"
}

func outageWarning(w lab.Way) string {
	if !w.Outages() {
		return ""
	}
	return "an outage: on the site virtual TCP (h1, h2) is not comparable then, for its stack needs a timeout for each segment that was lost"
}

func superWarning(w lab.Way) string {
	if !w.Loss.Super {
		return ""
	}
	return "loss for each super-packet needs segmentation offload, which only the site kernel has; on the others it is the same as for each packet"
}

// meanRate is the rate of a way, of a trace its mean; 0 is no limit. name is
// what a sentence calls it.
func meanRate(w lab.Way) (rate lab.Rate, name string) {
	if w.Trace == (lab.Trace{}) {
		return w.Rate, "the rate"
	}
	mean, err := w.Trace.Mean()
	if err != nil {
		return 0, "" // its faults were told when it was read
	}
	return mean, "the trace's mean rate"
}

// carried is what a rate carries in a time, in bytes.
func carried(rate lab.Rate, t time.Duration) int64 {
	return int64(float64(rate) / 8 * t.Seconds())
}

// queueBytes is about what a queue holds, with packets of full size.
func queueBytes(w lab.Way, rtt time.Duration) int64 {
	rate, _ := meanRate(w)
	switch q := w.Queue; {
	case q.Bytes > 0:
		return q.Bytes
	case q.BDP > 0:
		return int64(q.BDP * float64(carried(rate, rtt)))
	case q.Time > 0:
		return carried(rate, q.Time)
	case q.Packets > 0:
		return int64(q.Packets) * lab.DefaultMTU
	}
	return lab.DefaultQueue * lab.DefaultMTU
}
