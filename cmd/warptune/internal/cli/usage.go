package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// UsageError is a mistake on the command line: exit status 2.
type UsageError struct{ error }

// Usage makes err a mistake on the command line.
func Usage(err error) error { return UsageError{err} }

// Usagef is Usage of what it formats.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// Exactly is cobra.ExactArgs with exit status 2 and a message that says what
// is wanted.
func Exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return Usagef("%s: want %s, got %d arguments", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

// AtMost accepts n positional arguments or fewer.
func AtMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return Usagef("%s: want %s, got %d arguments", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}
