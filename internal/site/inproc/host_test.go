package inproc

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// inner hides a connection as *tls.Conn does.
type inner struct{ net.Conn }

func (c inner) NetConn() net.Conn { return c.Conn }

func TestSender(t *testing.T) {
	for _, cc := range []string{"cubic", "reno"} {
		a := doOnce(job{Path: path(0, 0, 0), CC: cc})
		want := lab.Sender{Transport: "tcp", CC: cc, InitialWindow: 10, Source: "socket"}
		if a.Error != "" || a.Sender != want {
			t.Errorf("client: %+v, want %+v (%s)", a.Sender, want, a.Error)
		}
	}
	h := open(t, path(0, 0, 0), nil)
	c, err := h.client.Dial(t.Context(), netip.AddrPortFrom(h.server.Addr(), lab.Port))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := h.client.Sender(inner{inner{c}}); !ok {
		t.Error("not found behind NetConn")
	}
	p, _ := net.Pipe()
	if s, ok := h.client.Sender(inner{p}); ok {
		t.Errorf("of a pipe: %+v", s)
	}
}

func TestErrorsAreTheSystems(t *testing.T) {
	h := open(t, path(0, 0, 0), nil)
	server := h.server.Addr()
	if _, err := h.client.Dial(t.Context(), netip.AddrPortFrom(server, 81)); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial a closed port: %v", err)
	}
	if _, err := h.server.Listen(netip.AddrPortFrom(server, lab.Port)); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("listen twice: %v", err)
	}
	if _, err := h.server.ListenPacket(netip.AddrPortFrom(server, lab.Port)); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("open a socket twice: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := h.client.Dial(ctx, netip.MustParseAddrPort("198.19.0.1:1")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("dial nobody: %v", err)
	}
	checkReset(t, h)
}

// checkReset has the server end a connection on which data is unread.
func checkReset(t *testing.T, h *Hosts) {
	t.Helper()
	l, err := h.server.Listen(netip.AddrPortFrom(netip.IPv4Unspecified(), 0))
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).AddrPort().Port()
	c, err := h.client.Dial(t.Context(), netip.AddrPortFrom(h.server.Addr(), port))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("unread")); err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read after a reset: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after close: %v", err)
	}
}

func TestDeadline(t *testing.T) {
	h := open(t, path(0, 0, 0), nil)
	c, err := h.client.Dial(t.Context(), netip.AddrPortFrom(h.server.Addr(), lab.Port))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := c.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("read: %v", err)
	}
}

// Datagrams larger than the path's MTU are lost on the link, whole.
func TestPathMTU(t *testing.T) {
	for _, f := range []lab.Family{lab.IPv4, lab.IPv6} {
		overhead := 20 + 8
		if f == lab.IPv6 {
			overhead = 40 + 8
		}
		for _, test := range []struct{ mtu, datagram, drops int }{
			{1300, 1300 - overhead, 0},
			{1300, 1301 - overhead, 1},
			{0, 1500 - overhead, 0},
		} {
			p := path(0, 0, 0)
			p.Family, p.Up.MTU = f, test.mtu
			// The client does not wait for what cannot come.
			h := open(t, p, func(_ context.Context, host *Host, server netip.AddrPort) error {
				u, err := host.ListenPacket(netip.AddrPortFrom(host.Addr(), 0))
				if err != nil {
					return err
				}
				_, err = u.WriteTo(make([]byte, test.datagram), net.UDPAddrFromAddrPort(server))
				return err
			})
			report, _ := h.Get(t.Context())
			up := h.Facts().Wire.Up
			if report.Error != "" || up.Drops["mtu"] != test.drops || up.Packets != 1 || up.Bytes != int64(test.datagram+overhead) {
				t.Errorf("%s, MTU %d, datagram %d: %+v %s", f, test.mtu, test.datagram, up, report.Error)
			}
		}
	}
}

// What is addressed to neither host is not carried, and takes no number of the
// link's.
func TestForeignPackets(t *testing.T) {
	for f, others := range map[lab.Family][]string{
		lab.IPv4: {"198.18.0.3:9", "224.0.0.251:9"},
		lab.IPv6: {"[2001:2::3]:9", "[ff02::fb]:9"},
	} {
		p := path(0, 0, 0)
		p.Family = f
		h := open(t, p, func(_ context.Context, host *Host, _ netip.AddrPort) error {
			u, err := host.ListenPacket(netip.AddrPortFrom(host.Addr(), 0))
			for _, other := range others {
				_, writeErr := u.WriteTo([]byte("hello"), net.UDPAddrFromAddrPort(netip.MustParseAddrPort(other)))
				err = errors.Join(err, writeErr)
			}
			return err
		})
		report, _ := h.Get(t.Context())
		if up := h.Facts().Wire.Up; report.Error != "" || up.Foreign != len(others) || up.Packets != 0 || h.pump.link.Offered(lab.Up) != 0 {
			t.Errorf("%s: %+v %s", f, up, report.Error)
		}
	}
}

// A datagram for which the socket has no room is counted: it was not lost on
// the link.
func TestUDPReceiveErrors(t *testing.T) {
	const datagrams, size = 6000, 1400
	h := open(t, path(0, 0, 0), func(_ context.Context, host *Host, server netip.AddrPort) error {
		from, err := host.ListenPacket(netip.AddrPortFrom(host.Addr(), 0))
		if err != nil {
			return err
		}
		for range datagrams {
			if _, err := from.WriteTo(make([]byte, size), net.UDPAddrFromAddrPort(netip.AddrPortFrom(server.Addr(), 99))); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := h.server.ListenPacket(netip.AddrPortFrom(h.server.Addr(), 99)); err != nil {
		t.Fatal(err)
	}
	report, _ := h.Get(t.Context())
	f := h.Facts()
	if report.Error != "" || f.Wire.Up.UDPPackets != datagrams || len(f.Wire.Up.Drops) != 0 {
		t.Fatalf("wire %+v %s", f.Wire.Up, report.Error)
	}
	held := func() int { return datagrams - *h.describe(h.pump.facts(h.pump.now())).Server.UDPReceiveErrors }
	for deadline := time.Now().Add(10 * time.Second); (held()-1)*size > udpBuffer && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // until all of it has arrived
	}
	if n := held(); n*size < udpBuffer/2 || (n-1)*size > udpBuffer {
		t.Errorf("the socket holds %d datagrams of %d bytes, with a buffer of %d", n, size, *f.Server.UDPReceiveBuffer)
	}
	if *f.Client.UDPReceiveErrors != 0 {
		t.Errorf("client: %d", *f.Client.UDPReceiveErrors)
	}
}
