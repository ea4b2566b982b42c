package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/samewire/samewire/internal/lab"
)

// RebuiltName is the file name of the rebuilt worker with virtual time: the one
// with patched copies of gVisor and quic-go, which read from the environment what
// is a constant in them otherwise (the folder arms has the patches).
const RebuiltName = "samewire-virtual-arms"

// Variant is what of a worker's stacks only a rebuilt one has otherwise.
type Variant struct {
	InitCwnd int    `json:"initcwnd"` // TCP's initial window in segments
	Pacing   string `json:"pacing"`   // QUIC's, as in lab.Stack
}

// Stock is what gVisor and quic-go do as published.
var Stock = Variant{InitCwnd: 10}

// VariantOf is what a stack asks for. An initial window of zero is the stack's own.
func VariantOf(s lab.Stack) Variant {
	v := Variant{s.InitCwnd, s.Pacing}
	if v.InitCwnd == 0 {
		v.InitCwnd = Stock.InitCwnd
	}
	return v
}

// String says it for people.
func (v Variant) String() string {
	pacing := "their own pacing"
	if v.Pacing != "" {
		pacing = "pacing " + v.Pacing
	}
	return fmt.Sprintf("an initial window of %d and %s", v.InitCwnd, pacing)
}

// RebuiltCommand is how the rebuilt worker at path is started as variant v.
func RebuiltCommand(path string, v Variant) Command {
	c := VirtualCommand(path)
	c.Env = append(c.Env, "SAMEWIRE_TCP_INITCWND="+strconv.Itoa(v.InitCwnd), "SAMEWIRE_QUIC_PACING="+v.Pacing)
	return c
}

// FindRebuilt returns how the rebuilt worker beside this program is started as
// variant v. It must be of the same sources as this program. The error says what is
// missing and how to get it.
func FindRebuilt(ctx context.Context, v Variant) (Command, error) {
	self, err := os.Executable()
	if err != nil {
		return Command{}, fmt.Errorf("find the rebuilt worker: %w", err)
	}
	path := filepath.Join(filepath.Dir(self), RebuiltName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return Command{}, fmt.Errorf("%s is not beside samewire: `make arms` builds it", RebuiltName)
	}
	c := RebuiltCommand(path, v)
	if err := held(ctx, c, v); err != nil {
		return Command{}, fmt.Errorf("%s cannot be used (`make arms` builds it anew): %w", path, err)
	}
	return c, nil
}
