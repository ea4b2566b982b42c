package wire

import (
	"time"

	"github.com/samewire/samewire/internal/wire/quic"
)

// credit walks along a half's packets, knowing at each how much the receiver
// had allowed.
type credit struct {
	h       *half
	known   int              // how many of Credit had reached the sender
	stream  map[uint64]int64 // limits of streams that were raised
	first   int64            // the limit of the others; 0: not known
	most    int64            // the highest limit of any stream; 0: not known
	data    int64            // HTTP/2's limit of the connection; 0: none, or not known
	sent    map[uint64]int64 // QUIC: the highest offset of each stream
	limit   int64            // TCP's window, or QUIC's of the connection; 0: not known
	highest int64            // TCP: the highest offset; QUIC: the sum of sent
}

func (h *half) newCredit() *credit {
	return &credit{h: h, stream: map[uint64]int64{}, sent: map[uint64]int64{}}
}

func (c *credit) advance(now time.Duration) {
	list := c.h.c.Credit[c.h.d]
	for ; c.known < len(list) && list[c.known].At <= now; c.known++ {
		switch g := &list[c.known]; g.Kind {
		case "window":
			c.limit = max(c.limit, g.Max)
		case "data":
			if c.h.quic {
				c.limit = max(c.limit, g.Max)
			} else {
				c.data = max(c.data, g.Max)
			}
		case "stream":
			c.stream[g.Stream] = max(c.stream[g.Stream], g.Max)
			c.most = max(c.most, g.Max)
		case "streams at first":
			c.first = max(c.first, g.Max)
			c.most = max(c.most, g.Max)
		}
	}
}

// send notes that the ith of sent was sent, and says whether it left less room
// than a full packet needs, so that nothing more could follow.
func (c *credit) send(i int) (tight bool) {
	if !c.h.quic {
		c.highest = max(c.highest, c.h.end(i))
		return c.limit == 0 || c.beyond(c.limit) || c.data > 0 && c.beyond(c.data) || c.most > 0 && c.beyond(c.most)
	}
	p := c.h.packet(i)
	if p == nil {
		return true
	}
	for k := range p.Frames {
		switch f := &p.Frames[k]; f.Kind {
		case quic.DataBlocked, quic.StreamDataBlocked:
			tight = true
		case quic.Stream:
			if end := int64(f.Offset) + int64(f.Length); end > c.sent[f.Stream] {
				c.highest += end - c.sent[f.Stream]
				c.sent[f.Stream] = end
			}
			limit := max(c.stream[f.Stream], c.first)
			tight = tight || limit > 0 && limit-c.sent[f.Stream] < int64(c.h.full)
		}
	}
	return tight || c.limit == 0 || c.beyond(c.limit)
}

// beyond says whether a limit leaves less room than a full packet. HTTP/2's
// limits count less than TCP's bytes, so that a sender may be taken for one
// without credit that had some, but never the other way round.
func (c *credit) beyond(limit int64) bool { return limit-c.highest < int64(c.h.full) }

// lacksCredit says whether what was sent before the ith of sent had used up the
// credit that was known right before time at.
func (h *half) lacksCredit(i int, at time.Duration) bool {
	c := h.newCredit()
	tight := false
	for k := range i {
		c.advance(h.at(k))
		tight = c.send(k)
	}
	if tight {
		c.advance(at - 1)
		tight = c.send(i - 1)
	}
	return tight
}
