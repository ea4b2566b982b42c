package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
)

// readStudy finds a study: a preset's name, or a file.
func readStudy(arg string) (text []byte, study lab.Study, err error) {
	if preset, ok := plan.Study(arg); ok {
		study, err = plan.ParseStudy(arg+".yaml", preset)
		return preset, study, err
	}
	if text, err = os.ReadFile(arg); err != nil {
		if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(arg, "/.") {
			return nil, study, fmt.Errorf("no study %q: want a file, or one of %s", arg, strings.Join(studyNames(), ", "))
		}
		return nil, study, fmt.Errorf("read study: %w", err)
	}
	study, err = plan.ParseStudy(arg, text)
	return text, study, err
}

func studyNames() []string {
	var names []string
	for _, p := range plan.Studies() {
		names = append(names, p.Name)
	}
	return names
}
