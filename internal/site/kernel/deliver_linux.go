package kernel

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/link"
)

// piece is what goes out in one write: wire packets i to i+n-1 of a buffer.
type piece struct {
	b    *buffer // nil: a message of the emulated router
	i, n int
	// plain says that the path did nothing to them but let time pass, and that
	// they will not come out again. What is not plain goes out alone.
	plain bool
}

// fits says whether what came out of the link can go out with the piece.
func (p *piece) fits(d *link.Delivery[hold]) bool {
	if p.n == 0 {
		return true
	}
	return p.plain && plain(d) && d.Hold.b == p.b && int(d.Hold.i) == p.i+p.n && p.b.header != 0
}

func plain(d *link.Delivery[hold]) bool { return d.Router == nil && d.Last && !d.Changed() }

func (p *piece) add(d *link.Delivery[hold]) {
	if p.n == 0 {
		p.plain = plain(d)
		if d.Router == nil {
			p.b, p.i = d.Hold.b, int(d.Hold.i)
		}
	}
	p.n++
}

// deliver writes what is due.
func (l *lane) deliver() {
	for l.next <= l.observer.now() {
		if p := l.gather(); p.n > 0 {
			l.write(p)
		}
	}
}

// gather takes out of the link what is due and can go out as one. Lateness is
// counted here, right before the write.
func (l *lane) gather() (p piece) {
	o := l.observer
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	for l.peek(now) && p.fits(&l.head) {
		p.add(&l.head)
		l.count(now)
		l.headed = false
		if !p.plain {
			break // head is what write needs
		}
	}
	l.next = o.due(l.d)
	if l.headed {
		l.next = now
	}
	return p
}

// peek makes head what is due first. It is false when nothing is.
func (l *lane) peek(now time.Duration) (ok bool) {
	for !l.headed {
		if l.head, ok = l.observer.link.Pop(l.d, now); !ok {
			return false
		}
		if l.head.Drop == lab.NotDropped {
			l.headed = true
			break
		}
		b := l.head.Hold.b
		l.observer.left(l.d, &l.head)
		if l.head.Last {
			l.unref(b, 1)
		}
	}
	return true
}

// count takes note of head, which is delivered at time now.
func (l *lane) count(now time.Duration) {
	l.observer.left(l.d, &l.head)
	if l.head.Router == nil {
		l.late.Add(now - l.head.At)
	}
}

// write writes a piece.
func (l *lane) write(p piece) {
	switch {
	case p.b == nil:
		l.hand(l.own(l.head.Router), 1)
	case !p.plain:
		l.writeChanged(p)
	case p.b.whole(p.i, p.n):
		l.hand(p.b.data[:vnetSize+p.b.bytes(p.i, p.n)], p.n)
		l.unref(p.b, p.n)
	default:
		packet := p.b.lay(p.i, p.n, &l.saved)
		p.b.vnetOf(p.i, p.n).put(packet)
		l.hand(packet, p.n)
		p.b.lift(p.i, &l.saved)
		l.unref(p.b, p.n)
	}
}

// writeChanged writes a packet that the path has changed, or the first of two.
func (l *lane) writeChanged(p piece) {
	packet := l.copy(p.b, p.i)
	l.head.Apply(packet[vnetSize:])
	// A card hands up what arrives as of the version that its frame names; here
	// the packet itself names it, and the kernel would count an error of ours.
	if packet[vnetSize]>>4 == l.ends.version {
		l.hand(packet, 1)
	}
	if l.head.Last {
		l.unref(p.b, 1)
	}
}

// hand gives n wire packets, as one, to the receiver's kernel.
func (l *lane) hand(packet []byte, n int) {
	if l.out.write(packet) != 0 {
		l.lost.Add(int64(n))
	}
}

// own returns a packet of its own: whole, with all checksums, and with a
// header by which the receiver must check them.
func (l *lane) own(packet []byte) []byte {
	var zero [vnetSize]byte
	l.alone = append(append(l.alone[:0], zero[:]...), packet...)
	return l.alone
}

// copy returns wire packet i of the buffer as a packet of its own.
func (l *lane) copy(b *buffer, i int) []byte {
	packet := l.own(b.lay(i, 1, &l.saved)[vnetSize:])
	b.lift(i, &l.saved)
	if v := b.vnet; v.flags&needsChecksum != 0 {
		finishChecksum(packet[vnetSize:], int(v.start), int(v.offset))
	}
	return packet
}
