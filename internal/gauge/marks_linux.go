package gauge

import "github.com/samewire/samewire/internal/lab"

// marks measures which datagrams that understand ECN are marked, where chance
// loses or marks.
func (s *session) marks() error {
	return s.bothWays(func(d lab.Direction) ([]Check, error) {
		w := s.Path.Way(d)
		if w.Loss == (lab.Loss{}) || s.obstacle(d) != "" {
			return nil, nil
		}
		t := s.train(w, small)
		t.ect = true
		series, err := s.undisturbed(d, t)
		if err != nil {
			return nil, err
		}
		return []Check{judgeMarked(d, w, lossOf(w, s.Path.Family, s.ipSize(t.payload), 1), series)}, nil
	})
}
