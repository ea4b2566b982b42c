package load

import "testing"

func TestQueue(t *testing.T) {
	q := &queue{requests: 5, lanes: 3}
	for want := range 2 {
		if i, ok := q.take(); i != want || !ok {
			t.Fatalf("took %d, %t; want %d", i, ok, want)
		}
	}
	if from, to := q.leave(); from != 2 || to != 3 {
		t.Errorf("the first lane to give up takes requests %d to %d with it", from, to)
	}
	if from, to := q.leave(); from != 3 || to != 4 {
		t.Errorf("the second takes %d to %d", from, to)
	}
	if from, to := q.leave(); from != 4 || to != 5 {
		t.Errorf("the last takes %d to %d", from, to)
	}
	if _, ok := q.take(); ok {
		t.Error("something is left")
	}
}

// No more connections are opened than requests wait.
func TestQueueOpensWhatIsNeeded(t *testing.T) {
	q := &queue{requests: 2, lanes: 3}
	for i, want := range []bool{true, true, false} {
		if got := q.open(); got != want {
			t.Errorf("connection %d is wanted: %t", i+1, got)
		}
	}
	q.opened()
	_, _ = q.take()
	if q.open() {
		t.Error("one request waits, one connection is being opened, and another is wanted")
	}
	if from, to := q.leave(); from != 1 || to != 2 {
		t.Errorf("the last lane leaves requests %d to %d", from, to)
	}
}

func TestQueueLastLaneTakesAll(t *testing.T) {
	q := &queue{requests: 5, lanes: 1}
	if from, to := q.leave(); from != 0 || to != 5 {
		t.Errorf("requests %d to %d", from, to)
	}
	empty := &queue{requests: 0, lanes: 2}
	if from, to := empty.leave(); from != to {
		t.Errorf("requests %d to %d of none", from, to)
	}
}
