package kernel

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/link"
	"github.com/samewire/samewire/internal/wire"
)

// observer is what the two directions share: the run's clock, its link and its
// witness.
type observer struct {
	epoch time.Time

	mu      sync.Mutex
	link    *link.Link[[]byte]
	witness *wire.Witness
}

func (o *observer) now() time.Duration { return time.Since(o.epoch) }

// offer puts a packet on the link and shows it to the witness. The time is
// read under the lock, so that the witness sees both directions in order.
func (o *observer) offer(d lab.Direction, packet []byte) lab.Fate {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	fate := o.link.Offer(d, now, packet, false, packet)
	o.witness.See(d, now, packet, fate)
	return fate
}

// next is when the first packet of direction d is due.
func (o *observer) next(d lab.Direction) (time.Duration, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.link.Next(d)
}

// pop takes out what is due of direction d at time now.
func (o *observer) pop(d lab.Direction, now time.Duration) (link.Delivery[[]byte], bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.link.Pop(d, now)
}

func (o *observer) foreign(d lab.Direction) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.witness.Foreign(d)
}

// batch is how many packets are read before the poll set is looked at again.
const batch = 64

// pump moves the packets of one direction. It has a thread of its own, which
// sleeps until a packet comes in or becomes due.
//
// Properties that an edit must keep: no allocation for a packet once enough
// buffers are there; every packet read is delivered, dropped by the link,
// foreign, or counted as lost; a packet that is due is not kept waiting by
// packets that come in.
type pump struct {
	d        lab.Direction
	in, out  device
	ends     ends
	observer *observer
	stop     int // eventfd: readable when the pump must end

	free buffers
	late link.Lateness
	lost atomic.Int64 // packets that the kernel would not take
	poll [2]unix.PollFd

	done chan struct{}
	err  error // why the pump ended early; valid when done is closed
}

// start lets the pump run on a thread of its own until its stop is readable.
func (p *pump) start() {
	p.done = make(chan struct{})
	t := newThread()
	go func() {
		defer close(p.done)
		defer t.close()
		p.err = t.do(p.run)
	}()
}

func (p *pump) run() error {
	prompt()
	p.poll = [2]unix.PollFd{
		{Fd: int32(p.in.fd), Events: unix.POLLIN},
		{Fd: int32(p.stop), Events: unix.POLLIN},
	}
	for {
		if err := p.wait(); err != nil {
			return fmt.Errorf("wait for packets %s: %w", p.d, err)
		}
		if p.poll[1].Revents != 0 {
			return nil
		}
		p.deliver()
		if p.poll[0].Revents == 0 {
			continue
		}
		if err := p.take(); err != nil {
			return fmt.Errorf("read packet %s: %w", p.d, err)
		}
	}
}

// wait sleeps until a packet can be read, one is due, or the pump must stop.
func (p *pump) wait() error {
	p.poll[0].Revents, p.poll[1].Revents = 0, 0
	var timeout *unix.Timespec
	if at, ok := p.observer.next(p.d); ok {
		t := unix.NsecToTimespec(int64(max(at-p.observer.now(), 0)))
		timeout = &t
	}
	if _, err := unix.Ppoll(p.poll[:], timeout, nil); err != nil && err != unix.EINTR {
		return err
	}
	return nil
}

// take reads what waits at the device, up to a batch, and delivers what has
// become due in between.
func (p *pump) take() error {
	for range batch {
		b := p.free.get()
		n, errno := p.in.read(b)
		if errno != 0 {
			p.free.put(b)
			if errno == unix.EAGAIN {
				return nil
			}
			return errno
		}
		if n == 0 { // no packet is empty; the kernel's word for the end of a file
			return io.EOF
		}
		p.offer(b[:n])
		p.deliver()
	}
	return nil
}

func (p *pump) offer(packet []byte) {
	if !p.ends.match(packet) {
		p.observer.foreign(p.d)
		p.free.put(packet)
		return
	}
	if fate := p.observer.offer(p.d, packet); fate.Drop != lab.NotDropped {
		p.free.put(packet)
	}
}

func (p *pump) deliver() {
	for {
		now := p.observer.now()
		due, ok := p.observer.pop(p.d, now)
		if !ok {
			return
		}
		p.late.Add(now - due.At)
		if p.out.write(due.Hold) != 0 {
			p.lost.Add(1)
		}
		p.free.put(due.Hold)
	}
}

// buffers is a stock of buffers of one size.
type buffers struct {
	size  int
	stock [][]byte
}

// get returns a buffer of full size. New ones are made many at a time.
func (b *buffers) get() []byte {
	if len(b.stock) == 0 {
		const many = 32
		slab := make([]byte, many*b.size)
		for i := range many {
			b.stock = append(b.stock, slab[i*b.size:(i+1)*b.size:(i+1)*b.size])
		}
	}
	last := b.stock[len(b.stock)-1]
	b.stock = b.stock[:len(b.stock)-1]
	return last
}

// put takes back a buffer, or the part of it that held a packet.
func (b *buffers) put(p []byte) { b.stock = append(b.stock, p[:b.size]) }
