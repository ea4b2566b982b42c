package gauge

import (
	"context"
	"fmt"
	"math"
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

	started time.Time // about when the path's own clock started
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
	s := &session{Job: j, lab: l, wire: w, say: say, started: time.Now()}
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
		{MarksPart, "marks", s.marks, true},
		{OrderPart, "order", s.order, true},
		{CorruptionPart, "corruption", s.corruption, true},
		{RatePart, "rate", s.rates, false},
		{MTUPart, "MTU", s.mtus, false},
		{RebindingPart, "rebinding", s.rebinding, true},
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
	if j.Quick { // it leaves out what it says that it leaves out
		return s.checks, nil
	}
	return complete(j.Path, s.checks), nil
}

func (s *session) ends(d lab.Direction) (from, to *socket) {
	if d == lab.Up {
		return s.wire.client, s.wire.server
	}
	return s.wire.server, s.wire.client
}

// ipSize is the IP size of a datagram with a payload.
func (s *session) ipSize(payload int) int { return payload + s.wire.client.header() }

// bothWays measures both directions at the same time.
func (s *session) bothWays(measure func(lab.Direction) ([]Check, error)) error {
	var checks [2][]Check
	one := func(d lab.Direction) func() error {
		return func() (err error) {
			checks[d], err = measure(d)
			return err
		}
	}
	err := together(one(lab.Up), one(lab.Down))
	s.checks = append(append(s.checks, checks[lab.Up]...), checks[lab.Down]...)
	return err
}

// obstacle says why series of datagrams say nothing about a direction; empty:
// they do.
func (s *session) obstacle(d lab.Direction) string {
	within := time.Hour
	if s.Quick {
		within = 5 * time.Second
	}
	if why := obstacle(s.Path.Way(d)); why != "" || d == lab.Up || !rebinds(s.Path, within) {
		return why
	}
	return translated
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
	if !s.Quick && (delayGrid(s.Path.Up).varies() || delayGrid(s.Path.Down).varies()) {
		n = max(n, 10*fewest)
	}
	tail := tailOf(s.Path.Up) + tailOf(s.Path.Down) + 2*time.Duration(n/1000)*time.Millisecond
	if tail > longestWait || time.Duration(n)*every > longestWait {
		for _, d := range directions() {
			s.checks = append(s.checks, unchecked(Delay, d.String(), "s", delayGrid(s.Path.Way(d)).quantile(0.5),
				math.NaN(), 0, "the path is too slow for a check of half a minute"))
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
		return append(checks, judgeReturn(s.Path, size, e.sent, len(e.up), e.down)...), nil
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

// losses measures loss, and with small datagrams duplicates too.
func (s *session) losses(f form) error {
	return s.bothWays(func(d lab.Direction) ([]Check, error) { return s.loss(d, f) })
}

func (s *session) loss(d lab.Direction, f form) ([]Check, error) {
	w := s.Path.Way(d)
	share, run := f.names()
	t := s.train(w, f)
	if why := s.obstacle(d); why != "" && w.Rules == "" {
		return []Check{unchecked(share, d.String(), "1", w.Loss.Mean(), math.NaN(), 0, why)}, nil
	}
	if f == joined && t.joined < 2 {
		return []Check{unchecked(share, d.String(), "1", w.Loss.Mean(), math.NaN(), 0, "the path has no room for a super-packet")}, nil
	}
	series, err := s.undisturbed(d, t)
	if f == joined && noOffload(err) {
		return []Check{unchecked(share, d.String(), "1", w.Loss.Mean(), math.NaN(), 0,
			"this kernel has no UDP segmentation offload on such a device: "+err.Error())}, nil
	}
	if err != nil {
		return nil, err
	}
	m := lossOf(w, s.Path.Family, s.ipSize(t.payload), t.joined)
	checks := judgeLoss(d, w, m, share, run, series)
	if f == small {
		checks = append(checks, judgeCopies(d, w, m, series))
		checks = append(checks, judgeCopiesNext(d, w, series)...)
		checks = append(checks, judgeAlteredNext(d, w, series)...)
		checks = append(checks, judgeJitterNext(d, w, series)...)
		if (lab.Path{Up: w, Down: w}).InOrder() {
			checks = append(checks, judgeOrder(d, w, s.ipSize(t.payload), series, nil))
		}
	}
	s.altered[d] += series.altered
	s.checked[d] += series.count()
	return checks, nil
}

// order measures reordering, where the path reorders, with datagrams at the
// spacing at which it shows.
func (s *session) order() error {
	return s.bothWays(func(d lab.Direction) ([]Check, error) {
		w := s.Path.Way(d)
		if (lab.Path{Up: w, Down: w}).InOrder() {
			return nil, nil
		}
		if why := s.obstacle(d); why != "" {
			return []Check{unchecked(Reordered, d.String(), "1", math.NaN(), math.NaN(), 0, why)}, nil
		}
		t := s.train(w, small)
		t.every = max(t.every, mixing(w))
		t.n = max(numberIn(s.span(), t.every), fewest)
		series, err := s.undisturbed(d, t)
		if err != nil {
			return nil, err
		}
		checks := []Check{judgeOrder(d, w, s.ipSize(t.payload), series, rand.New(rand.NewPCG(s.Seed, uint64(d))))}
		if c, ok := judgeUndelayed(d, w, s.ipSize(t.payload), series); ok {
			checks = append(checks, c, judgeUndelayedNext(d, w, s.ipSize(t.payload), series))
		}
		return checks, nil
	})
}

// train is one that measures loss.
func (s *session) train(w lab.Way, f form) train {
	t := train{payload: smallPayload, tail: tailOf(w), copies: w.Duplicate.Share > 0}
	least := 100 * time.Microsecond
	switch f {
	case full:
		t.payload = leastMTU(w) - s.wire.client.header()
	case joined:
		t.joined = min(joinedCount, roomAtOnce(s.Path, w, s.ipSize(t.payload)))
		if t.joined > 3 { // a late one must find room beside the next
			t.joined = max(min(t.joined, roomAtOnce(s.Path, w, s.ipSize(t.payload))/2), 2)
		}
		least *= joinedCount / 2
	}
	count := max(t.joined, 1)
	t.every = spacing(w, s.ipSize(t.payload)*count, least)
	if throttled(w, lab.UDP) || w.Limit > 0 || w.Rate > 0 {
		t.every = max(t.every, spacing(w, s.ipSize(t.payload), 0)*time.Duration(count))
	}
	t.every = max(t.every, unhurried(roomAtOnce(s.Path, w, s.ipSize(t.payload)), count))
	t.n = min(max(numberIn(s.span(), t.every), fewest)*count, mostProbes)
	return t
}

// undisturbed runs a train until nothing of it was lost but by the path, each
// time at half the pace.
func (s *session) undisturbed(d lab.Direction, t train) (series *series, err error) {
	from, to := s.ends(d)
	for range attempts {
		lost, unseen, overflowed := s.lab.lost(d), s.lab.unseen(d), s.lab.overflowed(d, s.Path.Way(d))
		series, err = t.run(from, to)
		if err != nil {
			return nil, err
		}
		series.spoilt, series.unseen = s.lab.lost(d)-lost, s.lab.unseen(d)-unseen
		series.overflow = s.lab.overflowed(d, s.Path.Way(d)) - overflowed
		series.spoilt = max(series.spoilt-refused(s.Path.Way(d), s.ipSize(t.payload), t.n), 0)
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
		if w.Corrupt.Share > 0 && s.obstacle(d) == "" {
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
func (s *session) mtus() error { return s.bothWays(s.mtu) }

func (s *session) mtu(d lab.Direction) ([]Check, error) {
	w := s.Path.Way(d)
	patience := 10 * time.Second
	if s.Quick {
		patience = time.Second
	}
	asked, wait, why := askedMTU(w, time.Since(s.started), patience)
	if s.Quick && wait > 0 {
		why = "it shrinks while it would be measured"
	}
	if why == "" && s.obstacle(d) == translated {
		why = translated
	}
	if why == "" && w.Rules == "" {
		why = firstOf(mtuObstacle(w), swallows(w, asked))
	}
	if why != "" {
		return []Check{unchecked(MTU, d.String(), "B", float64(mtu(w)), math.NaN(), 0, why)}, nil
	}
	time.Sleep(wait)
	f, err := s.findMTU(d, w, asked)
	if err != nil {
		return nil, err
	}
	if w.Rules != "" { // they may well drop by size
		return []Check{unchecked(MTU, d.String(), "B", float64(asked), float64(f.mtu), 1, mtuObstacle(w))}, nil
	}
	return judgeMTU(d, s.Path.Family, w, asked, f), nil
}

func (s *session) findMTU(d lab.Direction, w lab.Way, asked int) (f mtuFinding, err error) {
	from, to := s.ends(d)
	p := prober{from: from, to: to, copies: copiesAgainst(w), tail: tailOf(w)}
	p.every = max(20*time.Millisecond/time.Duration(1+p.copies/4), spacing(w, w.DeviceMTU(), 2*time.Millisecond))
	if w.Rate > 0 { // the largest packet takes its time
		p.tail += time.Duration(float64(2*w.DeviceMTU()*8) / float64(w.Rate) * float64(time.Second))
	}
	for range attempts {
		if s.Quick {
			f, err = p.quick(asked)
		} else {
			f, err = p.search(w.DeviceMTU())
		}
		if err != nil || f.mtu == asked || w.Rules != "" {
			break
		}
	}
	return f, err
}
