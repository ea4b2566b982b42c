package wire

import (
	"cmp"
	"slices"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/http"
)

// h2Credit reads the flow-control credit of HTTP/2 (RFC 9113, section 5.2) off
// SETTINGS and WINDOW_UPDATE.
type h2Credit struct {
	conn *Connection
	of   [2]h2Window // of what is sent in a direction
}

// h2Window is the credit of one direction: limits, in bytes since the beginning.
type h2Window struct {
	initial int64 // of each stream
	data    int64 // of the connection
	streams map[uint64]int64
}

// maxStreams bounds the streams whose credit is followed.
const maxStreams = 4096

func newH2Credit(c *Connection) *h2Credit {
	h := &h2Credit{conn: c}
	for d := range h.of {
		h.of[d] = h2Window{initial: http.DefaultWindow, data: http.DefaultWindow, streams: map[uint64]int64{}}
	}
	return h
}

// see takes a frame that was sent in direction d, with its place.
func (h *h2Credit) see(d lab.Direction, e http.Event, u unit) {
	w := &h.of[1-d]
	c := Credit{Kind: "data"}
	switch {
	case e.Kind == http.Settings:
		c.Kind, c.Max = "streams at first", w.initial
		for _, s := range e.Settings {
			if s.ID == http.SettingInitialWindowSize {
				c.Max = int64(s.Value)
			}
		}
		w.initial = c.Max
	case e.Kind != http.WindowUpdate:
		return
	case e.Stream == 0:
		w.data += int64(e.Value)
		c.Max = w.data
	default:
		limit, ok := w.streams[e.Stream]
		if !ok {
			if len(w.streams) >= maxStreams {
				return
			}
			limit = w.initial
		}
		c.Kind, c.Stream, c.Max = "stream", e.Stream, limit+int64(e.Value)
		w.streams[e.Stream] = c.Max
	}
	h.conn.allow(1-d, c, u)
}

// allow adds credit for direction d, which the bytes of u brought.
func (c *Connection) allow(d lab.Direction, credit Credit, u unit) {
	c.promised[d] = append(c.promised[d], promise{credit, u})
}

// promise is credit that is to be found among what arrived.
type promise struct {
	Credit
	by unit
}

// settle puts the credit of HTTP/2 among the rest, as it arrived.
func (c *Connection) settle(r *Reading) {
	for d, list := range c.promised {
		for _, p := range list {
			if event, ok := r.delivered(p.by.on, p.by.begin, p.by.end); ok {
				p.Event, p.At = event, r.Events[event].Left
				c.Credit[d] = append(c.Credit[d], p.Credit)
			}
		}
		c.promised[d] = nil
		slices.SortStableFunc(c.Credit[d], func(a, b Credit) int {
			return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Event, b.Event))
		})
	}
}
