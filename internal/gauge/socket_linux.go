package gauge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// receiveBuffer is what a socket asks for in bytes. Without root the machine's
// limit (net.core.rmem_max) cuts it.
const receiveBuffer = 16 << 20

// patience is how long a receiver waits before it looks whether to stop.
const patience = 10_000 // µs

// socket is a UDP socket of one host, that speaks to a socket of the other.
type socket struct {
	fd   int
	v6   bool
	addr netip.AddrPort
	to   unix.Sockaddr

	from   netip.AddrPort          // whom the newest address's datagrams come from
	seen   map[netip.AddrPort]bool // all that datagrams came from
	moves  []bool                  // each change to a new one: of the address, otherwise of the port alone
	sights int                     // datagrams that were looked at
}

// sighted keeps account of whom datagrams come from. One that was overtaken and
// comes from where others came before is no change.
func (s *socket) sighted(from netip.AddrPort) {
	s.sights++
	if s.seen[from] {
		return
	}
	if s.seen == nil {
		s.seen = map[netip.AddrPort]bool{}
	} else {
		s.moves = append(s.moves, s.from.Addr() != from.Addr())
	}
	s.from, s.seen[from] = from, true
}

// ECN's two bits of the traffic class (RFC 3168, 5).
const (
	ectZero   = 2
	congested = 3
)

// trafficClass sets that of what the socket sends.
func (s *socket) trafficClass(class int) error {
	if s.v6 {
		return unix.SetsockoptInt(s.fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, class)
	}
	return unix.SetsockoptInt(s.fd, unix.IPPROTO_IP, unix.IP_TOS, class)
}

// wantClass asks for the traffic class of what arrives.
func (s *socket) wantClass() error {
	if s.v6 {
		return unix.SetsockoptInt(s.fd, unix.IPPROTO_IPV6, unix.IPV6_RECVTCLASS, 1)
	}
	return unix.SetsockoptInt(s.fd, unix.IPPROTO_IP, unix.IP_RECVTOS, 1)
}

// wire is a pair of sockets, one in each host.
type wire struct{ client, server *socket }

// header is the size of IP and UDP headers.
func (s *socket) header() int { return headerSize(s.v6) }

// newWire opens a socket in each host.
func newWire(l Lab) (*wire, error) {
	client, err := newSocket(l.Client)
	if err != nil {
		return nil, err
	}
	server, err := newSocket(l.Server)
	if err != nil {
		client.close()
		return nil, err
	}
	client.to, server.to = sockaddr(server.addr), sockaddr(client.addr)
	return &wire{client, server}, nil
}

func (w *wire) close() {
	w.client.close()
	w.server.close()
}

func (s *socket) close() { _ = unix.Close(s.fd) }

// newSocket opens a socket that is not connected: it takes datagrams from any
// address, since an address translation may change them.
func newSocket(h Host) (*socket, error) {
	s := &socket{fd: -1, v6: h.Addr().Is6()}
	err := h.Do(func() (err error) {
		s.fd, err = unix.Socket(family(s.v6), unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open UDP socket: %w", err)
	}
	if err := s.setUp(h.Addr()); err != nil {
		s.close()
		return nil, fmt.Errorf("set up UDP socket: %w", err)
	}
	return s, nil
}

func family(v6 bool) int {
	if v6 {
		return unix.AF_INET6
	}
	return unix.AF_INET
}

func (s *socket) setUp(addr netip.Addr) error {
	if unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) != nil {
		_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer)
	}
	if unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, receiveBuffer) != nil {
		_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, receiveBuffer)
	}
	wait := unix.Timeval{Usec: patience}
	err := errors.Join(
		unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1),
		unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1),
		unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait),
		s.dontFragment(),
		s.wantClass(),
		unix.Bind(s.fd, sockaddr(netip.AddrPortFrom(addr, 0))),
	)
	if err != nil {
		return err
	}
	name, err := unix.Getsockname(s.fd)
	if err != nil {
		return err
	}
	s.addr = addrPort(name)
	return nil
}

// dontFragment sends every datagram whole, whatever the host has learnt of the
// path's MTU, and has errors kept that come back.
func (s *socket) dontFragment() error {
	if s.v6 {
		return errors.Join(
			unix.SetsockoptInt(s.fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE),
			unix.SetsockoptInt(s.fd, unix.IPPROTO_IPV6, unix.IPV6_RECVERR, 1))
	}
	return errors.Join(
		unix.SetsockoptInt(s.fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE),
		unix.SetsockoptInt(s.fd, unix.IPPROTO_IP, unix.IP_RECVERR, 1))
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is6() {
		return &unix.SockaddrInet6{Addr: a.Addr().As16(), Port: int(a.Port())}
	}
	return &unix.SockaddrInet4{Addr: a.Addr().As4(), Port: int(a.Port())}
}

func addrPort(s unix.Sockaddr) netip.AddrPort {
	switch s := s.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(s.Addr), uint16(s.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(s.Addr), uint16(s.Port))
	}
	return netip.AddrPort{}
}

// checksums says whether datagrams to a socket carry a checksum (RFC 768; for
// IPv6 RFC 6935, and the receiver must agree).
func (s *socket) checksums(to *socket, on bool) error {
	off := 1
	if on {
		off = 0
	}
	if !s.v6 {
		return unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_NO_CHECK, off)
	}
	const noCheck6Send, noCheck6Receive = 101, 102 // UDP_NO_CHECK6_TX, UDP_NO_CHECK6_RX
	return errors.Join(
		unix.SetsockoptInt(s.fd, unix.IPPROTO_UDP, noCheck6Send, off),
		unix.SetsockoptInt(to.fd, unix.IPPROTO_UDP, noCheck6Receive, off))
}

// send sends a datagram. An error that was kept from an earlier one (ICMP) is
// not this one's: it is tried once more. EMSGSIZE then means that the host's own
// device is too small.
func (s *socket) send(b []byte) error {
	err := unix.Sendto(s.fd, b, 0, s.to)
	if ofEarlier(err) || errors.Is(err, unix.EINTR) {
		err = unix.Sendto(s.fd, b, 0, s.to)
	}
	return err
}

// ofEarlier says that an error may be the word of an earlier datagram's fate.
func ofEarlier(err error) bool {
	return errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.EHOSTUNREACH) || errors.Is(err, unix.EMSGSIZE)
}

// mayWait says that a receiver's error is none: nothing came, or word of an
// earlier datagram's fate did.
func mayWait(err error) bool {
	return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) || ofEarlier(err)
}

// receiver takes datagrams from a socket without allocating.
type receiver struct {
	fd   int
	buf  []byte
	oob  [256]byte
	name unix.RawSockaddrAny // whom the last datagram came from
	iov  unix.Iovec
	hdr  unix.Msghdr

	class byte // traffic class of the last datagram
}

func newReceiver(s *socket) *receiver {
	r := &receiver{fd: s.fd, buf: make([]byte, 1<<16)}
	r.iov.Base = &r.buf[0]
	r.iov.SetLen(len(r.buf))
	r.hdr.Iov = &r.iov
	r.hdr.SetIovlen(1)
	return r
}

// next waits for a datagram, for a few ms at most: the error is EAGAIN then. at
// is when the kernel received it (ns since 1970), and dropped how many
// datagrams the socket had thrown away until then.
func (r *receiver) next() (payload []byte, at int64, dropped uint32, err error) {
	r.hdr.Name = (*byte)(unsafe.Pointer(&r.name))
	r.hdr.Namelen = uint32(unsafe.Sizeof(r.name))
	r.hdr.Control = &r.oob[0]
	r.hdr.SetControllen(len(r.oob))
	n, _, errno := unix.Syscall(unix.SYS_RECVMSG, uintptr(r.fd), uintptr(unsafe.Pointer(&r.hdr)), 0)
	if errno != 0 {
		return nil, 0, 0, errno
	}
	at, dropped, r.class = control(r.oob[:r.hdr.Controllen])
	return r.buf[:n], at, dropped, nil
}

// sender is whom the last datagram came from.
func (r *receiver) sender() netip.AddrPort {
	port := (*[2]byte)(unsafe.Pointer(&r.name.Addr.Data[0])) // both families have it first, in network order
	at := func(ip netip.Addr) netip.AddrPort {
		return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(port[:]))
	}
	switch r.name.Addr.Family {
	case unix.AF_INET:
		return at(netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(&r.name)).Addr))
	case unix.AF_INET6:
		return at(netip.AddrFrom16((*unix.RawSockaddrInet6)(unsafe.Pointer(&r.name)).Addr))
	}
	return netip.AddrPort{}
}

// control reads the arrival's time, the count of drops and the traffic class off the control
// messages: each has a length that counts the header, a level and a type.
func control(b []byte) (at int64, dropped uint32, class byte) {
	for len(b) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
		if int(h.Len) < unix.SizeofCmsghdr || int(h.Len) > len(b) {
			break
		}
		data := b[unix.SizeofCmsghdr:h.Len]
		switch {
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_TOS && len(data) >= 1:
			class = data[0]
		case h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_TCLASS && len(data) >= 4:
			class = byte(binary.NativeEndian.Uint32(data))
		case h.Level != unix.SOL_SOCKET:
		case h.Type == unix.SO_TIMESTAMPNS_NEW && len(data) >= 16:
			at = int64(binary.NativeEndian.Uint64(data))*1e9 + int64(binary.NativeEndian.Uint64(data[8:]))
		case h.Type == unix.SO_RXQ_OVFL && len(data) >= 4:
			dropped = binary.NativeEndian.Uint32(data)
		}
		b = b[min(unix.CmsgSpace(len(data)), len(b)):]
	}
	return at, dropped, class
}

// drops is how many datagrams the socket has thrown away: for want of room, and
// for wrong checksums.
func (s *socket) drops() int {
	const memoryInfo, dropsAt = 55, 8 // SO_MEMINFO, SK_MEMINFO_DROPS
	var info [9]uint32
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(s.fd), unix.SOL_SOCKET, memoryInfo,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return 0
	}
	return int(info[dropsAt])
}

// together carries out functions at the same time and joins their errors.
func together(all ...func() error) error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, f := range all {
		wait.Go(func() { errs[i] = f() })
	}
	wait.Wait()
	return errors.Join(errs...)
}
