package cli

import (
	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
)

func newLink(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "link",
		Short: "Look at the emulated path itself",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(newLinkCheck(s), newLinkExport(s), newLinkCompare(s))
	return c
}

// findPath finds a path: a preset's name, or the notation of one.
func findPath(nameOrNotation string) (lab.Path, error) {
	return plan.FindPath(nameOrNotation, filesIn("."))
}
