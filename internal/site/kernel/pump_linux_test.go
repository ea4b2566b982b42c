package kernel

import (
	"bytes"
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
	return newLimitedRig(t, way, 0)
}

// newLimitedRig is newRig with a limit on what is held.
func newLimitedRig(t *testing.T, way lab.Way, limit int64) *rig {
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
	r.free.limit = limit
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
	go func() { ended <- r.close() }()
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
	await(t, "the last packet", func() bool { return r.offered() == n })
}

// offered is how many packets were offered to the link.
func (r *rig) offered() int {
	r.observer.mu.Lock()
	defer r.observer.mu.Unlock()
	return r.observer.witness.Facts(0, 0).Up.Packets
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
	for name, p := range map[string][]byte{
		"packets":       packet(0, 1000),
		"super-packets": draft{tcp: true, payload: make([]byte, 4*1448), size: 1448}.super(),
	} {
		t.Run(name, func(t *testing.T) { allocatesNothing(t, p) })
	}
}

// allocatesNothing has a pump move the packet again and again. The path gives
// out wire packets one by one.
func allocatesNothing(t *testing.T, p []byte) {
	r := newRig(t, lab.Way{Delay: time.Millisecond, Rate: 1e9})
	s, err := parseSuper(parseVnet(p), p[vnetSize:])
	if err != nil {
		t.Fatal(err)
	}
	round := func(n int) {
		b := make([]byte, 20000)
		for range n {
			got := 0
			for range 8 {
				for r.feed.write(p) != 0 {
					runtime.Gosched()
				}
			}
			for got < 8*s.payload { // joined or not
				n, errno := r.sink.read(b)
				if errno != 0 {
					runtime.Gosched()
					continue
				}
				got += n - vnetSize - s.header
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

// A flood takes no more memory than the limit, and what comes on top is counted.
func TestPumpsMemoryIsBounded(t *testing.T) {
	const limit = 2 << 20
	for _, d := range []draft{
		{payload: make([]byte, 12), size: 12},
		{payload: make([]byte, 1400), size: 1400},
		{tcp: true, payload: make([]byte, 44*1448), size: 1448},
	} {
		given, wire := d.super(), len(d.wire())
		r := newLimitedRig(t, lab.Way{Delay: time.Hour}, limit)
		sent := 0
		for ; r.lost.Load() < 1000 && sent < 100_000; sent++ {
			r.send(t, given)
		}
		await(t, "the last packet", func() bool { return r.offered()+int(r.lost.Load()) == sent*wire })
		r.end(t)
		held := sent - int(r.lost.Load())/wire
		t.Logf("%d of %d packets of %d bytes are held", held, sent, len(given)-vnetSize)
		if have := r.observer.witness.Facts(0, 0).Up.Packets; have != held*wire {
			t.Errorf("%d wire packets were offered, %d are held", have, held*wire)
		}
		size := len(given)
		if class := classSizes[classOf(size)]; held*(class+wire*wireCost) > limit+class+wire*wireCost || held*size < limit/20 {
			t.Errorf("%d packets of %d bytes are held in %d", held, size, limit)
		}
	}
}

// A queue that has room for one packet of a super-packet does not hold all of it.
func TestWhatIsLeftOfASuperPacketIsSmall(t *testing.T) {
	d := draft{tcp: true, payload: make([]byte, 44*1448), size: 1448, flags: 0x18, seq: 5, id: 9}
	for i := range d.payload {
		d.payload[i] = byte(i * i >> 3)
	}
	r := newRig(t, lab.Way{Rate: 1e6, Queue: lab.Queue{Packets: 2}, Delay: time.Millisecond})
	r.send(t, d.super())
	b := make([]byte, 1<<17)
	var got [][]byte
	await(t, "a packet that is sent, and two that wait", func() bool {
		if n, errno := r.sink.read(b); errno == 0 { // of two packets where it was late
			got = append(got, cut(t, bytes.Clone(b[:n]))...)
		}
		return len(got) == 3
	})
	for i, want := range d.wire()[:3] {
		if !bytes.Equal(got[i], want) {
			t.Errorf("packet %d is not what was sent", i)
		}
	}
	r.end(t)
	if n := r.observer.witness.Facts(0, 0).Up.Drops[string(lab.DropQueue)]; n != 41 {
		t.Errorf("%d packets dropped, want 41", n)
	}
	var free buffers
	big := bufferOf(t, d.super())
	free.hold(big)
	before := free.held
	free.shrink(big, 0, 2)
	if big.class == bigClass || free.held >= before/2 {
		t.Errorf("three packets of 44 take %d bytes of %d", free.held, before)
	}
	free.release()
}
