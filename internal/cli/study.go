package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
)

// readStudy finds a study: a preset's name, or a file.
func readStudy(arg string) (text []byte, study lab.Study, err error) {
	if preset, ok := plan.Study(arg); ok {
		study, err = plan.ParseStudy(arg+".yaml", preset, nil)
		return preset, study, err
	}
	if text, err = readSmall(arg, plan.MaxStudy); err != nil {
		if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(arg, "/.") {
			return nil, study, fmt.Errorf("no study %q: want a file, or one of %s", arg, strings.Join(studyNames(), ", "))
		}
		return nil, study, fmt.Errorf("read study: %w", err)
	}
	study, err = plan.ParseStudy(arg, text, filesIn(filepath.Dir(arg)))
	return text, study, err
}

// filesIn reads files that are named relative to a folder.
func filesIn(dir string) plan.Files {
	return func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s: it is not a regular file", name)
		}
		return readSmall(name, lab.MaxTraceBytes)
	}
}

// readSmall reads a file, or a pipe, of at most so many bytes. It does not wait
// for somebody to write to a pipe that nobody has opened.
func readSmall(name string, most int) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(b) > most {
		return nil, fmt.Errorf("%s: it is longer than %d bytes", name, most)
	}
	return b, err
}

func studyNames() []string {
	var names []string
	for _, p := range plan.Studies() {
		names = append(names, p.Name)
	}
	return names
}
