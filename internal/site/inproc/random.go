package inproc

import (
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/samewire/samewire/internal/lab"
)

// random is the randomness of one stack. It follows from a seed, and is safe
// for concurrent use. It is both of stack.Options.RandSource (ephemeral ports,
// hash seeds) and SecureRNG (sequence numbers).
type random struct {
	mu  sync.Mutex
	src *rand.ChaCha8
}

// newRandom makes the randomness of the host named.
func newRandom(seed uint64, host string) *random {
	var key [32]byte
	for i := range 4 {
		word := lab.DeriveSeed(seed, "stack", host, strconv.Itoa(i))
		binary.LittleEndian.PutUint64(key[8*i:], word)
	}
	return &random{src: rand.NewChaCha8(key)}
}

// Read implements io.Reader. It never fails.
func (r *random) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.src.Read(p)
}

// Int63 implements rand.Source of math/rand.
func (r *random) Int63() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(r.src.Uint64() >> 1)
}

// Seed implements rand.Source of math/rand. The seed is the run's: it stays.
func (r *random) Seed(int64) {}
