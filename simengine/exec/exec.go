package exec

import (
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/racecheck"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
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
	Cluster       Dim3 // CTAs of a cluster; zeros: none
	DynamicShared int  // bytes
	// Params are the bytes of the parameter space, laid out as Kernel.Params
	// says; see Memory.BindParams.
	Params []byte
	// Replicas: lanes of one store may write different values to one word of shared memory, of which one stays.
	Replicas bool
}

// Observer is told what warps do, in execution order of each warp.
// Implementations must not keep the pointers they are given.
type Observer interface {
	// Step is called when warp enters a basic block with the lanes in mask.
	Step(warp int, block int, mask uint32)
	// Repeat is called where Slice mode leaves out n iterations of the loop headed by block. It is called after the
	// steps of the iterations that stand for them, and before the step that enters the header for the first of the
	// last iterations.
	Repeat(warp int, block int, n int64)
	// Access is called for each memory instruction with the lanes that perform it. The address of lane l in the
	// resolved space is addr[l]. It is in bytes from the start of the thread's local memory for Local, of the CTA's
	// shared memory for Shared, of the constant bank for Const. Lanes outside mask hold no meaning. An instruction
	// that no lane performs is not reported; cp.async is reported twice, Global and then Shared; a generic access
	// whose lanes fall in several spaces once for each space.
	Access(warp int, pc int, space ir.Space, width int, mask uint32, addr *[WarpSize]uint64)
}

// AsyncObserver is an Observer that is told of asynchronous operations too.
type AsyncObserver interface {
	Observer
	// Async is called for each operation on an mbarrier and each bulk copy, with the ranges of
	// device memory that the copy reads or writes (nil: none), in the order of shared memory.
	Async(warp int, a trace.Async, ranges []Range)
}

// PeriodObserver is an Observer that is told, before each Repeat, within how many iterations what the loop goes through
// in turns comes round.
type PeriodObserver interface {
	Observer
	Period(warp int, iterations int64)
}

// Range is bytes of device memory.
type Range = trace.Range

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
	// Estimate, in Slice mode, is into how many strata the iterations of a loop are cut that can be
	// sampled by estimate only (loopsample.Loop.CanEstimate). One iteration of each is executed.
	// What the others would have stored is not stored, and registers that are no inductions stay as
	// they are. 0 executes such loops whole.
	Estimate int
	// StepLimit is the largest number of basic blocks one warp may execute,
	// 0 for DefaultStepLimit.
	StepLimit int64
	// WorkLimit is the most Work that the warps of the CTA may do together,
	// 0 for no limit.
	WorkLimit int64
	// DeviceOnly leaves out accesses to shared memory whose data is not needed. They matter neither
	// to the device memory that a CTA touches nor to whether its warps meet at every barrier. What is
	// computed for their addresses alone is left out, too. Slice mode only.
	DeviceOnly bool
	// PathOnly leaves out all accesses whose data is not needed, and what is computed for them alone.
	// What remains is the blocks that warps execute. Slice mode only.
	PathOnly bool
	// WholeGrid executes all CTAs of the grid together, which may wait for each other. The launch must be one that
	// FitsTogether.
	WholeGrid bool
	// Warps is which warps of the CTA are executed: warp w if bit w is set; 0 means all. Only in
	// Slice mode and if Program.WarpsOnlyMeet.
	Warps uint32
	// Races looks for races in shared memory. In Slice mode most stored values are not known, so two
	// writes race even if they write the same value: a launch without faults in Slice mode has none
	// in Full mode, in what the slice executes. Slice mode does not know in what order mbarriers and
	// clusters put accesses, and does not look for races in kernels that have them.
	Races bool
	// GlobalRaces, if not nil, looks for races in device memory too, within the CTA and with the
	// CTAs that were executed before with the same series, all of one launch. It implies Races. In
	// Slice mode it knows as little of stored values as Races. Package racecheck says what it costs.
	GlobalRaces *racecheck.Series
	// Uninitialised looks for uninitialised values of shared and local memory that matter: that
	// decide a branch or an address, or are stored to device memory or combined by an atomic. Slice
	// mode looks only at the values that it computes, and at none where loops are sampled or
	// accesses left out.
	Uninitialised bool
	// Warn notes faults that need not end a kernel (Runner.Warnings) and continues. After an access out of bounds
	// it continues with zeros for what it loads and without what it stores; after a race or an uninitialised read,
	// with the values that are there. Accesses of ldmatrix out of bounds, misaligned accesses, and barriers that
	// not all threads reach remain faults.
	Warn bool
}

// scope is what of a program is executed.
func (o *Options) scope() code.Scope {
	switch {
	case o.PathOnly:
		return code.Path
	case o.DeviceOnly:
		return code.Device
	}
	return code.Whole
}
