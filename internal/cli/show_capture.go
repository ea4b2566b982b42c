package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/story"
	"github.com/samewire/samewire/internal/wire"
	"github.com/samewire/samewire/internal/wire/pcapng"
)

// readingOf reads a capture, and its packets.
func readingOf(name string) (reading *wire.Reading, err error) {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("read capture: %w", err)
	}
	defer func() { _ = f.Close() }()
	c, err := pcapng.Read(f)
	if err != nil {
		return nil, fmt.Errorf("read capture %s: %w", name, err)
	}
	return wire.Read(c), nil
}

// digest has the facts that a capture alone shows.
func digest(r *wire.Reading) (f lab.Wire) {
	wire.Digest(r.Capture, wire.About{}, &f)
	story.Count(r, &f)
	return f
}
