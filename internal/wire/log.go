package wire

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// log keeps packets: a table with an entry of fixed size for each, and an arena
// with their bytes. Both grow by chunks, and once the memory for the first
// packets is used, further chunks go round in rings.
//
// Properties that an edit must keep:
//   - a packet costs no allocation but that of a chunk, now and then; what a chunk
//     has once been given is not moved: what it costs to keep a packet does not
//     grow with the number of packets;
//   - the memory is that of the limits, whatever comes;
//   - what is kept is a beginning and an end of what was seen: packets 1 to i and
//     j to n, each with its bytes.
type log struct {
	limits Limits
	n      int // packets kept so far, with those that have been overwritten
	first  int // packets kept before the rings began; 0: they have not
	sealed bool

	table rings[[tableChunk]entry]
	waits []*[tableChunk]wait // of the table's chunks; nil until one of its packets has waited for a rate
	arena rings[[arenaChunk]byte]
	at    int // where the arena's newest chunk has room
	whole int64
}

const (
	tableChunk = 1 << 10
	arenaChunk = 128 << 10
	// What a chunk of the table takes, with its waits.
	tableBytes = tableChunk * int64(entryBytes+waitBytes)

	entryBytes, waitBytes = 32, 16
)

// entry is what the table has of a packet: half a line of the processor's cache,
// since what the log costs is the memory that it goes through.
type entry struct {
	at, left      time.Duration
	chunk, offset uint32 // where its bytes are
	size          uint32
	rest          uint32 // see pack
}

// wait is how long a packet waited for the rate, and was sent at it.
type wait struct{ waited, sending time.Duration }

// The rest of an entry: how many bytes are kept, and above that its direction,
// the bits of its fate, the place of its drop's reason (0: it was not dropped),
// and whether it has a wait.
const (
	keptBits   = 18
	downShift  = keptBits
	doneShift  = downShift + 1
	dropShift  = doneShift + 4
	waitShift  = dropShift + 8
	maxReasons = 1 << (waitShift - dropShift)
)

func pack(kept int, d lab.Direction, drop, done uint8) uint32 {
	return uint32(kept) | uint32(d)<<downShift | uint32(done)<<doneShift | uint32(drop)<<dropShift
}

func (e *entry) kept() uint32 { return e.rest & (1<<keptBits - 1) }
func (e *entry) drop() uint8  { return uint8(e.rest >> dropShift) }
func (e *entry) done() uint8  { return uint8(e.rest >> doneShift & 15) }
func (e *entry) down() uint32 { return e.rest >> downShift & 1 }

// rings are chunks: a beginning that stays, and a ring after it.
type rings[C any] struct {
	chunks []*C
	newest *C
	count  int // chunks begun so far, those of the ring each time
	stay   int // chunks of the beginning; 0 while the ring has not begun
	ring   int // chunks of the ring
	spare  []*C
}

// place is where chunk i is.
func (r *rings[C]) place(i int) int {
	if r.stay == 0 || i < r.stay {
		return i
	}
	return r.stay + (i-r.stay)%r.ring
}

// has says whether chunk i has not been overwritten.
func (r *rings[C]) has(i int) bool {
	return i < r.count && (r.stay == 0 || i < r.stay || i >= r.count-r.ring)
}

// begin begins a new chunk.
func (r *rings[C]) begin() {
	i := r.place(r.count)
	if i == len(r.chunks) {
		r.chunks = append(r.chunks, r.make())
	}
	r.newest = r.chunks[i]
	r.count++
}

// make returns a chunk, whose content means nothing.
func (r *rings[C]) make() *C {
	last := len(r.spare) - 1
	if last < 0 {
		return new(C)
	}
	c := r.spare[last]
	r.spare = r.spare[:last]
	return c
}

func newLog(l Limits) log {
	l = l.or()
	made := log{limits: l}
	// Of the newest packets' memory a third is for the table: their headers alone
	// are kept, as a rule.
	made.table.ring = int(max(l.Newest/3/tableBytes, 2))
	made.arena.ring = int(max((l.Newest-int64(made.table.ring)*tableBytes)/arenaChunk, 2))
	return made
}

// keep keeps the first bytes of a packet, which must be no more than arenaChunk.
func (l *log) keep(d lab.Direction, at time.Duration, packet []byte, kept int, drop, done uint8) {
	if l.sealed {
		return
	}
	slot := l.n & (tableChunk - 1)
	if slot == 0 {
		l.room(tableBytes)
		l.table.begin()
	}
	if l.at+kept > arenaChunk || l.arena.count == 0 {
		l.room(arenaChunk)
		l.arena.begin()
		l.at = 0
	}
	copy(l.arena.newest[l.at:], packet[:kept])
	e := &l.table.newest[slot] // written where it lies: a copy costs as much again
	e.at, e.left = at, Never
	e.chunk, e.offset = uint32(l.arena.count-1), uint32(l.at)
	e.size, e.rest = uint32(len(packet)), pack(kept, d, drop, done)
	l.at += kept
	l.n++
}

// room begins the rings where so many bytes more would be too many.
func (l *log) room(bytes int64) {
	if l.first > 0 || l.table.count == 0 || l.arena.count == 0 {
		return
	}
	if l.used()+bytes <= l.limits.Total-l.rings() {
		return
	}
	l.first = l.n
	l.table.stay, l.arena.stay = l.table.count, l.arena.count
}

func (l *log) used() int64 {
	return int64(len(l.table.chunks))*tableBytes + int64(len(l.arena.chunks))*arenaChunk
}

func (l *log) rings() int64 {
	return int64(l.table.ring)*tableBytes + int64(l.arena.ring)*arenaChunk
}

// chunk is where the table's chunk with packet n is; -1 where it is not kept.
func (l *log) chunk(n int) int {
	i := uint(n - 1)
	if i >= uint(l.n) {
		return -1
	}
	c := int(i / tableChunk)
	if l.table.stay == 0 {
		return c
	}
	if !l.table.has(c) {
		return -1
	}
	return l.table.place(c)
}

// entry is that of packet n; nil where it is not kept.
func (l *log) entry(n int) *entry {
	c := l.chunk(n)
	if c < 0 {
		return nil
	}
	return &l.table.chunks[c][uint(n-1)%tableChunk]
}

// left notes the delivery of packet n, if it is the first one.
func (l *log) left(n int, at, waited, sending time.Duration) {
	c, i := l.chunk(n), uint(n-1)%tableChunk
	if c < 0 {
		return
	}
	e := &l.table.chunks[c][i]
	if e.left != Never {
		return
	}
	e.left = at
	if waited|sending == 0 {
		return
	}
	for c >= len(l.waits) {
		l.waits = append(l.waits, nil)
	}
	if l.waits[c] == nil {
		l.waits[c] = new([tableChunk]wait)
	}
	l.waits[c][i] = wait{waited, sending}
	e.rest |= 1 << waitShift
}

// wait is that of packet n, which is kept.
func (l *log) wait(n int) wait {
	c, i := l.chunk(n), uint(n-1)%tableChunk
	if l.table.chunks[c][i].rest>>waitShift == 0 {
		return wait{}
	}
	return l.waits[c][i]
}

// data is what was kept of a packet.
func (l *log) data(e *entry) []byte {
	return l.arena.chunks[l.arena.place(int(e.chunk))][e.offset:][:e.kept():e.kept()]
}

// gap says which packets are missing: those after the first, until before packet
// n. Where none is, n is first+1.
func (l *log) gap() (first, n int) {
	if l.first == 0 {
		return l.n, l.n + 1
	}
	n = l.n + 1
	for n > l.first+1 {
		e := l.entry(n - 1)
		if e == nil || !l.arena.has(int(e.chunk)) {
			break
		}
		n--
	}
	return l.first, n
}
