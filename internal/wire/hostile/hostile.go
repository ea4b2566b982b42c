// Package hostile has the fuzzers of what reads packets carried out a given
// number of times on input that is made from their seeds, the same each time. It
// is used by tests alone:
//
//	go test ./internal/wire/... -run '^Fuzz' -args -smoke=1000000
//
// In goes a fuzzer's seeds and its function; the function is called with damaged
// copies of the seeds. What go's own engine does besides, to look for input that
// takes new ways through the code, is left to it (make fuzz): that takes ten times
// as long, and finds other things each time, which a gate must not.
package hostile

import (
	"flag"
	"math/rand/v2"
	"reflect"
	"testing"
)

var smoke = flag.Int("smoke", 0, "how many times each fuzzer is carried out on damaged seeds; 0: go's own way")

// F is a testing.F whose function is called with damaged seeds, where -smoke asks
// for it.
type F struct {
	*testing.F
	seeds [][]reflect.Value
}

// Wrap wraps a fuzzer's F.
func Wrap(f *testing.F) *F { return &F{F: f} }

// Add adds a seed.
func (f *F) Add(args ...any) {
	f.Helper()
	var seed []reflect.Value
	for _, a := range args {
		seed = append(seed, reflect.ValueOf(a))
	}
	f.seeds = append(f.seeds, seed)
	f.F.Add(args...)
}

// Fuzz is testing.F's, or the same function called with damaged seeds.
func (f *F) Fuzz(fn any) {
	f.Helper()
	if *smoke == 0 {
		f.F.Fuzz(fn)
		return
	}
	call, n := reflect.ValueOf(fn), 0
	f.F.Fuzz(reflect.MakeFunc(call.Type(), func(args []reflect.Value) []reflect.Value {
		n++
		m := mutator{rand: rand.New(rand.NewPCG(1, uint64(n))), seeds: f.seeds}
		m.run(call, args, *smoke/len(f.seeds)+1)
		return nil
	}).Interface())
}

// run calls a fuzzer's function with the seed, then with damaged copies. The
// first that it fails on is told, as go's own fuzzers keep it.
func (m *mutator) run(call reflect.Value, args []reflect.Value, times int) {
	t := args[0].Interface().(*testing.T)
	now := args[1:]
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panic: %v", p)
		}
		if t.Failed() {
			t.Logf("the arguments: %q", values(now))
		}
	}()
	for range times {
		call.Call(append([]reflect.Value{args[0]}, now...))
		if t.Failed() {
			return
		}
		if m.rand.IntN(4) == 0 {
			now = args[1:] // from the seed again
		}
		now = m.damage(now)
	}
}

func values(args []reflect.Value) (list []any) {
	for _, a := range args {
		list = append(list, a.Interface())
	}
	return list
}
