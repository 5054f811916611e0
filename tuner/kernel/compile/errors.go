package compile

import "strings"

// Error is a compile error: the source, under these macros, is not valid for this
// compiler. It is the configuration's outcome and would come again.
type Error struct {
	Compiler string // e.g. "clang 19.1.7"
	File     string // the source's name in its bundle
	Message  string // the compiler's output, paths relative to the bundle
}

// Error gives the compiler, the file, the first line of the message that names
// an error, and what to do about it where that is known; Message has all of it.
func (e *Error) Error() string {
	first := firstError(e.Message)
	help := advice(e.Message, first)
	if !strings.HasPrefix(first, e.File+":") && !strings.HasPrefix(first, e.File+"(") {
		first = e.File + ": " + first
	}
	if help != "" {
		first += " (" + help + ")"
	}
	return e.Compiler + ": " + first
}

func firstError(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	for _, l := range lines {
		if strings.Contains(l, "error") {
			return strings.TrimSpace(l)
		}
	}
	return lines[0]
}

// UnavailableError says that a driver cannot serve: its compiler is not installed,
// or it holds no PTX for this configuration. Need says what would help.
type UnavailableError struct {
	Driver string
	Reason string // e.g. "nvcc is not in PATH"
	Need   string // what to install or do; may be empty
}

func (e *UnavailableError) Error() string {
	s := e.Driver + ": " + e.Reason
	if e.Need != "" {
		s += "; " + e.Need
	}
	return s
}
