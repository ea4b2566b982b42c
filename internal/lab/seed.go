package lab

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"
)

// DeriveSeed makes a seed out of a parent seed and the words that name its use.
// Equal arguments give equal seeds on every machine and in every version.
func DeriveSeed(parent uint64, words ...string) uint64 {
	sum := digest(strconv.FormatUint(parent, 10), words)
	return binary.BigEndian.Uint64(sum[:])
}

// RunID names repetition rep of a cell: eight characters that depend on every
// property of the cell, and the repetition.
func RunID(c Cell, rep int) string {
	b, err := json.Marshal(c)
	if err != nil {
		panic("lab: a cell is always JSON: " + err.Error())
	}
	sum := digest("cell", []string{string(b)})
	name := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:5])
	return strings.ToLower(name) + "-" + strconv.Itoa(rep)
}

// Mix64 is the finaliser of splitmix64: a bijection whose output bits each
// depend on all input bits. (Steele, Lea, Flood: Fast splittable pseudorandom
// number generators, 2014.)
func Mix64(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

func digest(first string, words []string) [sha256.Size]byte {
	return sha256.Sum256([]byte("samewire\x00" + first + "\x00" + strings.Join(words, "\x00")))
}
