// Package cli is samewire's commands: one file a command. It is the only place
// that wires the floors together, prints, and decides on the exit status.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/lab"
)

// The exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1   // samewire itself failed
	exitUsage       = 2   // wrong usage, or a bad study
	exitCrossed     = 3   // a threshold of a comparison was crossed
	exitMachine     = 4   // the machine cannot do what was asked
	exitInterrupted = 130 // what was measured is kept
)

// exitError is an error with its exit status.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func exit(status int, err error) error { return &exitError{status, err} }

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// checkedWriter remembers the first error of writing, so that no command can
// lose its output and say that all is well.
type checkedWriter struct {
	to  io.Writer
	err error
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// Main runs samewire with its arguments (without the program's name) and
// returns the exit status.
func Main(args []string) int {
	if virtualClock {
		return workerOnly(args)
	}
	return run(args, streams{os.Stdin, os.Stdout, os.Stderr})
}

// workerOnly is Main of the build with virtual time, which can be nothing but
// a worker. It installs no signal handler: waiting for signals would stop the
// clock for good.
func workerOnly(args []string) int {
	args, qlog := withoutQLog(args)
	if len(args) != 3 || args[0] != "worker" || args[1] != "--site" || lab.SiteName(args[2]) != lab.Virtual {
		fmt.Fprintln(os.Stderr, "samewire-virtual is the worker for virtual time; it is started by samewire")
		return exitUsage
	}
	if err := work(lab.Virtual, kernelOptions{}, qlog); err != nil {
		fmt.Fprintln(os.Stderr, "samewire-virtual:", err)
		return exitFailed
	}
	return exitOK
}

// withoutQLog takes the last argument away if it is the one for qlogs.
func withoutQLog(args []string) ([]string, bool) {
	if n := len(args) - 1; n >= 0 && args[n] == "--qlog" {
		return args[:n], true
	}
	return args, false
}

func run(args []string, s streams) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := &checkedWriter{to: s.out}
	s.out = out
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil {
		err = exit(exitFailed, fmt.Errorf("write to standard output: %w", out.err))
	}
	if err == nil {
		return exitOK
	}
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{exitUsage, err} // cobra's own errors are about usage
	}
	if e.err != nil && e.err.Error() != "" {
		fmt.Fprintln(s.err, "samewire:", printable(e.err.Error()))
	}
	return e.status
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "samewire",
		Short: "Compare HTTP/1.1, HTTP/2 and HTTP/3 over the same wire",
		Long: `samewire compares HTTP/1.1, HTTP/2 and HTTP/3 honestly over an emulated network:
in virtual time, where only the protocols take time, and on this machine's
kernel, where programs do. The same work, over the same wire, with one thing
changed.

Exit status: 0 done, 1 samewire failed, 2 wrong usage or a bad study, 3 a
threshold of compare was crossed, 4 the machine cannot do what was asked, 130
interrupted (what was measured is kept).`,
		Version:       lab.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.AddCommand(newRun(s), newReport(s), newCompare(s), newShow(s), newList(s), newServe(s), newGet(s), newWorker(), newSpin(), newLink(s), newGauge(s))
	return root
}
