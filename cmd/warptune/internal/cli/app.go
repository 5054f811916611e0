// Package cli has what every command of warptune needs: where it writes and whether
// as JSON, its errors, tables, files, and progress on a terminal.
package cli

import "io"

// App is one invocation: where it writes and the flags every command has.
type App struct {
	Stdout, Stderr io.Writer
	JSON           bool // --json: machine-readable results
}
