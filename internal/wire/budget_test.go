package wire

import (
	"runtime"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// records is a connection of so many segments, each filled with a number of short
// TLS records.
func records(segments, each int) *Capture {
	record := []byte{23, 3, 3, 0, 1, 0}
	segs := []seg{{lab.Up, 0, 0, syn, 0, 0, 0}, {lab.Down, 0, 0, syn, 0, 0, 1}}
	for i := range segments {
		segs = append(segs, seg{lab.Down, 1 + i, 1 + i, 0, 1 + i*each*len(record), each * len(record), 1})
	}
	c := capture(segs)
	for i := range c.Packets[2:] {
		p := c.Packets[2+i].Data
		for b := p[len(p)-each*len(record):]; len(b) > 0; b = b[len(record):] {
			copy(b, record)
		}
	}
	return c
}

// Segments full of the shortest records do not take all memory: a message is
// many times as large as the bytes that it comes in.
func TestMessagesHaveABudget(t *testing.T) {
	const segments, each = 4000, 240
	c := records(segments, each)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := Read(c)
	runtime.ReadMemStats(&after)
	noted, told := 0, 0
	for _, e := range r.Events {
		noted += len(e.Messages)
		if strings.Contains(e.Problem, "of all packets") {
			told++
		}
	}
	if most := freeMessages + messagesPerPacket*len(r.Events); noted > most || noted < freeMessages || len(r.Connections[0].units[lab.Down]) > most {
		t.Errorf("%d messages of %d are noted, want at most %d", noted, segments*each, most)
	}
	if told != 1 || r.Connections[0].Unread[lab.Down] == 0 {
		t.Errorf("%d packets tell that messages are too many; unread from %d", told, r.Connections[0].Unread[lab.Down])
	}
	size := uint64(segments * each * 6)
	t.Logf("%d MB of captures allocate %d MB", size>>20, (after.TotalAlloc-before.TotalAlloc)>>20)
	if got := after.TotalAlloc - before.TotalAlloc; got > 40*size {
		t.Errorf("%d bytes are allocated for segments of %d", got, size)
	}
	// Such as real connections have are all noted.
	r = Read(records(40_000, messagesPerPacket))
	for _, e := range r.Events {
		if e.Problem != "" && !strings.Contains(e.Problem, "secret") {
			t.Fatal(e.Problem)
		}
	}
}
