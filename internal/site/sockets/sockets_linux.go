package sockets

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
)

// sender asks TCP_CONGESTION and TCP_INFO (tcp(7)).
func sender(c net.Conn) (lab.Sender, bool) {
	socket, ok := plain(c).(syscall.Conn)
	if !ok {
		return lab.Sender{}, false
	}
	s := lab.Sender{Transport: "tcp", Source: "socket"}
	ok = ask(socket, func(fd int) error {
		cc, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		if err != nil {
			return err
		}
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			return err
		}
		s.CC, s.InitialWindow = cc, int(info.Snd_cwnd)
		return nil
	})
	if !ok {
		return lab.Sender{}, false
	}
	return s, true
}

func udpReceiveBuffer(c net.PacketConn) (n int, ok bool) {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return 0, false
	}
	ok = ask(socket, func(fd int) (err error) {
		n, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
		return err
	})
	return n, ok
}

// plain finds the connection under those that wrap it, such as TLS.
func plain(c net.Conn) net.Conn {
	for {
		w, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = w.NetConn()
	}
}

// ask calls question with the connection's descriptor. It is false when there
// is none, or the question failed.
func ask(c syscall.Conn, question func(fd int) error) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	answered := false
	err = raw.Control(func(fd uintptr) { answered = question(int(fd)) == nil })
	return err == nil && answered
}
