package cli

import (
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/runner"
	"github.com/samewire/samewire/internal/site/sitetest"
)

// All sites are held to one contract.

func TestVirtualSite(t *testing.T) {
	t.Parallel()
	sitetest.Test(t, sitetest.Site{Name: lab.Virtual, Carrier: carrierOf(t, lab.Virtual, 1), Slack: time.Millisecond})
}

// The site process runs in the test itself, so that the race detector sees it.
func TestProcessSite(t *testing.T) {
	carrier := runner.Direct{Site: newInprocSite(lab.Process)}
	sitetest.Test(t, sitetest.Site{Name: lab.Process, Carrier: carrier, Slack: 150 * time.Millisecond})
}

func TestKernelSite(t *testing.T) {
	sitetest.Test(t, sitetest.Site{Name: lab.Kernel, Carrier: carrierOf(t, lab.Kernel, 1), Slack: 30 * time.Millisecond})
}
