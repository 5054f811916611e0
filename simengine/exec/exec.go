package exec

import (
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/exec/racecheck"
	"github.com/warptune/warptune/simengine/ir"
)

// WarpSize is the number of lanes of a warp.
const WarpSize = arch.WarpSize

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
	// headed by block: after the steps of the iterations that stand for them
	// and before the step that enters the header for the first of the last
	// iterations.
	Repeat(warp int, block int, n int64)
	// Access is called for each memory instruction with the lanes that
	// perform it; addr[l] is lane l's address in the resolved space (bytes
	// from the start of the thread's local memory for Local, of the CTA's
	// shared memory for Shared, of the constant bank for Const). Lanes
	// outside mask hold no meaning. An instruction that no lane performs is
	// not reported; cp.async is reported twice, Global and then Shared; a
	// generic access whose lanes fall in several spaces once for each space.
	Access(warp int, pc int, space ir.Space, width int, mask uint32, addr *[WarpSize]uint64)
}

// Mode says how much of a kernel is executed. The zero value is invalid.
type Mode uint8

// The modes; see the package comment.
const (
	ModeInvalid Mode = iota
	Full
	Slice
)

// String names the mode.
func (m Mode) String() string {
	switch m {
	case Full:
		return "full"
	case Slice:
		return "slice"
	}
	return "invalid"
}

// DefaultStepLimit is the number of basic blocks one warp may execute when
// Options.StepLimit is 0: far above what any kernel of a few seconds needs.
const DefaultStepLimit = 50_000_000

// Options of a run.
type Options struct {
	// Mode, when set, must be the mode the program was compiled for.
	Mode Mode
	// LoopSample, in Slice mode, is how many leading iterations of a counted
	// loop are executed before its middle is left out; 0 runs them all and
	// 1 counts as 2. See Program.Loops for which loops qualify.
	LoopSample int
	// Estimate, in Slice mode, is in how many places spread over their iterations loops
	// are sampled that CanEstimate: between one executed and the next, some are left
	// out. What these would have stored is not, and registers that follow no rule are
	// left as they are; 0 runs such loops whole.
	Estimate int
	// StepLimit is the largest number of basic blocks one warp may execute,
	// 0 for DefaultStepLimit.
	StepLimit int64
	// WorkLimit is the most Work that the warps of the CTA may do together,
	// 0 for no limit.
	WorkLimit int64
	// DeviceOnly leaves out accesses to shared memory whose data is not needed:
	// for what a CTA touches of device memory, and whether its warps meet at
	// every barrier, they do not matter. Slice mode only.
	DeviceOnly bool
	// PathOnly leaves out all accesses whose data is not needed: what remains is
	// the blocks that warps execute. Slice mode only.
	PathOnly bool
	// Warps are those of the CTA that are executed, warp w where bit w is set; 0 is
	// all. Only of programs whose WarpsApart says so, and in Slice mode.
	Warps uint32
	// Races turns the shared memory race checker on. In Slice mode, where most
	// stored values are not known, two writes race even if they write the same:
	// a launch without faults there has none in Full mode either, of what the
	// slice executes.
	Races bool
	// GlobalRaces, if not nil, looks for races in device memory too, within the CTA and with those that were
	// executed before with the same: all of one launch. It implies Races, and holds in Slice mode what Races says
	// of values. See its package for what it costs.
	GlobalRaces *racecheck.Series
	// Uninitialised looks for values of shared and local memory that nobody wrote and that matter: decide a branch, an
	// address, or what is stored to device memory or combined by an atomic. In Slice mode, only of those that it computes; where loops are
	// sampled or accesses left out, not at all.
	Uninitialised bool
	// Warn notes (Runner.Warnings) what need not end a kernel, and goes on: after an access out of bounds with zeros for what was
	// to be loaded and without what was to be stored, after a race or an uninitialised read with what is there.
	// Accesses of ldmatrix out of bounds, misaligned ones, and barriers that not all reach remain faults.
	Warn bool
}
