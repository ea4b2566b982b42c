package kernel

import "golang.org/x/sys/unix"

// classSizes are the sizes of buffers, the device's header included. The
// largest holds any packet of a device; a packet is kept in the smallest that
// holds it, so that a flood of small packets does not take all the memory.
var classSizes = [...]int{256, 2048, 16 << 10, 68 << 10}

// bigClass is the class whose buffers hold any packet.
const bigClass = len(classSizes) - 1

const (
	// slabSize is about how much memory is asked of the system at a time.
	slabSize = 1 << 20
	// wireCost is what the link, at most, keeps of a wire packet, in bytes.
	wireCost = 144
	// heldLimit is how much the packets under way in one direction may take.
	heldLimit = 512 << 20
)

// buffer holds a packet as it was read, while some of its wire packets are on
// their way.
type buffer struct {
	super
	data  []byte // the device's header, then the packet; as long as its class says
	class int
	refs  int   // wire packets that may still come out of the link
	n     int   // number in the run of the first wire packet; the others follow
	cost  int64 // what it counts for, in bytes
}

// packet is the packet without the device's header.
func (b *buffer) packet() []byte { return b.data[vnetSize:] }

// whole says that wire packets i to i+n-1 are all that was read.
func (b *buffer) whole(i, n int) bool { return i == 0 && n == b.count && b.first == 0 }

// saved keeps what a header covers.
type saved [vnetSize + maxHeader]byte

// lay makes wire packets i to i+n-1 lie in the buffer as one packet, and returns
// it, with the vnetSize bytes before it. Then lift must follow.
func (b *buffer) lay(i, n int, s *saved) []byte {
	if b.header == 0 {
		return b.data[:vnetSize+b.size]
	}
	at := b.at(i)
	copy(s[:vnetSize+b.header], b.data[at:])
	b.super.lay(b.packet(), i, n)
	return b.data[at : at+vnetSize+b.bytes(i, n)]
}

// lift puts back what lay covered.
func (b *buffer) lift(i int, s *saved) {
	if b.header != 0 {
		copy(b.data[b.at(i):], s[:vnetSize+b.header])
	}
}

// finish completes the checksum of a wire packet that lies in the buffer. One
// that is alone there stays so.
func (b *buffer) finish(packet []byte) {
	if b.vnet.flags&needsChecksum == 0 {
		return
	}
	finishChecksum(packet, int(b.vnet.start), int(b.vnet.offset))
	if b.header == 0 {
		b.vnet = vnet{}
		b.vnet.put(b.data)
	}
}

// buffers is a stock of buffers. Their memory is the system's, not the
// collector's, which is switched off while it matters. One thread uses a stock.
//
// Properties that an edit must keep: no allocation once enough buffers are
// there; what is in use stays below the limit, but for one packet.
type buffers struct {
	limit int64 // bytes in use; 0 means heldLimit
	held  int64
	stock [len(classSizes)][]*buffer
	slabs [][]byte
}

// classOf is the class of the smallest buffer with room for so many bytes.
func classOf(size int) int {
	for c, s := range classSizes {
		if size <= s {
			return c
		}
	}
	return bigClass
}

// get returns a buffer for n bytes, or nil when the system has no more memory.
func (s *buffers) get(n int) *buffer {
	c := classOf(n)
	if len(s.stock[c]) == 0 && !s.grow(c) {
		return nil
	}
	last := len(s.stock[c]) - 1
	b := s.stock[c][last]
	s.stock[c] = s.stock[c][:last]
	return b
}

// grow asks the system for more buffers of a class.
func (s *buffers) grow(c int) bool {
	size := classSizes[c]
	n := slabSize / size
	slab, err := unix.Mmap(-1, 0, n*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return false
	}
	s.slabs = append(s.slabs, slab)
	made := make([]buffer, n)
	for i := range made {
		made[i] = buffer{data: slab[i*size : (i+1)*size : (i+1)*size], class: c}
		s.stock[c] = append(s.stock[c], &made[i])
	}
	return true
}

// put takes back a buffer.
func (s *buffers) put(b *buffer) {
	s.held -= b.cost
	b.cost = 0
	s.stock[b.class] = append(s.stock[b.class], b)
}

// hold counts a buffer as in use. It is false when that would be too much.
func (s *buffers) hold(b *buffer) bool {
	limit := s.limit
	if limit == 0 {
		limit = heldLimit
	}
	if s.held >= limit {
		return false
	}
	b.cost = int64(classSizes[b.class] + b.count*wireCost)
	s.held += b.cost
	return true
}

// shrink moves what is left of a super-packet, its wire packets from i to j, to
// a smaller buffer, where there is one for it: a queue that is nearly full may
// take one packet of forty, and that must not keep the memory of all.
func (s *buffers) shrink(b *buffer, i, j int) {
	n := vnetSize + b.bytes(i, j-i+1)
	if b.header == 0 || classOf(n) == b.class {
		return
	}
	small := s.get(n)
	if small == nil {
		return
	}
	from := vnetSize + b.header + b.at(i)
	copy(small.data, b.data[:vnetSize+b.header])
	copy(small.data[vnetSize+b.header:n], b.data[from:])
	b.data, small.data = small.data, b.data
	b.class, small.class = small.class, b.class
	b.first = i
	s.put(small)
	s.held -= b.cost
	b.cost = int64(classSizes[b.class] + b.count*wireCost)
	s.held += b.cost
}

// release gives all memory back to the system. No buffer may be used after it.
func (s *buffers) release() {
	for _, slab := range s.slabs {
		_ = unix.Munmap(slab)
	}
	*s = buffers{}
}
