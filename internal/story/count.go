package story

import (
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

// Count fills in what a record counts of all packets, for a capture that comes
// without one: packets, bytes, payload, and drops of both directions, and how
// many connections there are. Packets that the capture skipped are not counted.
func Count(r *wire.Reading, f *lab.Wire) {
	f.Connections = len(r.Connections)
	ways := [2]*lab.WireWay{&f.Up, &f.Down}
	for _, w := range ways {
		if w.Drops == nil {
			w.Drops = map[string]int{}
		}
	}
	for i := range r.Events {
		e := &r.Events[i]
		w := ways[e.Way]
		w.Packets++
		w.Bytes += int64(e.Size)
		w.Payload += int64(e.IP.Size)
		if e.Fate.Drop != lab.NotDropped {
			w.Drops[string(e.Fate.Drop)]++
		}
	}
}
