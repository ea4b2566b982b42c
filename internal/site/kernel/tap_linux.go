package kernel

import (
	"encoding/binary"
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
)

// tap shows the witness what passes a device that samewire does not move the
// packets of: what the device sends after its queueing discipline, and what it
// receives. It never sees a packet that netem has lost, nor how long one waited.
//
// It sees a packet once: one that goes up after its delay, when it is about to
// arrive; one that comes down when it arrives. That is both the time at which it
// was offered, for the witness, and that at which it was delivered. So causes come
// before their effects, but no delay can be read from it.
type tap struct {
	fd, stop int
	observer *observer
	up, down ends
	done     chan struct{}
}

// openTap listens at the client's device. It must be called on the host's
// thread.
func openTap(device string, up, down ends, o *observer) (*tap, error) {
	i, err := net.InterfaceByName(device)
	if err != nil {
		return nil, fmt.Errorf("find device %s: %w", device, err)
	}
	all := binary.BigEndian.Uint16([]byte{unix.ETH_P_ALL & 0xff, unix.ETH_P_ALL >> 8}) // in network order
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, int(all))
	if err != nil {
		return nil, fmt.Errorf("open packet socket: %w", err)
	}
	t := &tap{fd: fd, stop: -1, observer: o, up: up, down: down, done: make(chan struct{})}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20)
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: i.Index}); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("bind packet socket: %w", err)
	}
	if t.stop, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("make eventfd: %w", err)
	}
	go t.run()
	return t, nil
}

func (t *tap) run() {
	defer close(t.done)
	poll := []unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLIN}, {Fd: int32(t.stop), Events: unix.POLLIN}}
	b := make([]byte, 1<<16)
	for poll[1].Revents == 0 {
		if _, err := unix.Ppoll(poll, nil, nil); err != nil && err != unix.EINTR {
			return
		}
		for {
			n, from, err := unix.Recvfrom(t.fd, b, 0)
			if err != nil {
				break
			}
			t.see(b[:n], from)
		}
	}
}

func (t *tap) see(packet []byte, from unix.Sockaddr) {
	link, ok := from.(*unix.SockaddrLinklayer)
	if !ok {
		return
	}
	d, ends := lab.Down, t.down
	if link.Pkttype == unix.PACKET_OUTGOING {
		d, ends = lab.Up, t.up
	}
	o := t.observer
	o.mu.Lock()
	defer o.mu.Unlock()
	if !ends.match(packet) {
		o.witness.Foreign(d)
		return
	}
	now := o.now()
	o.witness.Left(o.witness.See(d, now, packet, lab.Fate{}), now, 0, 0)
}

// missed is how many packets came too fast for the tap since it was asked last.
func (t *tap) missed() int {
	s, err := unix.GetsockoptTpacketStats(t.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return 0
	}
	return int(s.Drops)
}

func (t *tap) close() error {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	if _, err := unix.Write(t.stop, one[:]); err != nil {
		return fmt.Errorf("stop tap: %w", err)
	}
	<-t.done
	_ = unix.Close(t.stop)
	return unix.Close(t.fd)
}
