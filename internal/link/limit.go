package link

import "time"

// underWay counts the packets of a direction for netem's limit: those that wait
// for the rate, and those that are due later. It goes by the times of the model:
// a packet that is due does not count, even if the caller has not yet taken it
// out.
type underWay struct {
	limit int
	count uint64
	due   line[struct{}]
	held  int // packets that the sender has taken and not yet given out
}

func newUnderWay(limit int) *underWay {
	u := &underWay{limit: limit}
	u.due.count = &u.count
	return u
}

// full says that no further packet may come in at time now.
func (u *underWay) full(now time.Duration) bool {
	for {
		if _, _, ok := u.due.Pop(now); !ok {
			return u.due.Len()+u.held >= u.limit
		}
	}
}
