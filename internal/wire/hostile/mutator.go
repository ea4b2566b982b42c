package hostile

import (
	"math/rand/v2"
	"reflect"
	"slices"
)

// longest is how long an argument may grow.
const longest = 1 << 13

// telling are bytes that lengths, types and limits turn on.
var telling = []byte{0, 1, 2, 3, 4, 5, 6, 8, 14, 16, 20, 22, 23, 24, 40, 60, 63, 64, 127, 128, 191, 192, 254, 255}

// mutator damages arguments. It gives the same ones for the same seed.
type mutator struct {
	rand  *rand.Rand
	seeds [][]reflect.Value
}

// damage returns damaged copies of arguments.
func (m *mutator) damage(args []reflect.Value) []reflect.Value {
	out := slices.Clone(args)
	for i, a := range out {
		switch v := reflect.New(a.Type()).Elem(); {
		case a.Kind() == reflect.Slice:
			v.SetBytes(m.bytes(a.Bytes(), m.other(i)))
			out[i] = v
		case m.rand.IntN(4) != 0: // the rest changes now and then
		case a.Kind() == reflect.String:
			v.SetString(string(m.bytes([]byte(a.String()), m.other(i))))
			out[i] = v
		case a.Kind() == reflect.Bool:
			v.SetBool(m.rand.IntN(2) == 0)
			out[i] = v
		case a.CanUint():
			v.SetUint(m.rand.Uint64() >> m.rand.IntN(64))
			out[i] = v
		case a.CanInt():
			v.SetInt(int64(m.rand.Uint64()) >> m.rand.IntN(64))
			out[i] = v
		}
	}
	return out
}

// other is what another seed has in place i.
func (m *mutator) other(i int) []byte {
	a := m.seeds[m.rand.IntN(len(m.seeds))][i]
	if a.Kind() == reflect.String {
		return []byte(a.String())
	}
	if a.Kind() == reflect.Slice {
		return a.Bytes()
	}
	return nil
}

// bytes returns a damaged copy of b, with parts of other perhaps.
func (m *mutator) bytes(b, other []byte) []byte {
	b = slices.Clone(b)
	for range 1 + m.rand.IntN(4) {
		b = m.once(b, other)
	}
	return b[:min(len(b), longest)]
}

func (m *mutator) once(b, other []byte) []byte {
	if len(b) == 0 {
		return append(b, m.part(other)...)
	}
	at := m.rand.IntN(len(b))
	till := at + m.rand.IntN(min(len(b)-at, 64)+1)
	switch m.rand.IntN(9) {
	case 0:
		b[at] ^= 1 << m.rand.IntN(8)
	case 1:
		b[at] = byte(m.rand.Uint32())
	case 2, 3:
		b[at] = telling[m.rand.IntN(len(telling))]
	case 4:
		return b[:at]
	case 5:
		return slices.Delete(b, at, till)
	case 6:
		return slices.Insert(b, at, b[at:till]...)
	case 7:
		return slices.Insert(b, at, m.part(other)...)
	case 8:
		copy(b[at:], m.part(other))
	}
	return b
}

// part is a part of b.
func (m *mutator) part(b []byte) []byte {
	if len(b) == 0 {
		return []byte{telling[m.rand.IntN(len(telling))]}
	}
	at := m.rand.IntN(len(b))
	return slices.Clone(b[at : at+m.rand.IntN(len(b)-at)+1])
}
