package load_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

func TestMain(m *testing.M) {
	_ = os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "1")
	os.Exit(m.Run())
}

// loopback is this machine's own network. Dialling can be made to go wrong.
type loopback struct {
	dials atomic.Int32                           // begun
	done  atomic.Int32                           // and ended
	dial  func(ctx context.Context, n int) error // before the nth dial, from 1
}

func (l *loopback) Dial(ctx context.Context, a netip.AddrPort) (net.Conn, error) {
	n := l.dials.Add(1)
	defer l.done.Add(1)
	if l.dial != nil {
		if err := l.dial(ctx, int(n)); err != nil {
			return nil, err
		}
	}
	return new(net.Dialer).DialContext(ctx, "tcp", a.String())
}

func (l *loopback) ListenPacket(a netip.AddrPort) (net.PacketConn, error) {
	l.dials.Add(1)
	defer l.done.Add(1)
	if a.Port() != 0 || !a.Addr().IsUnspecified() {
		return nil, errors.New("asked for " + a.String())
	}
	if a.Addr().Is4() {
		return net.ListenPacket("udp4", a.String())
	}
	return net.ListenPacket("udp6", a.String())
}

func (*loopback) Sender(net.Conn) (lab.Sender, bool) { return cubic, true }

func (*loopback) UDPReceiveBuffer(net.PacketConn) (int, bool) { return 4711, true }

var (
	cubic = lab.Sender{Transport: "tcp", CC: "cubic", InitialWindow: 10, Source: "socket"}
	reno  = lab.Sender{Transport: "quic", CC: "reno", InitialWindow: 32, Source: "declared"}
)

func hasIPv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

// nothingLeft returns a function that fails when more goroutines stay than
// there are now. The libraries' end a moment after they were told to.
func nothingLeft(t *testing.T) func() {
	t.Helper()
	before := runtime.NumGoroutine()
	return func() {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				b := make([]byte, 1<<20)
				t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, b[:runtime.Stack(b, true)])
			}
		}
	}
}
