package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
)

func newList(s streams) *cobra.Command {
	return &cobra.Command{
		Use:       "list paths|loads|studies|sites",
		Short:     "List what samewire knows by name, and what can run here",
		ValidArgs: []string{"paths", "loads", "studies", "sites"},
		Args:      oneOf("list", "paths", "loads", "studies", "sites"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "paths":
				listPresets(s.out, plan.Paths())
			case "loads":
				listPresets(s.out, plan.Loads())
			case "studies":
				listPresets(s.out, plan.Studies())
			default:
				listSites(cmd.Context(), s)
			}
			return nil
		},
	}
}

// oneOf wants one argument, of these.
func oneOf(command string, allowed ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 1 && slices.Contains(allowed, args[0]) {
			return nil
		}
		want := "want one of " + strings.Join(allowed, ", ")
		switch len(args) {
		case 0:
			return fmt.Errorf("%s: nothing to list was given: %s", command, want)
		case 1:
			return fmt.Errorf("%s %q: %s", command, args[0], want)
		}
		return fmt.Errorf("%s %s: %s", command, strings.Join(args, " "), want)
	}
}

func listPresets(w io.Writer, presets []plan.Preset) {
	for i, p := range presets {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %s\n", p.Name, p.Description)
		if p.Notation != "" {
			fmt.Fprintf(w, "    %s\n", p.Notation)
		}
		if p.Numbers != "" {
			fmt.Fprintf(w, "    %s\n", p.Numbers)
		}
		fmt.Fprintf(w, "    source: %s\n", p.Source)
	}
}

// siteFacts says what each site is good for, and what it needs.
var siteFacts = map[lab.SiteName]string{
	lab.Virtual: "user-space stacks in virtual time: what the protocols do, exact, without noise",
	lab.Process: "user-space stacks in real time: does it work here at all",
	lab.Kernel:  "network namespaces and this kernel's TCP, in real time: what really happens on this machine",
}

func listSites(ctx context.Context, s streams) {
	for _, name := range lab.SiteNames() {
		fmt.Fprintf(s.out, "%s: %s\n", name, siteFacts[name])
		site, err := openSiteNamed(ctx, name, siteOptions{}, func(what string) { fmt.Fprintln(s.err, what) })
		if err != nil {
			fmt.Fprintf(s.out, "    cannot run here: %s\n", oneLine(err))
			continue
		}
		site.pool.Close()
		fmt.Fprintln(s.out, "    can run here")
	}
}

// oneLine puts an error's text on one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
