package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitIncomplete = 3
)

// incompleteError says that the answer, which is given, is of a sweep that had to
// give configurations up: exit status 3.
type incompleteError struct{ error }

// incomplete says so, if it is so.
func incomplete(missing int64, sweep string) error {
	if missing == 0 {
		return nil
	}
	what := "1 configuration"
	if missing > 1 {
		what = fmt.Sprint(missing, " configurations")
	}
	return incompleteError{fmt.Errorf("incomplete: %s of sweep %s given up, and the best may be among what is missing; \"warptune sweep status\" says why, \"warptune sweep retry\" tries again", what, shortID(sweep))}
}

// shownDamaged is how many damaged trials a message names.
const shownDamaged = 10

// damagedRows says, if there are some, that n trials' rows are damaged, of which
// some are named.
func damagedRows(n int64, named []int64, sweep string) error {
	if n == 0 {
		return nil
	}
	var list strings.Builder
	for i, seq := range named[:min(len(named), shownDamaged)] {
		if i > 0 {
			list.WriteString(", ")
		}
		fmt.Fprint(&list, seq)
	}
	what := "the row of trial " + list.String() + " of sweep " + shortID(sweep) + " is damaged in the database and left out"
	if n > 1 {
		if n > shownDamaged {
			list.WriteString(", …")
		}
		what = fmt.Sprintf("%d rows of sweep %s are damaged in the database and left out: trials %s", n, shortID(sweep), &list)
	}
	return incompleteError{errors.New("incomplete: " + what + "; \"warptune doctor\" looks through the database. Restore a backup, or evaluate them again: submit the sweep to a new database")}
}

// incompletes joins what is to be said of incomplete answers.
func incompletes(all ...error) error {
	if err := errors.Join(all...); err != nil {
		return incompleteError{err}
	}
	return nil
}

// usageError is a mistake on the command line: exit status 2.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// app is one invocation: where it writes and the flags every command has.
type app struct {
	stdout, stderr io.Writer
	json           bool // --json: machine-readable results
}

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr}
	root := a.root()
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
	fmt.Fprintf(stderr, "warptune: %s\n", oneLine(err))
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	if few := (incompleteError{}); errors.As(err, &few) {
		return exitIncomplete
	}
	return exitFailed
}

// parsing is what strconv says before what is wrong, which the flag's name says
// better.
var parsing = regexp.MustCompile(`strconv\.\w+: parsing "[^"]*": `)

// oneLine is an error's text without the line breaks of a compiler's output.
func oneLine(err error) string {
	return plainText(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " | "))
}

func (a *app) root() *cobra.Command {
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
				return usagef("unknown command %q: run \"warptune --help\" for the list", args[0])
			}
			return cmd.Help()
		},
	}
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print results as JSON")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%s: run \"%s --help\" for the flags", parsing.ReplaceAllString(err.Error(), ""), cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(a.commands()...)
	return root
}

// exactly is cobra.ExactArgs with exit status 2 and a message that says what
// is wanted.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s: want %s, got %d arguments", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

// atMost accepts n positional arguments or fewer.
func atMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usagef("%s: want %s, got %d arguments", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}
