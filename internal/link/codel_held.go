package link

import "time"

// held is the packets of several queues, in memory that they share and that
// grows no more than to the most that ever waited. Its lists are of nodes that
// are numbered from 1.
type held[P any] struct {
	nodes   []node[P]
	unused  int // the first of those that hold nothing
	packets int
	bytes   int64
}

type node[P any] struct {
	entry entry[P] // offered is when it came
	next  int
}

// list is one queue.
type list struct {
	head, tail int
	packets    int
	bytes      int64
}

// push puts a packet that comes at time now at the end of a queue.
func (h *held[P]) push(l *list, e entry[P], now time.Duration) {
	if h.unused == 0 {
		h.nodes = append(h.nodes, node[P]{})
		h.unused = len(h.nodes)
	}
	i := h.unused
	n := &h.nodes[i-1]
	h.unused = n.next
	e.offered = now
	*n = node[P]{entry: e}
	if l.packets == 0 {
		l.head = i
	} else {
		h.nodes[l.tail-1].next = i
	}
	l.tail = i
	h.count(l, 1, int64(e.size))
}

// pop takes out the first packet of a queue that is not empty, and says when it
// came.
func (h *held[P]) pop(l *list) (e entry[P], came time.Duration) {
	i := l.head
	n := &h.nodes[i-1]
	e, l.head = n.entry, n.next
	*n = node[P]{next: h.unused} // let go of the packet
	h.unused = i
	h.count(l, -1, -int64(e.size))
	return e, e.offered
}

func (h *held[P]) count(l *list, packets int, bytes int64) {
	l.packets, l.bytes = l.packets+packets, l.bytes+bytes
	h.packets, h.bytes = h.packets+packets, h.bytes+bytes
}

func (h *held[P]) waiting() (packets int, bytes int64) { return h.packets, h.bytes }
