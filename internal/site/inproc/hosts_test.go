package inproc

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// open opens hosts with the plain server, and closes them after the test.
func open(t *testing.T, p lab.Path, client clientFunc) *Hosts {
	t.Helper()
	site := Site{Server: plainServer{}, Client: client}
	h, err := site.Open(t.Context(), job{Path: p}.run())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := h.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestNothingLeftBehind(t *testing.T) {
	for _, test := range []struct {
		name  string
		limit time.Duration
		fails bool
	}{
		{name: "done", limit: time.Minute},
		{name: "cancelled in the middle", limit: 100 * time.Millisecond, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			client := plainClient{size: 200e3, datagram: 100}
			if test.fails {
				client.size = 1e9
			}
			site := Site{Server: plainServer{}, Client: clientFunc(client.get)}
			h, err := site.Open(t.Context(), job{Path: path(10*time.Millisecond, 1e8, 0)}.run())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), test.limit)
			defer cancel()
			if err := h.Serve(ctx); err != nil {
				t.Fatal(err)
			}
			report, err := h.Get(ctx)
			if err != nil || (report.Error != "") != test.fails {
				t.Errorf("report %q, error %v", report.Error, err)
			}
			for range 2 {
				if err := h.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}
			if _, err := h.client.Dial(t.Context(), netip.AddrPortFrom(h.server.Addr(), lab.Port)); err == nil {
				t.Error("dialled on closed hosts")
			}
			if err := h.Serve(t.Context()); !errors.Is(err, errClosed) {
				t.Errorf("serve on closed hosts: %v", err)
			}
			awaitGoroutines(t, before)
		})
	}
}

// awaitGoroutines waits until there are no more goroutines than there were.
func awaitGoroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// Connections that nobody closed, and a server that does not close them, end
// with the hosts.
func TestCloseEndsWhatIsOpen(t *testing.T) {
	before := runtime.NumGoroutine()
	h := open(t, path(0, 0, 0), nil)
	addr := netip.AddrPortFrom(h.server.Addr(), lab.Port)
	errs := make(chan error, 3)
	c, err := h.client.Dial(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	u, err := h.client.ListenPacket(netip.AddrPortFrom(h.client.Addr(), 0))
	if err != nil {
		t.Fatal(err)
	}
	l, err := h.client.Listen(netip.AddrPortFrom(netip.IPv4Unspecified(), 0))
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, err := c.Read(make([]byte, 1)); errs <- err }()
	go func() { _, _, err := u.ReadFrom(make([]byte, 1)); errs <- err }()
	go func() { _, err := l.Accept(); errs <- err }()
	time.Sleep(20 * time.Millisecond)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		select {
		case err := <-errs:
			if err == nil {
				t.Error("no error after close")
			}
		case <-time.After(5 * time.Second):
			t.Fatal("still waiting after close")
		}
	}
	awaitGoroutines(t, before)
}

func TestManyHosts(t *testing.T) {
	const cycles, warm = 200, 20
	var start runtime.MemStats
	before := runtime.NumGoroutine()
	for i := range cycles {
		if i == warm {
			runtime.GC()
			runtime.ReadMemStats(&start)
		}
		if a := doOnce(job{Path: path(0, 0, 0), Size: 20e3, Datagram: 10, Seed: uint64(i)}); a.Error != "" {
			t.Fatal(a.Error)
		}
	}
	awaitGoroutines(t, before)
	var end runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&end)
	// One pair of hosts left behind in each cycle would be some 50 kB.
	growth := (int64(end.HeapAlloc) - int64(start.HeapAlloc)) / (cycles - warm)
	t.Logf("heap %d B, %+d B a cycle, %d objects", end.HeapAlloc, growth, end.HeapObjects)
	if growth > 4<<10 {
		t.Errorf("the heap grows by %d B a cycle", growth)
	}
}

func TestFactsAreCutWhereGetEnds(t *testing.T) {
	var late net.PacketConn
	h := open(t, path(0, 0, 0), func(ctx context.Context, host *Host, server netip.AddrPort) error {
		var err error
		late, err = host.ListenPacket(netip.AddrPortFrom(host.Addr(), 0))
		return errors.Join(err, (&plainClient{size: 1000, datagram: 100}).get(ctx, host, server))
	})
	if n := h.Facts().Wire.Up.Packets; n != 0 {
		t.Errorf("%d packets before get", n)
	}
	report, err := h.Get(t.Context())
	if err != nil || report.Error != "" {
		t.Fatal(report.Error, err)
	}
	cut := h.Facts()
	if _, err := late.WriteTo([]byte("late"), net.UDPAddrFromAddrPort(netip.AddrPortFrom(h.server.Addr(), lab.Port))); err != nil {
		t.Fatal(err)
	}
	if now := h.describe(h.pump.facts(h.pump.now())).Wire.Up.UDPPackets; now != 2 {
		t.Errorf("%d datagrams on the wire, want 2", now)
	}
	if again := h.Facts(); !reflect.DeepEqual(again, cut) {
		t.Errorf("facts were %+v and are %+v", cut, again)
	}
	if len(cut.Server.Senders) != 1 || cut.Server.Senders[0].InitialWindow != 10 || cut.Server.Senders[0].CC != "cubic" {
		t.Errorf("server: %+v", cut.Server)
	}
	if cut.Wire.Digest == "" || cut.Wire.Up.UDPPackets != 1 {
		t.Errorf("wire: %+v", cut.Wire)
	}
}

type failingServer struct{}

func (failingServer) Start(*Host, lab.Run) (Running, error) { return nil, errors.New("no such luck") }

func TestServeFails(t *testing.T) {
	before := runtime.NumGoroutine()
	site := Site{Server: failingServer{}}
	h, err := site.Open(t.Context(), job{}.run())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Serve(t.Context()); err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Errorf("serve: %v", err)
	}
	if err := h.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	awaitGoroutines(t, before)
}
