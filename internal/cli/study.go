package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
)

// readStudy finds a study: a preset's name, or a file.
func readStudy(arg string) (text []byte, study lab.Study, err error) {
	if preset, ok := plan.Study(arg); ok {
		study, err = plan.ParseStudy(arg+".yaml", preset, nil)
		return preset, study, err
	}
	if text, err = os.ReadFile(arg); err != nil {
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
		case info.Size() > lab.MaxTraceBytes:
			return nil, fmt.Errorf("%s: it is longer than %d bytes", name, lab.MaxTraceBytes)
		}
		return os.ReadFile(name)
	}
}

func studyNames() []string {
	var names []string
	for _, p := range plan.Studies() {
		names = append(names, p.Name)
	}
	return names
}
