package timing

import "github.com/warptune/warptune/simengine/timing/makespan"

// Result is what a launch comes to. All of it is estimated for the whole grid.
type Result struct {
	// Cycles is the kernel from its first CTA's launch to its last one's end,
	// TimeUS the same in microseconds with the gap between back-to-back launches.
	Cycles float64
	TimeUS float64
	// Floor is the cycles that no level goes below, from compulsory work alone;
	// 0 when it was not determined (clock.Run does not).
	Floor float64
	// LockstepFloor is the cycles below which CTAs that read the same data in step do not get,
	// since the first of them waits for DRAM; 0 where it was not determined (clock.Run does not).
	LockstepFloor float64
	// Tail is the cycles that the last CTAs take longer for rows that all of them copy (footprint.SameRows). Cycles has them
	// in it, those of clock.Run do not.
	Tail float64
	// Skew is what comes of CTAs of different lengths; zero where they do not differ and when
	// it was not determined (clock.Run does not).
	Skew Skew
	// Probed is what CTAs further on in the grid read of what the first one reads, by PTX instruction; nil where none were
	// probed and when it was not determined (clock.Run does not).
	Probed []Probed
	// Work is what the launch gives the units to do. Bound is the unit nearest its peak by that if it is near,
	// else BoundLatency; Nearest the unit in any case; Utilisation how near each is, by name. See Account.
	Work           Work
	Bound, Nearest Bound
	Utilisation    map[string]float64
	// SchedulerCycles is the cycles of one SM's schedulers that were clocked:
	// it equals Issued plus the sum of Slots, exactly.
	SchedulerCycles int64
	Issued          int64
	Slots           [NumStallReasons]int64
	// Sampled reports whether iterations of loops were left out: Slots are of those clocked then.
	Sampled bool
	// WarpStalls is the mean cycles a warp waited for each reason per
	// instruction it issued.
	WarpStalls [NumStallReasons]float64
	// Metrics are counters of the whole launch under Nsight Compute's names.
	Metrics map[string]float64
	// Sites is what each PTX instruction does, in their order; nil where Input.Profile does not ask for it.
	Sites []Site
	// ClockedCTAs of CTAs of the busiest SM were clocked; SampleError is the
	// relative error that the sampling is estimated to add to Cycles.
	ClockedCTAs, CTAs int64
	SampleError       float64
}

// Skew is what comes of CTAs of different lengths.
type Skew struct {
	// Stretch is how many times as long the launch takes until its last SM is done as it would
	// if all CTAs were of the mean length, at least 1; 0 as 1.
	Stretch float64
	// Waves is as how many full waves the busiest SM's CTAs take, a last one that is not full counted as long
	// as it takes.
	Waves float64
	// Share is how CTAs of the mean length share what is an SM's own.
	Share makespan.Device
}

// Probed counts the granules that probed CTAs read by an instruction, and those of them that the first CTA reads, by
// probe. The last one is for what the others let expect.
type Probed struct {
	Read, Found [NumProbes + 1]int32
}

// NumProbes is how many CTAs are probed at most; see footprint.Survey.ProbeAll.
const NumProbes = 8

// Bound names a unit, or what else sets a time.
type Bound uint8

// Bounds. The zero value is invalid.
const (
	BoundInvalid Bound = iota
	BoundIssue         // instruction issue
	BoundALU
	BoundFMA
	BoundIMAD
	BoundFP64
	BoundHalf
	BoundTensor
	BoundXU       // transcendental unit and conversions
	BoundLSU      // L1TEX: tags and data banks of global, local and shared accesses
	BoundTexture  // texture unit
	BoundConstant // indexed constant cache
	BoundL2
	BoundAtomics // the slices of L2 that atomics fall on
	BoundDRAM
	BoundLaunch  // the rate at which CTAs are launched
	BoundLatency // no unit is near its peak: too few warps or too long chains
	NumBounds
)

var boundNames = [NumBounds]string{
	"invalid", "issue", "alu", "fma", "imad", "fp64", "half", "tensor", "xu", "lsu", "texture", "constant", "l2", "atomics", "dram", "launch", "latency",
}

func (b Bound) String() string {
	if b < NumBounds {
		return boundNames[b]
	}
	return "invalid"
}
