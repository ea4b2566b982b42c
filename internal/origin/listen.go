package origin

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// attempts is how many ports are tried when any will do: one that is free for
// TCP may be taken for UDP.
const attempts = 8

// listen listens on TCP and UDP, at the same port.
func listen(n Network, addr netip.AddrPort) (net.Listener, net.PacketConn, error) {
	var faults []error
	for range attempts {
		l, err := n.Listen(addr)
		if err != nil {
			return nil, nil, fmt.Errorf("listen on TCP: %w", err)
		}
		p, err := n.ListenPacket(listenAddr(l, addr))
		if err == nil {
			return l, p, nil
		}
		faults = append(faults, fmt.Errorf("listen on UDP: %w", err), l.Close())
		if addr.Port() != 0 {
			break
		}
	}
	return nil, nil, errors.Join(faults...)
}

// listenAddr is addr with the port that was found for it.
func listenAddr(l net.Listener, addr netip.AddrPort) netip.AddrPort {
	found, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return addr
	}
	return netip.AddrPortFrom(addr.Addr(), found.Port())
}

// altSvc says that HTTP/3 is at the same port, for a day (RFC 7838).
func altSvc(port uint16) string {
	return `h3=":` + strconv.Itoa(int(port)) + `"; ma=86400`
}
