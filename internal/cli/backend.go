package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
	"github.com/samewire/samewire/internal/site/kernel"
)

// backends lists what can move the packets on the kernel site.
func backends() (names []string) {
	for _, b := range kernel.Backends() {
		names = append(names, string(b))
	}
	return names
}

// backendFlag gives a command the flag --backend.
func backendFlag(c *cobra.Command, to *kernel.Backend) {
	*to = kernel.TUN
	c.Flags().Var((*backendValue)(to), "backend",
		"kernel site: what moves the packets: tun (samewire's own link) or netem (the kernel's, to compare with)")
}

// backendValue reads a backend off a command line.
type backendValue kernel.Backend

// String implements pflag.Value.
func (b *backendValue) String() string { return string(*b) }

// Type implements pflag.Value.
func (b *backendValue) Type() string { return "string" }

// Set implements pflag.Value.
func (b *backendValue) Set(s string) error {
	if !slices.Contains(backends(), s) {
		return fmt.Errorf("must be one of %s", strings.Join(backends(), ", "))
	}
	*b = backendValue(s)
	return nil
}

// otherwise says what a backend does otherwise with a path than the path says.
// What it cannot do at all is no part of it: such a path is refused.
func otherwise(b kernel.Backend, p lab.Path) []string {
	if b != kernel.Netem {
		return nil
	}
	var list []string
	n := plan.ExportNetem(p)
	for _, m := range n.Missing {
		if !slices.Contains(n.Absent, m) {
			list = append(list, "backend netem: "+m)
		}
	}
	return list
}

// backendOf is what a plan says of its backend: only the kernel site has one.
func backendOf(p lab.Plan, b kernel.Backend) string {
	for _, r := range p.Runs {
		if r.Cell.Site == lab.Kernel {
			return string(b)
		}
	}
	return ""
}

// needsKernel refuses a backend that nobody would use.
func needsKernel(sites []lab.SiteName, b kernel.Backend) error {
	if b != kernel.Netem || slices.Contains(sites, lab.Kernel) {
		return nil
	}
	return errors.New("--backend: it is for the site kernel, and the study has no runs there (--site kernel)")
}
