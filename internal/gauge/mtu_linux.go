package gauge

import (
	"errors"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// prober sends datagrams of chosen sizes one way.
type prober struct {
	from, to *socket
	copies   int           // of each size, against loss
	every    time.Duration // between two
	tail     time.Duration // after the last
}

// passes says whether an IP packet of a size arrives, or that the host's own
// device is too small for it.
func (p prober) passes(size int) (arrives, device bool, err error) {
	t := train{n: p.copies, payload: size - p.from.header(), every: p.every, tail: p.tail, enough: 1}
	s, err := t.run(p.from, p.to)
	if errors.Is(err, unix.EMSGSIZE) {
		return false, true, nil
	}
	if err != nil {
		return false, false, err
	}
	return len(s.arrivals) > 0, false, nil
}

// quick looks at two sizes: the asked one, which must arrive, and one byte
// more, which must not.
func (p prober) quick(asked int) (mtuFinding, error) {
	ok, _, err := p.passes(asked)
	if err != nil || !ok {
		return mtuFinding{}, err
	}
	return p.above(mtuFinding{mtu: asked})
}

// above looks at one byte more than was found, and whether ICMP answers it.
func (p prober) above(f mtuFinding) (mtuFinding, error) {
	p.from.errors() // of before
	ok, device, err := p.passes(f.mtu + 1)
	if err != nil {
		return f, err
	}
	f.device, f.dropped = device, !ok && !device
	if ok {
		f.mtu++
	}
	for _, e := range p.from.errors() {
		if e.Errno == uint32(unix.EMSGSIZE) && (e.Origin == unix.SO_EE_ORIGIN_ICMP || e.Origin == unix.SO_EE_ORIGIN_ICMP6) {
			f.tooBig, f.named = true, int(e.Info)
		}
	}
	return f, nil
}

// search finds the largest size that arrives by halving the range from what
// every host must take up to most.
func (p prober) search(most int) (mtuFinding, error) {
	low, high := p.from.header()+leastPayload, most+1
	if ok, _, err := p.passes(low); err != nil || !ok {
		return mtuFinding{}, err
	}
	for low+1 < high {
		middle := (low + high) / 2
		ok, _, err := p.passes(middle)
		if err != nil {
			return mtuFinding{}, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	return p.above(mtuFinding{mtu: low})
}

// errors takes what the kernel has kept of errors that came back for the
// socket's datagrams.
func (s *socket) errors() (all []unix.SockExtendedErr) {
	var buf [512]byte
	var oob [512]byte
	for {
		_, n, _, _, err := unix.Recvmsg(s.fd, buf[:], oob[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		if err != nil {
			return all
		}
		messages, err := unix.ParseSocketControlMessage(oob[:n])
		if err != nil {
			continue
		}
		for _, m := range messages {
			of := m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_RECVERR ||
				m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_RECVERR
			if of && len(m.Data) >= int(unsafe.Sizeof(unix.SockExtendedErr{})) {
				all = append(all, *(*unix.SockExtendedErr)(unsafe.Pointer(&m.Data[0])))
			}
		}
	}
}
