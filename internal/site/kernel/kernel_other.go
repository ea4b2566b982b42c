//go:build !linux

package kernel

import (
	"context"
	"errors"
	"net/netip"
	"os/exec"
	"syscall"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

var errLinux = errors.New("the kernel site needs Linux")

// Check says that kernel runs cannot be carried out on this system.
func Check() error { return errLinux }

// Check says that kernel runs cannot be carried out on this system.
func (Backend) Check() error { return errLinux }

// Open fails: the site needs Linux.
func (s *Site) Open(context.Context, lab.Run) (*Hosts, error) { return nil, errLinux }

// Spin fails: only the site needs it.
func Spin(context.Context) error { return errLinux }

// WorkerAttr returns nothing special.
func WorkerAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// Hosts cannot be made on this system.
type Hosts struct{}

// Offload returns none.
func (h *Hosts) Offload() []string { return nil }

// Serve fails: the site needs Linux.
func (h *Hosts) Serve(context.Context) error { return errLinux }

// Get fails: the site needs Linux.
func (h *Hosts) Get(context.Context) (lab.Report, error) { return lab.Report{}, errLinux }

// Facts returns none.
func (h *Hosts) Facts() lab.Facts { return lab.Facts{} }

// Capture returns none.
func (h *Hosts) Capture() *wire.Capture { return nil }

// QLogs returns none.
func (h *Hosts) QLogs() []lab.QLog { return nil }

// Close does nothing.
func (h *Hosts) Close() error { return nil }

// Host cannot be made on this system.
type Host struct{}

// Addr returns no address.
func (h *Host) Addr() netip.Addr { return netip.Addr{} }

// Do fails: the site needs Linux.
func (h *Host) Do(func() error) error { return errLinux }

// Command returns a process that cannot be started.
func (h *Host) Command(ctx context.Context, name string, args ...string) *Cmd {
	return newCmd(exec.CommandContext(ctx, name, args...), func(*Cmd) error { return errLinux })
}

// CPU fails: the site needs Linux.
func (c *Cmd) CPU() (time.Duration, error) { return 0, errLinux }

func childAttr() *syscall.SysProcAttr { return nil }

func killGroup(int, syscall.Signal) error { return errLinux }
