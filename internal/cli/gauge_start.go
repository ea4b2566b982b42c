package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/gauge"
	"github.com/samewire/samewire/internal/site/kernel"
	"github.com/samewire/samewire/internal/site/worker"
)

// startGauge has a job carried out by a process of its own, as a worker of the
// kernel site, and returns its checks. doing is told what is being measured. The
// process is gone when startGauge returns. Errors have their exit status.
func startGauge(ctx context.Context, job gaugeJob, doing func(string)) ([]gauge.Check, error) {
	if err := kernel.Backend(job.Backend).Check(); err != nil {
		return nil, exit(exitMachine, err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, exit(exitFailed, fmt.Errorf("find samewire itself: %w", err))
	}
	input, err := job.encode()
	if err != nil {
		return nil, exit(exitFailed, fmt.Errorf("encode job: %w", err))
	}
	answers, theirs, err := os.Pipe()
	if err != nil {
		return nil, exit(exitFailed, fmt.Errorf("make pipe to gauge: %w", err))
	}
	defer func() { _ = answers.Close() }()
	worker.Sweep()
	temp, err := worker.NewFolder("gauge")
	if err != nil {
		return nil, exit(exitFailed, fmt.Errorf("start gauge: %w", err))
	}
	defer func() { _ = temp.Remove() }() // also of a gauge that was killed
	var said strings.Builder
	c := exec.CommandContext(ctx, self, "gauge")
	c.Env = append(os.Environ(), "TMPDIR="+temp.Path)
	c.Stdin, c.Stderr, c.ExtraFiles = bytes.NewReader(input), &said, []*os.File{theirs}
	c.WaitDelay = time.Second
	c.SysProcAttr = kernel.WorkerAttr()
	c.SysProcAttr.Setpgid = true // Ctrl-C must not reach it
	ended := runLocked(c)
	if err := <-ended; err != nil { // has it started?
		_ = theirs.Close()
		return nil, exit(exitFailed, fmt.Errorf("start gauge: %w", err))
	}
	_ = theirs.Close()
	last := readAnswers(json.NewDecoder(answers), doing)
	err = <-ended
	switch {
	case ctx.Err() != nil:
		return last.Checks, exit(exitInterrupted, errors.New("interrupted"))
	case last.Problem != "":
		return nil, exit(exitMachine, errors.New(last.Problem))
	case last.Error != "":
		return last.Checks, exit(exitFailed, fmt.Errorf("measure path: %s", last.Error))
	case !last.Done:
		return nil, exit(exitFailed, fmt.Errorf("the gauge died: %w; its last words: %s", err, oneLine(errors.New(said.String()))))
	}
	return last.Checks, nil
}

// readAnswers reads until the last answer.
func readAnswers(from *json.Decoder, doing func(string)) (last gaugeAnswer) {
	for {
		var a gaugeAnswer
		if from.Decode(&a) != nil || a.Done {
			return a
		}
		doing(a.Doing)
	}
}

// runLocked runs a process from a thread that lives until it has ended: its
// parent-death signal comes when the thread ends that forked. The channel says
// whether it has started, and then how it ended.
func runLocked(c *exec.Cmd) <-chan error {
	ended := make(chan error, 2)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.Start()
		ended <- err
		if err == nil {
			ended <- c.Wait()
		}
	}()
	return ended
}
