package kernel

import (
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/link"
)

// lane moves the packets of one direction: from the device of the host that
// sends, over the link, to the device of the host that receives.
//
// Properties that an edit must keep: no allocation for a packet once enough
// buffers are there; every packet read is delivered, dropped by the link,
// foreign, or counted as lost; nothing leaves with a checksum that is wrong, or
// that the receiver is told not to look at, unless the sender had left it to
// the card and the path did not touch the packet.
type lane struct {
	d        lab.Direction
	in, out  device
	ends     ends
	quotes   int // packets of more bytes may come back, quoted in an answer of the path
	observer *observer

	free     buffers
	arriving *buffer // what is read goes in here
	saved    saved

	next   time.Duration       // when something is due
	head   link.Delivery[hold] // what came out of the link last
	headed bool                // and has not been delivered yet
	alone  []byte              // a packet that goes out on its own is made in here

	other *lane // whose packets an offer here may bring forth

	late link.Lateness
	lost atomic.Int64 // wire packets that the kernel would not take, or for which there was no memory
}

func newLane(d lab.Direction, path lab.Path, o *observer, in, out device) *lane {
	return &lane{
		d: d, in: in, out: out, observer: o,
		ends: newEnds(d, path.Family), quotes: quotesOf(path.Way(d)), next: never,
	}
}

// joinLanes lets the two directions of a path know of each other.
func joinLanes(up, down *lane) [2]*lane {
	up.other, down.other = down, up
	return [2]*lane{up, down}
}

// take reads one packet and offers what it holds to the link. It is false when
// none waits.
func (l *lane) take() (bool, error) {
	if l.arriving == nil {
		if l.arriving = l.free.get(classSizes[bigClass]); l.arriving == nil {
			return false, unix.ENOMEM
		}
	}
	n, errno := l.in.read(l.arriving.data)
	switch {
	case errno == unix.EAGAIN:
		return false, nil
	case errno != 0:
		return false, errno
	case n == 0: // no packet is empty; the kernel's word for the end of a file
		return false, io.EOF
	}
	l.offer(n)
	return true, nil
}

// offer offers the n bytes that arrived.
func (l *lane) offer(n int) {
	b := l.arriving
	if n <= vnetSize || !l.ends.match(b.data[vnetSize:n]) {
		l.observer.foreign(l.d)
		return
	}
	s, err := parseSuper(parseVnet(b.data), b.data[vnetSize:n])
	if err != nil {
		l.observer.foreign(l.d)
		return
	}
	if b = l.keep(n); b == nil {
		l.lost.Add(int64(s.count))
		return
	}
	b.super = s
	b.vnet.put(b.data)
	if !l.free.hold(b) {
		l.lost.Add(int64(s.count))
		l.free.put(b)
		return
	}
	l.send(b)
}

// keep returns a buffer with the n bytes that arrived: that in which they are,
// or a smaller one; nil when there is no memory.
func (l *lane) keep(n int) *buffer {
	b := l.arriving
	if classOf(n) == bigClass {
		l.arriving = nil
		return b
	}
	small := l.free.get(n)
	if small != nil {
		copy(small.data, b.data[:n])
	}
	return small
}

// send offers the buffer's packets to the link, and lets go of what it did not
// keep.
func (l *lane) send(b *buffer) {
	o := l.observer
	o.mu.Lock()
	first, last := o.offer(l.d, o.now(), b, l.quotes, &l.saved)
	l.next, l.other.next = o.due(l.d), o.due(l.other.d)
	o.mu.Unlock()
	switch {
	case b.refs == 0:
		l.free.put(b)
	case b.refs < b.count:
		l.free.shrink(b, first, last)
	}
}

// unref says that n wire packets of the buffer will not come out again.
func (l *lane) unref(b *buffer, n int) {
	if b.refs -= n; b.refs == 0 {
		l.free.put(b)
	}
}
