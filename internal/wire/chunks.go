package wire

// Chunks is memory for the packets of a run, after another run: a page that is
// there already costs much less than one that the system has to find. The zero
// Chunks is none.
type Chunks struct {
	tables []*[tableChunk]entry
	arenas []*[arenaChunk]byte
}

// Use gives a witness that has seen nothing memory to use first.
func (w *Witness) Use(c Chunks) {
	w.log.table.spare, w.log.arena.spare = c.tables, c.arenas
}

// Release returns the memory of a witness, no more of it than its limits say.
// Neither the witness nor its capture may be used thereafter.
func (w *Witness) Release() Chunks {
	l := &w.log
	c := Chunks{append(l.table.chunks, l.table.spare...), append(l.arena.chunks, l.arena.spare...)}
	used := len(l.table.chunks)
	left := max(l.limits.Total-l.used(), 0)
	tables := min(int64(len(l.table.spare)), left/tableBytes)
	arenas := min(int64(len(l.arena.spare)), (left-tables*tableBytes)/arenaChunk)
	c.tables, c.arenas = c.tables[:used+int(tables)], c.arenas[:len(l.arena.chunks)+int(arenas)]
	w.log = log{limits: l.limits, sealed: true}
	return c
}
