package kernel

import (
	"bytes"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/samewire/samewire/internal/lab"
)

// still is both lanes of a path whose time stands still until it is moved.
type still struct {
	lanes [2]*lane
	sinks [2]device // what the hosts' devices get
	now   time.Duration
}

func newStill(t *rapid.T, path lab.Path) *still {
	s := &still{}
	o := newObserver(lab.Run{Seed: 7, Cell: lab.Cell{Path: path}})
	o.now = func() time.Duration { return s.now }
	for d := range s.lanes {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_SNDBUF, 8<<20)
		s.sinks[d] = device{fd: fds[1]}
		s.lanes[d] = newLane(lab.Direction(d), path, o, device{fd: -1}, device{fd: fds[0]})
	}
	s.lanes = joinLanes(s.lanes[0], s.lanes[1])
	return s
}

func (s *still) close(t *rapid.T) {
	for d, l := range s.lanes {
		if l.free.held != 0 {
			t.Fatalf("%d bytes are still held %s", l.free.held, l.d)
		}
		if l.lost.Load() != 0 {
			t.Fatalf("%d packets lost by the lab %s", l.lost.Load(), l.d)
		}
		l.free.release()
		_, _ = l.out.close(), s.sinks[d].close()
	}
}

// arrive gives a lane what its device would.
func (s *still) arrive(d lab.Direction, given []byte) {
	l := s.lanes[d]
	if l.arriving == nil {
		l.arriving = l.free.get(classSizes[bigClass])
	}
	l.offer(copy(l.arriving.data, given))
}

// leave lets out what is due in a direction, as wire packets.
func (s *still) leave(t *rapid.T, d lab.Direction) (out [][]byte) {
	b := make([]byte, 1<<17)
	for s.lanes[d].next <= s.now {
		if p := s.lanes[d].gather(); p.n > 0 {
			s.lanes[d].write(p)
		}
		for {
			n, errno := s.sinks[d].read(b)
			if errno != 0 {
				break
			}
			out = append(out, cut(t, b[:n])...)
		}
	}
	return out
}

// anyPath draws a path that does all that a path can do to a packet.
func anyPath(t *rapid.T, family lab.Family) lab.Path {
	way := func(name string) lab.Way {
		ms := func(what string, most int) time.Duration {
			return time.Duration(rapid.IntRange(0, most).Draw(t, name+" "+what)) * time.Millisecond
		}
		share := func(what string) float64 {
			return rapid.SampledFrom([]float64{0, 0, 0.01, 0.3, 1}).Draw(t, name+" "+what)
		}
		w := lab.Way{
			Delay: ms("delay", 3), MTU: rapid.SampledFrom([]int{0, 1400, 600}).Draw(t, name+" MTU"), TooBig: true,
			Loss:      lab.Loss{Share: rapid.SampledFrom([]float64{0, 0.05, 0.4, 0.9}).Draw(t, name+" loss"), ECN: rapid.Bool().Draw(t, name+" loss ECN")},
			Duplicate: lab.Chance{Share: share("duplicate")},
			Corrupt:   lab.Chance{Share: share("corrupt")},
			Reorder:   lab.Reorder{Share: share("reorder")},
			Jitter:    lab.Jitter{Spread: ms("jitter", 2)},
		}
		if rapid.Bool().Draw(t, name+" limited") {
			w.Rate = lab.Rate(rapid.SampledFrom([]int{1e6, 1e8, 1e10}).Draw(t, name+" rate"))
			w.Queue.Packets = rapid.SampledFrom([]int{0, 3, 40}).Draw(t, name+" queue")
			w.AQM.Kind = rapid.SampledFrom([]lab.AQMKind{"", lab.CoDel, lab.FQCoDel}).Draw(t, name+" AQM")
			w.AQM.Target, w.AQM.Interval, w.AQM.ECN = time.Millisecond, 2*time.Millisecond, rapid.Bool().Draw(t, name+" AQM ECN")
		}
		return w
	}
	p := lab.Path{Family: family, Up: way("up"), Down: way("down")}
	if rapid.Bool().Draw(t, "rebinds") {
		p.Rebind = lab.Rebind{Every: time.Millisecond, Address: rapid.Bool().Draw(t, "address")}
	}
	return p
}

// Whatever the path does, the hosts get the same packets, byte for byte and in
// the same order, and the witness sees the same, whether super-packets are
// offered or the same wire packets one by one.
func TestOffloadIsTheSameWire(t *testing.T) {
	var joined, all int
	rapid.Check(t, func(t *rapid.T) {
		family := rapid.SampledFrom(families).Draw(t, "family")
		path := anyPath(t, family)
		super, single := newStill(t, path), newStill(t, path)
		defer func() { super.close(t); single.close(t) }()
		for range rapid.IntRange(1, 6).Draw(t, "packets") {
			d := random(t)
			d.six, d.down = family == lab.IPv6, rapid.Bool().Draw(t, "down")
			way := lab.Up
			if d.down {
				way = lab.Down
			}
			super.arrive(way, d.super())
			for _, p := range d.wire() {
				single.arrive(way, append(make([]byte, vnetSize), p...))
			}
			step := time.Duration(rapid.IntRange(0, 1500).Draw(t, "step")) * time.Microsecond
			super.now, single.now = super.now+step, single.now+step
			all += compareOutput(t, super, single)
			joined++
		}
		super.now, single.now = super.now+time.Hour, single.now+time.Hour
		all += compareOutput(t, super, single)
		have, want := super.lanes[0].observer.witness.Facts(never, 0), single.lanes[0].observer.witness.Facts(never, 0)
		if have.Digest != want.Digest || !equalWays(have.Up, want.Up) || !equalWays(have.Down, want.Down) {
			t.Fatalf("the witness saw\n%+v, without offload\n%+v", have, want)
		}
	})
	t.Logf("%d super-packets, %d wire packets delivered", joined, all)
}

func equalWays(a, b lab.WireWay) bool {
	for reason, n := range a.Drops {
		if b.Drops[reason] != n {
			return false
		}
	}
	return a.Packets == b.Packets && a.Bytes == b.Bytes && len(a.Drops) == len(b.Drops) &&
		a.Duplicated == b.Duplicated && a.Corrupted == b.Corrupted && a.Marked == b.Marked &&
		a.Router == b.Router && a.TCPRetransmits == b.TCPRetransmits && a.UDPPackets == b.UDPPackets
}

// compareOutput lets out what is due, and returns how many packets that were.
func compareOutput(t *rapid.T, super, single *still) (n int) {
	for d := range super.lanes {
		have, want := super.leave(t, lab.Direction(d)), single.leave(t, lab.Direction(d))
		for i := range min(len(have), len(want)) {
			if !bytes.Equal(have[i], want[i]) {
				t.Fatalf("%s: packet %d is\n%x, without offload\n%x", lab.Direction(d), i, have[i], want[i])
			}
		}
		if len(have) != len(want) {
			t.Fatalf("%s: %d packets, without offload %d", lab.Direction(d), len(have), len(want))
		}
		n += len(have)
	}
	return n
}
