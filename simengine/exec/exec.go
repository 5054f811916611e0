// Package exec runs a kernel as PTX says it must: warps of 32 lanes with
// active masks and reconvergence at post-dominators, every state space,
// barriers, shuffles and atomics. It decides what a kernel computes and which
// addresses it touches; what that costs is package timing.
//
// It has two modes over one interpreter. Full executes everything and checks
// for races and barriers that some threads never reach. Slice executes only
// what addresses, branches and guards depend on, may leave out iterations of
// counted loops, and is what the timing model samples CTAs with.
package exec

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// WarpSize is the number of lanes of a warp.
const WarpSize = 32

// Dim3 is a grid or CTA shape.
type Dim3 struct{ X, Y, Z int }

// Count is the number of elements of the shape.
func (d Dim3) Count() int64 { return int64(d.X) * int64(d.Y) * int64(d.Z) }

// Launch is what the host passes for one launch of a kernel.
type Launch struct {
	Grid, CTA     Dim3
	DynamicShared int // bytes
	// Params are the bytes of the parameter space, laid out as Kernel.Params
	// says; see Memory.BindParams.
	Params []byte
}

// Observer is told what warps do, in execution order of each warp.
// Implementations must not keep the pointers they are given.
type Observer interface {
	// Step is called when warp enters a basic block with the lanes in mask.
	Step(warp int, block int, mask uint32)
	// Repeat is called where Slice mode leaves out n iterations of the loop
	// headed by block.
	Repeat(warp int, block int, n int64)
	// Access is called for each memory instruction with the lanes that
	// perform it; addr[l] is lane l's address in the resolved space.
	Access(warp int, pc int, space ir.Space, width int, mask uint32, addr *[WarpSize]uint64)
}

// FaultKind is the kind of a Fault.
type FaultKind uint8

// Kinds of fault. Race is a wrong program that ran (outcome "correctness"),
// the others stop it (outcome "runtime").
const (
	FaultNone FaultKind = iota
	OutOfBounds
	Misaligned
	Race
	BarrierDivergence
	TrapExecuted
	StepLimit
	Unsupported
)

// Fault is a defect of the kernel found while running it. It is an error.
type Fault struct {
	Kind    FaultKind
	PC      int
	Pos     ptx.Pos
	Instr   string // the instruction as PTX text
	Address uint64
	Space   ir.Space
	CTA     int64
	Thread  int // linear thread index in the CTA, -1 when not of one thread
	Detail  string
}
