package main

import (
	"io"
	"testing"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/deploy/deploytest"
)

// What deploy and docs show of this program are commands and flags that it has.
func TestShippedCommandLinesParse(t *testing.T) {
	deploytest.Shipped(t, "../..", "warptune", 10, parses)
	for _, args := range [][]string{{"launch", "slurm", "--no-such-flag"}, {"launch", "nomad"}, {"doctor"}} {
		if parses(args) == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

// parses does what cobra does with a command line, except for running it.
func parses(args []string) error {
	root := root((&cli.App{Stdout: io.Discard, Stderr: io.Discard}))
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if len(cmd.Commands()) > 0 {
		return cli.Usagef("%s is no command of its own", cmd.CommandPath())
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}
