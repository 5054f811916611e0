package compile

import (
	"errors"

	"github.com/warptune/warptune/tuner/kernel/source"
)

// readSource analyses a request's source; what the source does wrong is an *Error.
func readSource(r Request) (*source.Source, error) {
	if err := checkEntry(r.Entry); err != nil {
		return nil, &Error{Compiler: "warptune", File: r.SourceFile, Message: err.Error()}
	}
	src, err := source.Read(r.Compile)
	var e *source.Error
	if errors.As(err, &e) {
		return nil, &Error{Compiler: "warptune", File: e.File, Message: "error: " + e.Message}
	}
	return src, err
}
