package tuner

import (
	"errors"
	"fmt"
)

// ErrorKind says what is to be done about an error, and by whom. Package rpc
// maps it to a status in one place. The zero value is invalid.
type ErrorKind uint8

// Kinds of error.
const (
	KindInvalid     ErrorKind = iota
	Invalid                   // the request makes no sense: change it
	NotFound                  // what is named does not exist
	Conflict                  // its state does not allow it now
	Stale                     // the lease has been given to another since
	Mismatch                  // engine or descriptor differ from what the sweep pins
	Unavailable               // try again later
	DiskFull                  // no space to store in; goes on when there is
	Limit                     // more than is allowed
	Locked                    // the store is held by another process
	Damaged                   // stored data does not verify
	Unauthenticated           // nobody said who calls
	Denied                    // the caller may not do this
	Internal                  // a fault of ours
	numErrorKinds
)

var errorKindNames = [numErrorKinds]string{"invalid kind", "invalid", "not found", "conflict", "stale", "mismatch", "unavailable",
	"disk full", "limit", "locked", "damaged", "unauthenticated", "denied", "internal"}

// String returns the kind's name.
func (k ErrorKind) String() string {
	if k < numErrorKinds {
		return errorKindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// ErrorKinds returns the valid kinds in order.
func ErrorKinds() []ErrorKind {
	var kinds []ErrorKind
	for k := Invalid; k < numErrorKinds; k++ {
		kinds = append(kinds, k)
	}
	return kinds
}

// ParseErrorKind reads what ErrorKind.String wrote; KindInvalid if unknown.
func ParseErrorKind(s string) ErrorKind {
	for _, k := range ErrorKinds() {
		if errorKindNames[k] == s {
			return k
		}
	}
	return KindInvalid
}

// Error is an error of the sweep system. Its text is "doing what: why".
type Error struct {
	Kind ErrorKind
	Op   string // what was being done, e.g. "submit sweep"; may be empty
	Err  error  // why it could not be
}

// Error returns "op: why".
func (e *Error) Error() string {
	if e.Op == "" {
		return e.Err.Error()
	}
	return e.Op + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error; %w in the format wraps as with fmt.Errorf.
func Errorf(kind ErrorKind, op, format string, args ...any) *Error {
	return &Error{Kind: kind, Op: op, Err: fmt.Errorf(format, args...)}
}

// KindOf returns the kind of the outermost Error in err's chain, Internal when
// there is none, and KindInvalid for nil.
func KindOf(err error) ErrorKind {
	var e *Error
	switch {
	case err == nil:
		return KindInvalid
	case errors.As(err, &e):
		return e.Kind
	}
	return Internal
}
