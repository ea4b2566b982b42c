package gauge

import "time"

// rebindPatience is how long a check waits for an address translation to act.
const rebindPatience = 10 * time.Second

// rebindMargin is how much later than asked the path may act, as this clock sees
// it.
const rebindMargin = 100 * time.Millisecond

// rebinding measures whether the client's address or port changes as the server
// sees it: over all that was sent where it should not, or once; otherwise over a
// train of its own.
func (s *session) rebinding() error {
	r, server := s.Path.Rebind, s.wire.server
	before := 0
	var span time.Duration
	var err error
	switch since := time.Since(s.started); {
	case !rebindsUDP(r):
	case 2*r.Every > rebindPatience, r.At > since+rebindPatience, r.At == 0 && r.Every == 0 && r.Idle > rebindPatience/(2*idleRounds):
		s.checks = append(s.checks, unchecked(Rebound, Both, "changes", 1, 0, 0, "it happens later than this check waits"))
		return nil
	case r.Every > 0:
		time.Sleep(max(max(r.At, r.Every)-since, 0) + rebindMargin)
		before = len(server.moves)
		span, err = s.knock(max(3*r.Every, s.span()/2), r.Every/10)
	case r.At > 0:
		time.Sleep(max(r.At-since, 0) + rebindMargin)
		_, err = s.knock(0, 0)
	default:
		err = s.pauses(r.Idle, &before)
	}
	if err != nil {
		return err
	}
	seen := sightings{span: span, datagrams: server.sights}
	for _, address := range server.moves[before:] {
		if address {
			seen.addresses++
		} else {
			seen.ports++
		}
	}
	s.checks = append(s.checks, judgeRebind(r, seen))
	return nil
}

// knock sends small datagrams up the path over a span, at most every so often,
// and enough of them for one to arrive. It returns how long it took.
func (s *session) knock(span, every time.Duration) (time.Duration, error) {
	w := s.Path.Up
	t := train{payload: smallPayload, tail: tailOf(w), copies: w.Duplicate.Share > 0}
	t.every = max(min(every, 20*time.Millisecond), spacing(w, s.ipSize(smallPayload), time.Millisecond))
	t.n = max(numberIn(span, t.every)+1, copiesAgainst(w))
	series, err := t.run(s.wire.client, s.wire.server)
	if err != nil {
		return 0, err
	}
	return time.Duration(series.sent[t.n-1] - series.sent[0]), nil
}

// pauses leaves the path idle between knocks, and notes how many moves there were
// after the first.
func (s *session) pauses(idle time.Duration, before *int) error {
	for i := range idleRounds {
		if i > 0 {
			time.Sleep(idle + max(idle/4, 10*time.Millisecond))
		}
		if _, err := s.knock(0, 0); err != nil {
			return err
		}
		if i == 0 {
			*before = len(s.wire.server.moves)
		}
	}
	return nil
}
