package quic

import (
	"bytes"
	"strings"
	"testing"
)

// Packets full of the shortest frames do not take all memory: a frame is a
// hundred times as large as the byte that it comes in.
func TestFramesHaveABudget(t *testing.T) {
	const packets = 2000
	var f frameReader
	read, refused := 0, 0
	for range packets {
		frames, problem := f.read(OneRTT, bytes.Repeat([]byte{1}, 1200)) // PING
		read += len(frames)
		if strings.Contains(problem, "of all packets") {
			refused++
		}
	}
	if most := freeFrames + framesPerPacket*packets; read > most || refused == 0 {
		t.Errorf("%d frames of %d packets are kept, want at most %d; %d packets said so", read, packets, most, refused)
	}
	// Such as real packets have are all read.
	f = frameReader{}
	for range 200_000 {
		if _, problem := f.read(OneRTT, []byte{1, 1, 1}); problem != "" {
			t.Fatal(problem)
		}
	}
}
