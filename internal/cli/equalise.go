package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/site/worker"
)

// equalWindow asks for what the rebuilt worker is needed for in a study that
// equalises: TCP with quic-go's initial window.
var equalWindow = worker.Variant{InitCwnd: 32}

// equalisable takes from a study that equalises the sites on which TCP's initial
// window cannot be set on this machine, and says so.
func equalisable(ctx context.Context, study lab.Study, rebuilt func(context.Context) error) (lab.Study, []string) {
	if !study.Equalise {
		return study, nil
	}
	const fixed = "site %s: equalise changes nothing there, since the initial window of stock gVisor is fixed at 10%s"
	var warnings []string
	for _, site := range study.Sites {
		why := ""
		switch site {
		case lab.Virtual:
			err := rebuilt(ctx)
			if err == nil {
				continue
			}
			why = ": " + oneLine(err)
		case lab.Kernel:
			continue
		}
		study.FixedWindow = append(slices.Clone(study.FixedWindow), site)
		warnings = append(warnings, fmt.Sprintf(fixed, site, why))
	}
	return study, warnings
}

// rebuiltWorker says what is missing for TCP's initial window to be set in virtual
// time.
func rebuiltWorker(ctx context.Context) error {
	_, err := worker.FindRebuilt(ctx, equalWindow)
	return err
}
