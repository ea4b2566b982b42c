package gauge

import (
	"errors"
	"math"
	"time"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
)

// rates measures rates, and in the long form what waits for them. The quick
// form measures both directions at once.
func (s *session) rates() error {
	if s.Quick {
		return s.bothWays(s.rate)
	}
	for _, d := range directions() {
		checks, err := s.rate(d)
		if err != nil {
			return err
		}
		s.checks = append(s.checks, checks...)
	}
	return nil
}

func (s *session) rate(d lab.Direction) ([]Check, error) {
	w := s.Path.Way(d)
	size := floodSize(w, s.Path.Family, s.span()/2)
	asked := udpRate(w, size)
	switch {
	case w.Trace == (lab.Trace{}) && math.IsInf(asked, 1):
		return nil, nil
	case s.obstacle(d) != "":
		return []Check{unchecked(Rate, d.String(), "bit/s", asked, math.NaN(), 0, s.obstacle(d))}, nil
	}
	plan, why := s.flooding(d, w, size)
	if why != "" {
		return []Check{unchecked(Rate, d.String(), "bit/s", asked, math.NaN(), 0, why)}, nil
	}
	var checks []Check
	for range attempts {
		f, err := s.flood(d, plan)
		if err != nil {
			return nil, err
		}
		checks = []Check{judgeRate(d, w, f)}
		if !s.Quick {
			checks = append(checks, judgeQueue(s.Path, d, f)...)
			if policed(w) {
				checks = append(checks, judgePassed(d, w, f))
			}
			if w.AQM != (lab.AQM{}) {
				checks = append(checks, judgeQueueMarks(d, w, f))
			}
		}
		if len(Failed(checks)) == 0 && checks[0].State == Holds && f.spoilt == 0 {
			break
		}
	}
	return checks, nil
}

// flooding plans a train that offers more than a way takes: in the long form a
// burst first that fills the queue, and then somewhat more than the rate.
func (s *session) flooding(d lab.Direction, w lab.Way, size int) (t train, why string) {
	const surplus = 1.25
	asked := udpRate(w, size) / (1 - min(w.Loss.Mean(), 0.9))
	t = train{payload: size - s.wire.client.header(), catchUp: true, tail: tailOf(w), copies: true}
	t.every = time.Duration(float64(size*8) / (asked * surplus) * float64(time.Second))
	hold := s.span() / 2
	if s.Quick {
		hold = s.span()
		t.tail -= straggle / 2
	}
	queue, waits := queueBytes(w, s.Path.RTT(), size)
	var drain float64
	if w.Rate > 0 {
		drain = queue * 8 / float64(w.Rate)
	}
	fills := bucket(w)
	if !s.Quick && waits && !policed(w) {
		if drain > (2 * s.span()).Seconds() {
			return t, "the queue takes too long to fill and drain: measure longer"
		}
		fills += int64(queue)
		t.tail += time.Duration(drain * float64(time.Second))
	} else { // what is in surplus waits
		t.tail += time.Duration(float64(hold) * (surplus - 1))
	}
	if fills > 0 {
		t.burst = min(int(overfill(w, float64(fills), size)/float64(size)/(1-min(w.Loss.Mean(), 0.9))), mostProbes/2)
	}
	if t.every < 2*time.Microsecond {
		return t, "the rate is more than one sender of datagrams can offer"
	}
	t.n = min(t.burst+numberIn(hold, t.every), mostProbes)
	return t, ""
}

// overfill is how many bytes a burst has so that a room of so many overflows, and
// so that what does not overflow is more than a queue's tolerance.
func overfill(w lab.Way, room float64, size int) float64 {
	return 1.1*room + float64(20*size) + 2*queueTolerance(w, room, size)
}

func (s *session) flood(d lab.Direction, t train) (flood, error) {
	from, to := s.ends(d)
	lost, unseen, managed := s.lab.lost(d), s.lab.unseen(d), s.lab.managed(d)
	t.ect = s.Path.Way(d).AQM != (lab.AQM{})
	series, err := t.run(from, to)
	if err != nil {
		return flood{}, err
	}
	series.spoilt, series.unseen = s.lab.lost(d)-lost, s.lab.unseen(d)-unseen
	f := flood{series: series, size: s.ipSize(t.payload), burst: t.burst, managed: s.lab.managed(d) - managed}
	if s.lab.Drops == nil {
		f.managed = total(runs(series.lost()))
	}
	return f, nil
}

// noOffload says that the kernel refused to segment datagrams.
func noOffload(err error) bool {
	return errors.Is(err, unix.EIO) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOPROTOOPT)
}
