package link

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The heap does what a sorted list would.
func TestLineAgainstSortedList(t *testing.T) {
	type item struct {
		at time.Duration
		n  int
	}
	rapid.Check(t, func(t *rapid.T) {
		q := line[int]{count: new(uint64)}
		var list []item // in order of time, equal times in order of arrival
		n := 0
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				at := time.Duration(rapid.IntRange(0, 20).Draw(t, "at"))
				q.Put(at, n)
				i, _ := slices.BinarySearchFunc(list, at+1, func(it item, at time.Duration) int { return int(it.at - at) })
				list = slices.Insert(list, i, item{at, n})
				n++
			},
			"pop": func(t *rapid.T) {
				now := time.Duration(rapid.IntRange(0, 20).Draw(t, "now"))
				got, at, ok := q.Pop(now)
				if len(list) == 0 || list[0].at > now {
					if ok || got != 0 || at != 0 {
						t.Fatalf("popped %d at %d, but nothing was due at %d", got, at, now)
					}
					return
				}
				if !ok || got != list[0].n || at != list[0].at {
					t.Fatalf("popped %d due at %d (%v), want %+v", got, at, ok, list[0])
				}
				list = list[1:]
			},
			"": func(t *rapid.T) {
				at, ok := q.Next()
				if q.Len() != len(list) || ok != (len(list) > 0) || ok && at != list[0].at {
					t.Fatalf("length %d, next %d (%v), want %+v", q.Len(), at, ok, list)
				}
			},
		})
	})
}

// A popped packet is not held any longer.
func TestLineLetsGo(t *testing.T) {
	q := line[*int]{count: new(uint64)}
	for i := range 6 {
		q.Put(time.Duration(-i/2), new(int)) // some stand in the ring, some in the heap
	}
	if q.held == 0 || len(q.heap) == 0 {
		t.Fatal("the test does not see both")
	}
	for range 6 {
		q.Pop(1)
	}
	for _, d := range append(q.heap[:cap(q.heap)], q.ring...) {
		if d.packet != nil {
			t.Fatal("a packet that was popped is still held")
		}
	}
}

func TestLineDoesNotAllocateOnceGrown(t *testing.T) {
	q := line[int]{count: new(uint64)}
	for i := range 100 {
		q.Put(time.Duration(i), i)
	}
	got := testing.AllocsPerRun(100, func() {
		_, _, _ = q.Pop(1000)
		q.Put(5, 1)
	})
	if got != 0 {
		t.Errorf("%v allocations for a put and a pop", got)
	}
}

// Packets that are due one after the other, or at once, cost no search: a heap is
// only for those that overtake.
func TestLineKeepsOrderInItsRing(t *testing.T) {
	q := line[int]{count: new(uint64)}
	for i := range 100 {
		q.Put(time.Duration(i/3), i)
	}
	if len(q.heap) != 0 {
		t.Errorf("%d of 100 packets in order are in the heap", len(q.heap))
	}
	if q.Put(5, 0); len(q.heap) != 1 {
		t.Error("a packet that overtakes is not in the heap")
	}
}
