package gauge

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// attempts is how often a measurement of time is made until it holds: others
// may use the machine, and only ever make it worse.
const attempts = 3

// session is one job on one lab.
type session struct {
	Job
	lab  Lab
	wire *wire
	say  func(string)

	checks  []Check
	altered [2]int // arrivals with altered content in spite of checksums, by direction
	checked [2]int // datagrams sent with checksums
}

// Packets measures what the path does to packets: all but TCP. say is told what
// is being done; nil: nobody. What was measured until ctx ended is lost.
func Packets(ctx context.Context, l Lab, j Job, say func(string)) ([]Check, error) {
	if say == nil {
		say = func(string) {}
	}
	w, err := newWire(l)
	if err != nil {
		return nil, err
	}
	defer w.close()
	s := &session{Job: j, lab: l, wire: w, say: say}
	steps := []struct {
		part Part
		what string
		do   func() error
		full bool // not in the quick form
	}{
		{DelayPart, "delay", s.delays, false},
		{LossPart, "loss, one datagram at a time", func() error { return s.losses(small) }, true},
		{LossPart, "loss, full datagrams", func() error { return s.losses(full) }, true},
		{LossPart, "loss, with segmentation offload", func() error { return s.losses(joined) }, true},
		{CorruptionPart, "corruption", s.corruption, true},
		{RatePart, "rate", s.rates, false},
		{MTUPart, "MTU", s.mtus, false},
	}
	time.Sleep(20 * time.Millisecond) // the kernel begins to stamp arrivals a while after it was asked to
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if step.full && j.Quick || !j.has(step.part) {
			continue
		}
		say(step.what)
		if err := step.do(); err != nil {
			return nil, fmt.Errorf("measure %s: %w", step.what, err)
		}
	}
	return s.checks, nil
}

func (s *session) ends(d lab.Direction) (from, to *socket) {
	if d == lab.Up {
		return s.wire.client, s.wire.server
	}
	return s.wire.server, s.wire.client
}

// ipSize is the IP size of a datagram with a payload.
func (s *session) ipSize(payload int) int { return payload + s.wire.client.header() }

// eachWay carries out f for both directions at the same time.
func eachWay(f func(lab.Direction) error) error {
	return together(func() error { return f(lab.Up) }, func() error { return f(lab.Down) })
}

// best carries out a measurement of time until all its checks hold, and keeps
// the last one's.
func (s *session) best(measure func() ([]Check, error)) error {
	for i := range attempts {
		checks, err := measure()
		if err != nil {
			return err
		}
		if len(Failed(checks)) > 0 && i+1 < attempts {
			continue
		}
		for j := range checks {
			if i > 0 && checks[j].State != Unchecked {
				checks[j].Note = fmt.Sprintf("attempt %d; ", i+1) + checks[j].Note
			}
		}
		s.checks = append(s.checks, checks...)
		return nil
	}
	return nil
}

// delays measures round trips, delays and jitter: probes go there and back, far
// enough from each other not to meet.
func (s *session) delays() error {
	size := s.ipSize(smallPayload)
	least := 2 * time.Millisecond
	every := max(spacing(s.Path.Up, size, least), spacing(s.Path.Down, size, least), apart(s.Path.Up), apart(s.Path.Down))
	n := max(numberIn(s.span(), every), 2*fewest)
	tail := tailOf(s.Path.Up) + tailOf(s.Path.Down) + 2*time.Duration(n/1000)*time.Millisecond
	if tail > longestWait || time.Duration(n)*every > longestWait {
		for _, d := range directions() {
			s.checks = append(s.checks, unchecked(Delay, d.String(), "s", delayGrid(s.Path.Way(d)).quantile(0.5),
				0, 0, "the path is too slow for a check of half a minute"))
		}
		return nil
	}
	return s.best(func() ([]Check, error) {
		e, err := s.wire.echo(n, every, tail)
		if err != nil {
			return nil, err
		}
		checks := []Check{judgeRTT(s.Path, size, e.sent, e.both)}
		checks = append(checks, judgeDelay(lab.Up, s.Path.Up, size, e.sent, e.up)...)
		return append(checks, judgeDelay(lab.Down, s.Path.Down, size, len(e.up), e.down)...), nil
	})
}

// form is how datagrams are sent to measure loss.
type form int

const (
	small  form = iota // one by one
	full               // one by one, as large as may be
	joined             // several in a super-packet
)

// joinedCount is how many datagrams make a super-packet.
const joinedCount = 8

func (f form) names() (share, run string) {
	switch f {
	case full:
		return LossShareFull, LossRunFull
	case joined:
		return LossShareJoined, LossRunJoined
	default:
		return LossShare, LossRun
	}
}

// losses measures loss, and with small datagrams reordering and duplicates too.
func (s *session) losses(f form) error {
	var checks [2][]Check
	err := eachWay(func(d lab.Direction) (err error) {
		checks[d], err = s.loss(d, f)
		return err
	})
	s.checks = append(append(s.checks, checks[lab.Up]...), checks[lab.Down]...)
	return err
}

func (s *session) loss(d lab.Direction, f form) ([]Check, error) {
	w := s.Path.Way(d)
	share, run := f.names()
	t := s.train(w, f)
	if why := obstacle(w); why != "" {
		return []Check{unchecked(share, d.String(), "1", w.Loss.Mean(), 0, 0, why)}, nil
	}
	series, err := s.undisturbed(d, t)
	if f == joined && noOffload(err) {
		return []Check{unchecked(share, d.String(), "1", w.Loss.Mean(), 0, 0,
			"this kernel has no UDP segmentation offload on such a device: "+err.Error())}, nil
	}
	if err != nil {
		return nil, err
	}
	m := lossOf(w, s.Path.Family, s.ipSize(t.payload), t.joined)
	checks := judgeLoss(d, w, m, share, run, series)
	if f == small {
		r := rand.New(rand.NewPCG(s.Seed, uint64(d)))
		checks = append(checks, judgeOrder(d, w, series, r), judgeCopies(d, w, m, series))
	}
	s.altered[d] += series.altered
	s.checked[d] += series.count()
	return checks, nil
}

// train is one that measures loss.
func (s *session) train(w lab.Way, f form) train {
	t := train{payload: smallPayload, tail: tailOf(w), copies: w.Duplicate.Share > 0}
	least := 100 * time.Microsecond
	switch f {
	case full:
		t.payload = leastMTU(w) - s.wire.client.header()
	case joined:
		t.joined = joinedCount
		least *= joinedCount / 2
	}
	count := max(t.joined, 1)
	t.every = spacing(w, s.ipSize(t.payload)*count, least)
	if throttled(w, lab.UDP) || w.Limit > 0 || w.Rate > 0 {
		t.every = max(t.every, spacing(w, s.ipSize(t.payload), 0)*time.Duration(count))
	}
	t.n = min(max(numberIn(s.span(), t.every), fewest)*count, mostProbes)
	return t
}

// undisturbed runs a train until nothing of it was lost but by the path, each
// time at half the pace.
func (s *session) undisturbed(d lab.Direction, t train) (series *series, err error) {
	from, to := s.ends(d)
	for range attempts {
		before := s.lab.lost(d)
		series, err = t.run(from, to)
		if err != nil {
			return nil, err
		}
		series.spoilt = s.lab.lost(d) - before
		if disturbed(series) == "" {
			break
		}
		t.every *= 2
		t.n = max(t.n/2, fewest)
	}
	return series, nil
}

// corruption measures altered content, where the path alters any.
func (s *session) corruption() error {
	for _, d := range directions() {
		w := s.Path.Way(d)
		t := s.train(w, full)
		t.open, t.copies = true, true
		var open *series
		if w.Corrupt.Share > 0 && obstacle(w) == "" {
			var err error
			if open, err = s.undisturbed(d, t); err != nil {
				return err
			}
		}
		s.checks = append(s.checks,
			judgeAltered(d, w, s.ipSize(t.payload), s.wire.client.header(), open, s.altered[d], s.checked[d])...)
	}
	return nil
}

// mtus measures the largest packets.
func (s *session) mtus() error {
	var checks [2][]Check
	err := eachWay(func(d lab.Direction) (err error) {
		checks[d], err = s.mtu(d)
		return err
	})
	s.checks = append(append(s.checks, checks[lab.Up]...), checks[lab.Down]...)
	return err
}

func (s *session) mtu(d lab.Direction) ([]Check, error) {
	w := s.Path.Way(d)
	if why := mtuObstacle(w); why != "" {
		return []Check{unchecked(MTU, d.String(), "B", float64(mtu(w)), 0, 0, why)}, nil
	}
	from, to := s.ends(d)
	p := prober{from: from, to: to, copies: copiesAgainst(w.Loss.Mean()), tail: tailOf(w)}
	if w.Rate > 0 { // the largest packet takes its time
		p.tail += time.Duration(float64(p.copies*w.DeviceMTU()*8) / float64(w.Rate) * float64(time.Second))
	}
	var f mtuFinding
	var err error
	for range attempts {
		if s.Quick {
			f, err = p.quick(mtu(w))
		} else {
			f, err = p.search(w.DeviceMTU())
		}
		if err != nil || f.mtu == mtu(w) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return judgeMTU(d, w, f), nil
}
