package gauge

import (
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
)

// congestion is the congestion control of bulk transfers: the machine's default
// may be another.
const congestion = "cubic"

// connection is a TCP connection, on plain descriptors: of its sender and of its
// receiver.
type connection struct{ from, to int }

func (c *connection) close() {
	for _, fd := range []int{c.from, c.to} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// connect opens a TCP connection within limit. The client opens it, whoever
// sends: an address translation may let nobody else.
func connect(l Lab, d lab.Direction, limit time.Duration) (c *connection, err error) {
	c, err = dial(l.Client, l.Server, limit)
	if err == nil && d == lab.Down {
		c.from, c.to = c.to, c.from
	}
	return c, err
}

// dial opens a connection from one host to another.
func dial(from, to Host, limit time.Duration) (c *connection, err error) {
	c = &connection{-1, -1}
	listener, addr, err := listen(to)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	defer func() { _ = unix.Close(listener) }()
	if c.from, err = newTCP(from); err != nil {
		return nil, err
	}
	if err := unix.Connect(c.from, sockaddr(addr)); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		c.close()
		return nil, fmt.Errorf("connect: %w", err)
	}
	if err = await(listener, unix.POLLIN, limit); err == nil {
		c.to, _, err = unix.Accept4(listener, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("no TCP connection within %v: %w", limit, err)
	}
	return c, nil
}

func listen(h Host) (fd int, addr netip.AddrPort, err error) {
	if fd, err = newTCP(h); err != nil {
		return -1, addr, err
	}
	err = errors.Join(unix.Bind(fd, sockaddr(netip.AddrPortFrom(h.Addr(), 0))), unix.Listen(fd, 1))
	if err != nil {
		_ = unix.Close(fd)
		return -1, addr, err
	}
	name, err := unix.Getsockname(fd)
	return fd, addrPort(name), err
}

// newTCP opens a TCP socket that never blocks.
func newTCP(h Host) (fd int, err error) {
	fd = -1
	err = h.Do(func() (err error) {
		fd, err = unix.Socket(family(h.Addr().Is6()), unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		return err
	})
	if err != nil {
		return -1, fmt.Errorf("open TCP socket: %w", err)
	}
	_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, congestion)
	return fd, nil
}

// await waits until a descriptor is ready.
func await(fd int, events int16, limit time.Duration) error {
	p := []unix.PollFd{{Fd: int32(fd), Events: events}}
	for end := time.Now().Add(limit); ; {
		n, err := unix.Poll(p, int(max(time.Until(end), 0).Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case n == 0:
			return unix.ETIMEDOUT
		default:
			return nil
		}
	}
}

// carry sends for a span and counts what arrives.
func (c *connection) carry(span time.Duration) (bulk, error) {
	var b bulk
	var stop atomic.Bool
	timer := time.AfterFunc(span, func() { stop.Store(true) })
	defer timer.Stop()
	err := together(
		func() error { return onThread(func() error { return c.fill(&stop) }) },
		func() error { return onThread(func() error { return c.drain(&b, &stop) }) },
	)
	if info, err := unix.GetsockoptTCPInfo(c.from, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
		b.resent = int(info.Total_retrans)
	}
	b.control, _ = unix.GetsockoptString(c.from, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	return b, err
}

const glance = 50 * time.Millisecond // between two looks whether to stop

func (c *connection) fill(stop *atomic.Bool) error {
	chunk := make([]byte, bulkChunk)
	for !stop.Load() {
		switch _, err := unix.Write(c.from, chunk); {
		case err == nil, errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			_ = await(c.from, unix.POLLOUT, glance)
		default:
			return fmt.Errorf("send: %w", err)
		}
	}
	return nil
}

func (c *connection) drain(b *bulk, stop *atomic.Bool) error {
	chunk := make([]byte, bulkChunk)
	var first, last time.Time
	for !stop.Load() {
		switch n, err := unix.Read(c.to, chunk); {
		case n > 0:
			last = time.Now()
			if first.IsZero() {
				first = last
				continue // the clock starts when it is there
			}
			b.bytes += int64(n)
			b.took = last.Sub(first)
		case err == nil:
			return errors.New("the connection ended")
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			_ = await(c.to, unix.POLLIN, glance)
		default:
			return fmt.Errorf("receive: %w", err)
		}
	}
	return nil
}

// transfer opens a connection, sends for a span, and closes it.
func transfer(l Lab, d lab.Direction, span, limit time.Duration) (bulk, error) {
	c, err := connect(l, d, limit)
	if err != nil {
		return bulk{}, err
	}
	defer c.close()
	return c.carry(span)
}
