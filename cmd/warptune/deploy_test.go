package main

import (
	"io"
	"os"
	"testing"

	"github.com/warptune/warptune/deploy/deploytest"
)

// What deploy and docs show of this program are commands and flags that it has.
func TestShippedCommandLinesParse(t *testing.T) {
	lines, err := deploytest.CommandLines(os.DirFS("../.."), "deploy/slurm/*.sbatch", "docs/OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, l := range lines {
		if l.Program != "warptune" {
			continue
		}
		found++
		if err := parses(l.Args); err != nil {
			t.Errorf("%s: warptune %q: %v", l.File, l.Args, err)
		}
	}
	if found < 10 {
		t.Errorf("found only %d", found)
	}
	for _, args := range [][]string{{"launch", "slurm", "--no-such-flag"}, {"launch", "nomad"}, {"doctor"}} {
		if parses(args) == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

// parses does what cobra does with a command line, except for running it.
func parses(args []string) error {
	root := (&app{stdout: io.Discard, stderr: io.Discard}).root()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if len(cmd.Commands()) > 0 {
		return usagef("%s is no command of its own", cmd.CommandPath())
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}
