package link

// twin names a packet that was duplicated, so that the last of the two can be
// told when it comes out; 0 is one that was not.
type twin uint32

// twins counts how many of each pair are still on their way. Its memory is
// bounded by the pairs that are on their way at one time.
type twins struct {
	left []uint8
	free []twin
}

// born names a new pair.
func (t *twins) born() twin {
	if len(t.free) == 0 {
		t.left = append(t.left, 2)
		return twin(len(t.left))
	}
	last := len(t.free) - 1
	id := t.free[last]
	t.free = t.free[:last]
	t.left[id-1] = 2
	return id
}

// gone takes one of a pair away, and says whether it was the last.
func (t *twins) gone(id twin) (last bool) {
	t.left[id-1]--
	if t.left[id-1] > 0 {
		return false
	}
	t.free = append(t.free, id)
	return true
}
