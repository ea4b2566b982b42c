package hostile

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
)

func argsOf(list ...any) (args []reflect.Value) {
	for _, a := range list {
		args = append(args, reflect.ValueOf(a))
	}
	return args
}

// calls returns what a function is called with.
func calls(t *testing.T, times int) (list [][]byte, kinds map[bool]int) {
	kinds = map[bool]int{}
	seed := argsOf([]byte("GET / HTTP/1.1\r\n"), "h2", false, uint64(7))
	m := mutator{rand: rand.New(rand.NewPCG(1, 1)), seeds: [][]reflect.Value{seed, argsOf([]byte("\x16\x03\x01"), "", true, uint64(1))}}
	m.run(reflect.ValueOf(func(_ *testing.T, b []byte, _ string, is bool, _ uint64) {
		list = append(list, bytes.Clone(b))
		kinds[is]++
	}), append(argsOf(t), seed...), times)
	return list, kinds
}

func TestDamageIsTheSameEachTime(t *testing.T) {
	a, kinds := calls(t, 5000)
	b, _ := calls(t, 5000)
	if !reflect.DeepEqual(a, b) || len(a) != 5000 {
		t.Fatalf("%d and %d calls, or others", len(a), len(b))
	}
	if string(a[0]) != "GET / HTTP/1.1\r\n" || kinds[true] == 0 || kinds[false] == 0 {
		t.Errorf("the seed does not come first, or a truth value stays: %q, %v", a[0], kinds)
	}
	different := map[string]bool{}
	short, long, foreign := false, false, false
	for _, x := range a {
		different[string(x)] = true
		short, long = short || len(x) == 0, long || len(x) > 100
		foreign = foreign || bytes.Contains(x, []byte("\x16\x03\x01"))
	}
	if len(different) < 4000 || !short || !long || !foreign {
		t.Errorf("%d different ones; empty %v, long %v, with parts of another seed %v", len(different), short, long, foreign)
	}
}

func TestDamageKeepsTheSeed(t *testing.T) {
	seed := []byte("seed")
	m := mutator{rand: rand.New(rand.NewPCG(1, 2)), seeds: [][]reflect.Value{argsOf(seed)}}
	m.run(reflect.ValueOf(func(*testing.T, []byte) {}), argsOf(t, seed), 1000)
	if string(seed) != "seed" {
		t.Errorf("the seed is %q now", seed)
	}
}
