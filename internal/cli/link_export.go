package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/plan"
)

func newLinkExport(s streams) *cobra.Command {
	var up, down string
	c := &cobra.Command{
		Use:   "export PATH",
		Short: "Print a path as tc commands",
		Long: `Print a path, a preset's name or a notation, as commands of tc and ethtool that
do the same with the kernel's netem, tbf and others on a Linux machine between (or
on) the two hosts, and say what they cannot do.

Exit status: 0 done; 2 wrong usage or a bad path.`,
		Example: `  samewire link export wired
  samewire link export 'rtt 40ms rate 100mbit loss 1% queue 1bdp' --up eth1 --down eth0`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := findPath(args[0])
			if err != nil {
				return exit(exitUsage, err)
			}
			printNetem(s.out, plan.ExportNetem(p), up, down)
			return nil
		},
	}
	c.Flags().StringVar(&up, "up", "$UP", "device by which packets leave for the server")
	c.Flags().StringVar(&down, "down", "$DOWN", "device by which packets leave for the client")
	return c
}

// printNetem writes a shell script: comments and commands.
func printNetem(w io.Writer, n plan.Netem, up, down string) {
	for _, way := range []struct {
		what, device string
		commands     []string
	}{
		{"from the client to the server", up, n.Up},
		{"from the server to the client", down, n.Down},
	} {
		fmt.Fprintf(w, "# %s: what leaves by %s\n", way.what, way.device)
		if len(n.Link) > 0 {
			printCommand(w, "ip", strings.Join(n.Link, " "), way.device)
		}
		if len(n.Ethtool) > 0 {
			printCommand(w, "ethtool", strings.Join(n.Ethtool, " "), way.device)
		}
		for _, c := range way.commands {
			printCommand(w, "tc", c, way.device)
		}
	}
	for i, m := range n.Missing {
		if i == 0 {
			fmt.Fprintln(w, "# What these commands cannot do, or do otherwise:")
		}
		fmt.Fprintf(w, "# - %s\n", m)
	}
}

func printCommand(w io.Writer, program, args, device string) {
	fmt.Fprintf(w, "%s %s\n", program, strings.ReplaceAll(args, plan.Device, device))
}
