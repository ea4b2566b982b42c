package sockets_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/site/sockets"
)

var loopbacks = []string{"127.0.0.1:0", "[::1]:0"}

func TestTCP(t *testing.T) {
	for _, addr := range loopbacks {
		t.Run(addr, func(t *testing.T) {
			needsLoopback(t, addr)
			client, server := connected(t, addr)
			if _, err := client.Write([]byte("ping")); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 4)
			if _, err := server.Read(got); err != nil || string(got) != "ping" {
				t.Fatalf("read %q, %v", got, err)
			}
		})
	}
}

func TestUDP(t *testing.T) {
	for _, addr := range loopbacks {
		t.Run(addr, func(t *testing.T) {
			needsLoopback(t, addr)
			a, b := packets(t, addr), packets(t, addr)
			if _, err := a.WriteTo([]byte("ping"), b.LocalAddr()); err != nil {
				t.Fatal(err)
			}
			_ = b.SetReadDeadline(time.Now().Add(10 * time.Second))
			got := make([]byte, 16)
			n, from, err := b.ReadFrom(got)
			if err != nil || string(got[:n]) != "ping" || from.String() != a.LocalAddr().String() {
				t.Fatalf("read %q from %v, %v", got[:n], from, err)
			}
		})
	}
}

// An unspecified IPv4 address must not become a socket of both families.
func TestFamily(t *testing.T) {
	l, err := sockets.Net{}.Listen(netip.MustParseAddrPort("0.0.0.0:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if got := netip.MustParseAddrPort(l.Addr().String()).Addr(); !got.Is4() {
		t.Errorf("listens on %v", got)
	}
	if got := netip.MustParseAddrPort(packets(t, "0.0.0.0:0").LocalAddr().String()).Addr(); !got.Is4() {
		t.Errorf("UDP socket is at %v", got)
	}
}

func TestSender(t *testing.T) {
	client, server := connected(t, "127.0.0.1:0")
	for name, c := range map[string]net.Conn{
		"client": client, "server": server, "wrapped": tls.Client(client, &tls.Config{}),
	} {
		s, ok := sockets.Net{}.Sender(c)
		if ok != (runtime.GOOS == "linux") {
			t.Fatalf("%s: read back: %t on %s", name, ok, runtime.GOOS)
		}
		// Whatever the route says, a fresh connection may send at least one
		// segment, under some algorithm.
		if ok && (s.Transport != "tcp" || s.Source != "socket" || s.CC == "" || s.InitialWindow < 1) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestSenderOfNoSocket(t *testing.T) {
	a, b := net.Pipe()
	defer func() { _, _ = a.Close(), b.Close() }()
	if s, ok := (sockets.Net{}).Sender(a); ok {
		t.Errorf("a pipe has sender %+v", s)
	}
	client, _ := connected(t, "127.0.0.1:0")
	_ = client.Close()
	if s, ok := (sockets.Net{}).Sender(client); ok {
		t.Errorf("a closed connection has sender %+v", s)
	}
}

func TestUDPReceiveBuffer(t *testing.T) {
	c := packets(t, "127.0.0.1:0")
	if err := c.(*net.UDPConn).SetReadBuffer(32 << 10); err != nil {
		t.Fatal(err)
	}
	n, ok := sockets.Net{}.UDPReceiveBuffer(c)
	if ok != (runtime.GOOS == "linux") {
		t.Fatalf("read back: %t on %s", ok, runtime.GOOS)
	}
	if ok && n != 64<<10 {
		t.Errorf("receive buffer is %d, want twice the 32 KiB asked for", n)
	}
}

func TestDialRefused(t *testing.T) {
	l, err := sockets.Net{}.Listen(netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	c, err := sockets.Net{}.Dial(t.Context(), netip.MustParseAddrPort(l.Addr().String()))
	if err == nil {
		_ = c.Close()
		t.Fatal("connected to a closed port")
	}
}

func TestDialEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := (sockets.Net{}).Dial(ctx, netip.MustParseAddrPort("127.0.0.1:1")); err == nil {
		_ = c.Close()
		t.Fatal("connected after the end")
	}
}

// needsLoopback skips where the machine has no loopback address of the family.
func needsLoopback(t *testing.T, addr string) {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skip("no such loopback address: ", err)
	}
	_ = l.Close()
}

func connected(t *testing.T, addr string) (client, server net.Conn) {
	t.Helper()
	l, err := sockets.Net{}.Listen(netip.MustParseAddrPort(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	client, err = sockets.Net{}.Dial(t.Context(), netip.MustParseAddrPort(l.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	server, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return client, server
}

func packets(t *testing.T, addr string) net.PacketConn {
	t.Helper()
	c, err := sockets.Net{}.ListenPacket(netip.MustParseAddrPort(addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
