package exec

import (
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
)

// Program is a kernel compiled for one mode. It is immutable and may be shared between goroutines.
type Program = code.Program

// UnsupportedError is an instruction that the interpreter does not model.
type UnsupportedError = code.UnsupportedError

// Mode says how much of a kernel is executed. The zero value is invalid.
type Mode = code.Mode

// The modes; see the package comment.
const (
	ModeInvalid = code.ModeInvalid
	Full        = code.Full
	Slice       = code.Slice
)

// Compile prepares a kernel for execution in one mode. It fails with an *UnsupportedError for an instruction that is not
// modelled. In Slice mode only the instructions that addresses or control flow depend on must be modelled, and pointer
// parameters are taken to point to distinct buffers; where that matters, Runner.Run refuses a launch in which two are the
// same.
func Compile(k *ir.Kernel, mode Mode) (*Program, error) { return code.Compile(k, mode) }

// CompileCounting compiles for Full mode. Runs of the program count the slow paths that warps take (Runner.SlowPaths) and
// the values that lanes match (Runner.Matches). The program is nil for a kernel without any.
func CompileCounting(k *ir.Kernel) (*Program, error) { return code.CompileCounting(k) }
