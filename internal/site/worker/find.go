package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// VirtualName is the file name of the worker with virtual time.
const VirtualName = "samewire-virtual"

const module = "github.com/samewire/samewire"

// buildLimit is how long building the worker may take.
const buildLimit = 10 * time.Minute

// VirtualCommand is how the worker with virtual time at path is started: on
// one core, since two make it slower (the runtime's clock only moves when all
// wait), and with little of what interrupts goroutines at moments of the
// machine's own: no preemption by signal, and little garbage collected during a
// run (between runs the worker does so itself). There must be no memory limit:
// what keeps the collector from taking all of the processor near one goes by
// the clock, which stands still.
func VirtualCommand(path string) Command {
	return Command{
		Path: path,
		Args: []string{"worker", "--site", string(lab.Virtual)},
		Env:  []string{"GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1", "GOGC=400", "GOMEMLIMIT=off"},
	}
}

// Find returns the path of a worker with virtual time that was built from the
// same sources as this program: beside it, in the user's cache, or built once
// where a Go toolchain and samewire's module are at hand. say is told when
// that takes time. The error says what is missing and how to get it.
func Find(ctx context.Context, say func(string)) (string, error) {
	var faults []error
	for _, path := range places() {
		err := fits(ctx, path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			faults = append(faults, fmt.Errorf("%s: %w", path, err))
		}
	}
	path, err := buildVirtual(ctx, say)
	if err == nil {
		if err = fits(ctx, path); err == nil {
			return path, nil
		}
	}
	faults = append(faults, err)
	return "", fmt.Errorf("no worker for virtual time (put %s beside samewire, or run `make build`): %w",
		VirtualName, errors.Join(faults...))
}

// places lists where the worker may be, best first.
func places() []string {
	var list []string
	if self, err := os.Executable(); err == nil {
		list = append(list, filepath.Join(filepath.Dir(self), VirtualName))
	}
	// A program whose build has no name cannot tell whether the cached worker is
	// of the same sources; then it is built again, which the Go tool makes quick
	// where nothing has changed.
	if cached, err := cachePath(); err == nil && Build != "" {
		list = append(list, cached)
	}
	return list
}

func cachePath() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	build := Build
	if build == "" {
		build = "plain"
	}
	return filepath.Join(dir, "samewire", lab.Version+"-"+build, VirtualName), nil
}

// fits says whether the program at path is a worker with virtual time that
// belongs to this samewire.
func fits(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	return held(ctx, VirtualCommand(path), Stock)
}

// held says whether a command starts a worker with virtual time that belongs to
// this samewire, and does what is asked of it.
func held(ctx context.Context, c Command, want Variant) error {
	hello, err := Ask(ctx, c)
	switch {
	case err != nil:
		return err
	case !hello.Virtual:
		return errors.New("its clock is not virtual: it was built without the faketime tag")
	case hello.Samewire != lab.Version || hello.Build != Build:
		return fmt.Errorf("it is of another build (%s %s; this is %s %s)", hello.Samewire, hello.Build, lab.Version, Build)
	case hello.Variant != want:
		return fmt.Errorf("its stacks have %s; asked for were %s", hello.Variant, want)
	}
	return nil
}

// buildVirtual builds the worker into the cache.
func buildVirtual(ctx context.Context, say func(string)) (string, error) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return "", errors.New("build it: no Go toolchain on the PATH")
	}
	dir, err := moduleDir(ctx, goTool)
	if err != nil {
		return "", err
	}
	path, err := cachePath()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("build it: %w", err)
	}
	say("building the worker for virtual time, once (about a minute)")
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer func() { _ = os.Remove(fresh) }()
	ctx, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	build := exec.CommandContext(ctx, goTool, "build", "-tags", "faketime", "-trimpath",
		"-ldflags", "-s -w -X "+module+"/internal/site/worker.Build="+Build,
		"-o", fresh, module+"/cmd/samewire")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build it in %s: %w: %s", dir, err, strings.TrimSpace(string(out)))
	}
	if err := os.Rename(fresh, path); err != nil {
		return "", fmt.Errorf("build it: %w", err)
	}
	return path, nil
}

// moduleDir finds samewire's own sources from the current folder.
func moduleDir(ctx context.Context, goTool string) (string, error) {
	list := exec.CommandContext(ctx, goTool, "list", "-m", "-f", "{{.Dir}}", module)
	out, err := list.Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		return "", errors.New("build it: samewire's module is not at hand in this folder (run it in a checkout)")
	}
	return dir, nil
}
