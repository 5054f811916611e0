package compile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// Request is one compilation: what the definition gives for a configuration and
// the target it is for. It is not modified.
type Request struct {
	call.Compile
	// Target is the architecture, e.g. "sm_90"; a compiler that does not know it
	// uses the newest it knows that is not newer. Empty: the compiler's newest.
	Target string
	// Lines asks for the lines of the source where they are kept apart from the PTX, as the catalogue's are. Result.Digest
	// stays that of the PTX without.
	Lines bool
}

// Result is compiled PTX. Its fields are not to be modified: results are shared.
type Result struct {
	PTX      []byte
	Compiler string // who made it, e.g. "clang 19.1.7" or "nvrtc 13.0 (prebuilt)"
	Target   string // what it was compiled for, e.g. "sm_90"; "" when the PTX does not say
	Digest   string // sha-256 of PTX, hex
	Entry    string // name in the PTX of the kernel asked for, where the compiler told; else ""
}

// Driver compiles. Its methods are safe for concurrent use and block until the
// compiler ends or ctx is cancelled.
//
// Compile's errors are of three kinds: *Error is the configuration's own outcome,
// *UnavailableError says that this driver cannot serve here (another may), and
// everything else is the machine's fault.
type Driver interface {
	// Name is the driver's short name: "given", "prebuilt", "nvcc" or "clang".
	Name() string
	// Identify says which compiler, in which version, Compile would use for the
	// target, with all that its output depends on besides the request.
	Identify(ctx context.Context) (string, error)
	Compile(ctx context.Context, r Request) (Result, error)
}

// maker is a driver that may have results for which no compiler runs.
type maker interface {
	// made returns one, or an error as Compile does; errNotMade: a compiler
	// would have to run.
	made(ctx context.Context, r Request) (Result, error)
}

var errNotMade = errors.New("not compiled yet")

// Target is the PTX name of a compute capability, e.g. "sm_90" for 9, 0.
func Target(major, minor int) string { return fmt.Sprintf("sm_%d%d", major, minor) }

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
