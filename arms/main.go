// Command arms prepares the build of the rebuilt worker for virtual time: the one
// whose TCP has another initial window, and whose QUIC does not pace, as the
// environment says when it starts. It proves what a difference between protocols is
// made of, by arms in which only one thing changed.
//
//	go run ./arms DIR
//
// copies gVisor and quic-go, in the versions that go.mod asks for, out of the
// module cache into DIR, patches the copies with the files beside this one, and
// writes DIR/samewire.mod, for `go build -modfile`. It must be run in samewire's own
// folder; DIR is named as in a replace directive, relative to that folder. A patch
// that does not fit to the letter is an error: it was made for another version.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

var (
	//go:embed gvisor.patch
	gvisor string
	//go:embed quic-go.patch
	quicGo string
)

// patched is a module that is built from a patched copy.
type patched struct {
	module, folder, patch string
}

var modules = []patched{
	{"gvisor.dev/gvisor", "gvisor", gvisor},
	{"github.com/quic-go/quic-go", "quic-go", quicGo},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./arms DIR")
		os.Exit(2)
	}
	if err := prepare(os.Args[1], modules); err != nil {
		fmt.Fprintln(os.Stderr, "arms:", err)
		os.Exit(1)
	}
}

// prepare makes the patched copies and the module file. Copies that were there
// before go: nothing of another version may stay.
func prepare(dir string, modules []patched) error {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return fmt.Errorf("read samewire's module file: %w", err)
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return fmt.Errorf("read samewire's module file: %w", err)
	}
	for _, m := range modules {
		to := filepath.Join(dir, m.folder)
		if err := m.copy(to); err != nil {
			return fmt.Errorf("copy %s: %w", m.module, err)
		}
		if err := apply(m.patch, to); err != nil {
			return fmt.Errorf("patch %s (arms/%s.patch is for another version?): %w", m.module, m.folder, err)
		}
		mod = fmt.Appendf(mod, "\nreplace %s => %s\n", m.module, replacement(to))
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "samewire.mod"), mod, 0o644),
		os.WriteFile(filepath.Join(dir, "samewire.sum"), sum, 0o644),
	)
}

// replacement is how a replace directive names a folder: never without a dot or a
// slash at its start, or it would be a module.
func replacement(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.ToSlash(dir)
	}
	return "./" + filepath.ToSlash(dir)
}

// copy puts the module's sources into a fresh folder, where they can be written to.
func (m patched) copy(to string) error {
	from, err := m.download()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from)) // it makes files writable, whatever they were
}

// download has the module in the module cache, and returns its folder there.
func (m patched) download() (string, error) {
	var said bytes.Buffer
	c := exec.Command("go", "mod", "download", "-json", m.module)
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("download it: %w: %s%s", err, out, said.Bytes())
	}
	var got struct{ Dir string }
	if err := json.Unmarshal(out, &got); err != nil || got.Dir == "" {
		return "", fmt.Errorf("download it: no folder in %q: %w", out, err)
	}
	return got.Dir, nil
}
