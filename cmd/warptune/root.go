package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
)

// Exit statuses.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitIncomplete = 3
)

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &cli.App{Stdout: stdout, Stderr: stderr}
	root := root(a)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	fmt.Fprintf(stderr, "warptune: %s\n", cli.OneLine(err))
	var usage cli.UsageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	if few := (cli.IncompleteError{}); errors.As(err, &few) {
		return exitIncomplete
	}
	return exitFailed
}

// parsing is what strconv says before what is wrong, which the flag's name says
// better.
var parsing = regexp.MustCompile(`strconv\.\w+: parsing "[^"]*": `)

func root(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "warptune",
		Short: "Tune CUDA kernels for GPUs you do not have",
		Long: "Tune CUDA kernels for GPUs you do not have.\n\n" +
			"Exit status: 0 done, 1 failed, 2 wrong usage, 3 answered, but from a sweep that is\n" +
			"incomplete: it had to give configurations up (tune, best, export, sweep watch, sweep status).",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("unknown command %q: run \"warptune --help\" for the list", args[0])
			}
			return cmd.Help()
		},
	}
	root.PersistentFlags().BoolVar(&a.JSON, "json", false, "print results as JSON")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usagef("%s: run \"%s --help\" for the flags", parsing.ReplaceAllString(err.Error(), ""), cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(commands(a)...)
	return root
}
