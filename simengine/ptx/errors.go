package ptx

import "strings"

// Error is one diagnostic: what is wrong and where.
type Error struct {
	Pos Pos
	Msg string
}

// Error gives "file:line:col: message".
func (e *Error) Error() string {
	if e.Pos == (Pos{}) {
		return e.Msg
	}
	return e.Pos.String() + ": " + e.Msg
}

// ErrorList is the diagnostics of one file, in order; it is never empty when
// returned as an error.
type ErrorList []*Error

// Error gives one line a diagnostic.
func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the diagnostics to errors.As.
func (l ErrorList) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}

// MaxErrors is how many diagnostics are collected before reading stops.
const MaxErrors = 20
