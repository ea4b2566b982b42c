package kernel

import (
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/link"
)

// rig is a pump between two pairs of sockets, which move packets as devices do.
// Only the way up is used.
type rig struct {
	*pump
	*lane
	observer   *observer
	feed, sink device // the far ends
}

func newRig(t *testing.T, way lab.Way) *rig {
	t.Helper()
	pair := func() (device, device) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		return device{fd: fds[0]}, device{fd: fds[1]}
	}
	r := &rig{observer: newObserver(lab.Run{Seed: 1, Cell: lab.Cell{Path: lab.Path{Up: way}}})}
	var client, server device
	r.feed, client = pair()
	server, r.sink = pair()
	path := lab.Path{Up: way}
	r.lane = newLane(lab.Up, path, r.observer, client, server)
	down := newLane(lab.Down, path, r.observer, server, client)
	var err error
	if r.pump, err = newPump(r.observer, r.lane, down); err != nil {
		t.Fatal(err)
	}
	r.start()
	t.Cleanup(func() {
		r.end(t)
		for _, d := range []device{r.feed, r.sink, client, server} {
			_ = d.close()
		}
	})
	return r
}

// end stops the pump, which must obey at once.
func (r *rig) end(t *testing.T) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- r.pump.close() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the pump does not stop")
	}
}

// packet is the nth packet from client to server, of some size, as a device
// gives it.
func packet(n, size int) []byte {
	b := make([]byte, vnetSize+size)
	p := b[vnetSize:]
	p[0] = 0x45
	binary.BigEndian.PutUint16(p[2:], uint16(size))
	p[9] = unix.IPPROTO_UDP
	copy(p[12:], lab.ClientAddr4.AsSlice())
	copy(p[16:], lab.ServerAddr4.AsSlice())
	binary.BigEndian.PutUint32(p[28:], uint32(n))
	return b
}

func (r *rig) send(t *testing.T, p []byte) {
	t.Helper()
	await(t, "room", func() bool { return r.feed.write(p) == 0 })
}

// receive returns the number of the next packet.
func (r *rig) receive(t *testing.T) int {
	t.Helper()
	b := make([]byte, 2000)
	await(t, "a packet", func() bool { _, errno := r.sink.read(b); return errno == 0 })
	return int(binary.BigEndian.Uint32(b[vnetSize+28:]))
}

// awaitOffered waits until n packets were offered to the link.
func (r *rig) awaitOffered(t *testing.T, n int) {
	t.Helper()
	await(t, "the last packet", func() bool {
		r.observer.mu.Lock()
		defer r.observer.mu.Unlock()
		return r.observer.witness.Facts(0, 0).Up.Packets == n
	})
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for start := time.Now(); !ok(); time.Sleep(10 * time.Microsecond) {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("%s did not come", what)
		}
	}
}

func TestPumpDelaysInOrder(t *testing.T) {
	r := newRig(t, lab.Way{Delay: 20 * time.Millisecond})
	start := time.Now()
	for n := range 100 {
		r.send(t, packet(n, 100))
	}
	for n := range 100 {
		if got := r.receive(t); got != n {
			t.Fatalf("packet %d came in the place of %d", got, n)
		}
		if n == 0 && time.Since(start) < 20*time.Millisecond {
			t.Errorf("early: after %v", time.Since(start))
		}
	}
}

func TestPumpCarriesOnlyItsOwn(t *testing.T) {
	r := newRig(t, lab.Way{Loss: lab.Loss{Share: 0.3}})
	other := packet(0, 100)
	copy(other[vnetSize+16:], []byte{224, 0, 0, 22})
	six := make([]byte, vnetSize+60)
	six[vnetSize] = 0x60
	model := link.New[int](lab.Path{Up: lab.Way{Loss: lab.Loss{Share: 0.3}}}, 1)
	for n := range 50 {
		r.send(t, other)
		r.send(t, six)
		r.send(t, []byte{0x45})
		r.send(t, packet(n, 100))
		if model.Offer(lab.Up, 0, make([]byte, 100), false, 0).Drop != lab.NotDropped {
			continue
		}
		if got := r.receive(t); got != n {
			t.Fatalf("packet %d came, want %d", got, n)
		}
	}
	r.awaitOffered(t, 50)
	r.end(t)
	f := r.observer.witness.Facts(r.observer.now(), 0).Up
	if f.Foreign != 150 || f.Packets != 50 || f.Drops[string(lab.DropLoss)] == 0 {
		t.Errorf("%+v", f)
	}
}

func TestPumpCountsWhatTheKernelRefuses(t *testing.T) {
	r := newRig(t, lab.Way{})
	const n = 1000 // far more than the receiver's queue holds
	for i := range n {
		r.send(t, packet(i, 100))
	}
	r.awaitOffered(t, n)
	r.end(t)
	received := 0
	for b := make([]byte, 2000); ; received++ {
		if _, errno := r.sink.read(b); errno != 0 {
			break
		}
	}
	if lost := int(r.lost.Load()); lost == 0 || lost+received != n {
		t.Errorf("%d of %d received, %d counted as lost", received, n, lost)
	}
}

func TestPumpEndsWithItsDevice(t *testing.T) {
	r := newRig(t, lab.Way{})
	if err := unix.Shutdown(r.feed.fd, unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.done:
	case <-time.After(5 * time.Second):
		t.Fatal("the pump goes on without its device")
	}
	if !errors.Is(r.err, io.EOF) {
		t.Errorf("the pump ended with %v", r.err)
	}
}

func TestPumpDoesNotAllocate(t *testing.T) {
	r := newRig(t, lab.Way{Delay: time.Millisecond, Rate: 1e9})
	p := packet(0, 1000)
	round := func(n int) {
		b := make([]byte, 2000)
		for range n {
			for range 8 {
				for r.feed.write(p) != 0 {
					runtime.Gosched()
				}
			}
			for range 8 {
				for {
					if _, errno := r.sink.read(b); errno == 0 {
						break
					}
					runtime.Gosched()
				}
			}
		}
	}
	round(200)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	round(500)
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > 400 {
		t.Errorf("%d allocations for 4000 packets", n)
	}
}
