package cli

import (
	"testing"

	"github.com/samewire/samewire/internal/site/kernel"
)

// What `run` is told about the kernel site is what its worker is told.
func TestKernelOptionsReachTheWorker(t *testing.T) {
	for _, want := range []kernelOptions{{}, {spin: true}, {noOffload: true}, {spin: true, noOffload: true}, {backend: kernel.Netem}} {
		c := newWorker()
		if err := c.ParseFlags(want.args()); err != nil {
			t.Fatal(err)
		}
		spin, err := c.Flags().GetBool("spin")
		if err != nil {
			t.Fatal(err)
		}
		noOffload, err := c.Flags().GetBool("no-offload")
		if err != nil {
			t.Fatal(err)
		}
		backend := kernel.Backend(c.Flags().Lookup("backend").Value.String())
		if backend == kernel.TUN {
			backend = "" // the zero value means it
		}
		if got := (kernelOptions{spin, noOffload, backend}); got != want {
			t.Errorf("%v came as %+v, want %+v", want.args(), got, want)
		}
		if site := newKernelSite(want).site; site.Spin != want.spin || site.NoOffload != want.noOffload || site.Backend != want.backend {
			t.Errorf("%+v makes the site %+v", want, site)
		}
	}
}
