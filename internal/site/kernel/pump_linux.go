package kernel

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// batch is how many packets are read in one direction before the other
// direction has its turn.
const batch = 16

// pump moves the packets of both directions. It has a thread of its own, which
// sleeps when nothing comes in, until something is due.
//
// One thread for both directions was no slower than one for each, and needs no
// lock between them: what a host answers while it is handed a packet, such as
// TCP's acknowledgement, is read next, without waking anybody, and the other
// cores are left to the hosts' programs.
//
// Properties that an edit must keep: a packet that is due is not kept waiting by
// packets that come in; the pump ends soon after it is stopped, however much
// there is to do.
type pump struct {
	observer *observer
	lanes    [2]*lane // by direction

	stop    int // eventfd: readable when the pump must end
	stopped atomic.Bool
	closed  bool
	poll    [3]unix.PollFd
	timeout unix.Timespec
	poller  poller

	done chan struct{}
	err  error         // why the pump ended early; valid when done is closed
	cpu  time.Duration // that the pump's thread took; valid when done is closed
}

// newPump makes the pump of two lanes, which does not run yet.
func newPump(o *observer, up, down *lane) (*pump, error) {
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make eventfd: %w", err)
	}
	return &pump{observer: o, lanes: joinLanes(up, down), stop: stop, poller: poller{lead: leadFirst}}, nil
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

// close stops the pump and returns when it has ended. A second call does nothing.
func (p *pump) close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	p.stopped.Store(true)
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	if _, err := unix.Write(p.stop, one[:]); err != nil {
		return fmt.Errorf("stop pump: %w", err)
	}
	if p.done != nil {
		<-p.done
	}
	return unix.Close(p.stop)
}

func (p *pump) run() error {
	prompt()
	defer func() { p.cpu = threadCPU() }()
	for i, l := range p.lanes {
		defer l.free.release()
		p.poll[i] = unix.PollFd{Fd: int32(l.in.fd), Events: unix.POLLIN}
	}
	p.poll[2] = unix.PollFd{Fd: int32(p.stop), Events: unix.POLLIN}
	for !p.stopped.Load() {
		moved, err := p.turn()
		if err != nil {
			return err
		}
		if moved {
			continue
		}
		if err := p.wait(); err != nil {
			return fmt.Errorf("wait for packets: %w", err)
		}
	}
	return nil
}

// turn reads what waits at the devices, up to a batch each, and delivers what
// is due in between. It says whether there was anything to read.
func (p *pump) turn() (moved bool, err error) {
	p.deliver()
	for _, l := range p.lanes {
		for range batch {
			took, err := l.take()
			if err != nil {
				return moved, fmt.Errorf("read packet %s: %w", l.d, err)
			}
			if !took {
				break
			}
			moved = true
			p.deliver()
		}
	}
	return moved, nil
}

// threadCPU is the processor time of the calling thread so far.
func threadCPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (p *pump) deliver() {
	for _, l := range p.lanes {
		l.deliver()
	}
}

// wait sleeps until a packet can be read, one is due, or the pump must stop.
func (p *pump) wait() error {
	var timeout *unix.Timespec
	at := min(p.lanes[0].next, p.lanes[1].next)
	if at != never {
		sleep := p.poller.wait(p.observer.now(), at)
		if sleep == 0 {
			return nil
		}
		p.timeout = unix.NsecToTimespec(int64(sleep))
		timeout = &p.timeout
	}
	for i := range p.poll {
		p.poll[i].Revents = 0
	}
	n, err := unix.Ppoll(p.poll[:], timeout, nil)
	if err != nil && err != unix.EINTR {
		return err
	}
	if n == 0 && err == nil {
		p.poller.woke(p.observer.now(), at)
	}
	if p.poll[2].Revents != 0 {
		p.stopped.Store(true)
	}
	return nil
}
