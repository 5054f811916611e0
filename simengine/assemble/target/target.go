package target

import "fmt"

// Target is what instruction selection and allocation know of a compute
// capability.
type Target struct {
	Cc      [2]int
	Uniform bool // uniform: there is a uniform datapath with its own registers (Turing on).
	// imadWide: 32x32+64 multiply-add in one instruction (Volta on). Before,
	// Maxwell and Pascal build every integer multiply from 16-bit XMADs.
	ImadWide, Xmad bool
	Iadd3, Lop3    bool // iadd3: three-input integer add (Maxwell on); lop3 likewise.
	// constOperand: arithmetic reads c[bank][offset] directly (see constant); Hopper
	// loads constants through LDC and ULDC instead.
	ConstOperand bool
	// sharedWindow: the shared memory of a CTA starts at an address that
	// depends on its rank in the cluster (Hopper on).
	SharedWindow bool
	// descriptor: global accesses name a memory descriptor in a uniform
	// register (Ampere on).
	Descriptor bool
	// convergence: divergent regions are bracketed by BSSY and BSYNC (Volta
	// on; SSY and SYNC before, at the same places and cost).
	Convergence bool
	Redux       bool // redux: REDUX reduces integers over a warp (Ampere on).
	// i2fFast: integer to fp32 conversion runs on the ALU (I2FP; GA102 on, not the A100, in ptxas 13.0.88).
	FastI2F bool
	// addMinMax: an add fused into min or max, and min or max of three (VIADDMNMX and
	// VIMNMX3), and sums with an immediate in the multiplier's pipe (VIADD; Hopper on).
	AddMinMax bool
	// uniformConstants is how many words of constants a block keeps in uniform registers at
	// a time: for sm_90 between 54 and 56, for sm_100 and sm_120 between 70 and 72 (crowdconst.go).
	UniformConstants int
	// counting: shared memory is counted in by an instruction that takes any number
	// of lanes for a word at a time (Maxwell on, with its atomics on shared memory).
	SharedIncrement bool
	// reserved registers that a thread is charged beyond those its code names:
	// the count reported for sm_70 and later is two more than the highest
	// register used plus one.
	Reserved int
	MinCap   int   // smallest cap the assembler honours
	RegUnit  int   // registers a warp's allocation is rounded to
	Steps    []int // steps are the register counts at which occupancy changes, ascending.
	sm       SM
}

// For returns the target of a compute capability.
func For(cc [2]int) (*Target, error) {
	v := cc[0]*10 + cc[1]
	if v < 30 || v > 129 {
		return nil, fmt.Errorf("assemble: compute capability %d.%d is not modelled (3.0 to 12.x are)", cc[0], cc[1])
	}
	t := &Target{
		Cc: cc, Iadd3: v >= 50, Lop3: v >= 50, SharedIncrement: v >= 50, Xmad: v >= 50 && v < 70, ImadWide: v >= 70,
		Uniform: v >= 75, ConstOperand: v < 90, SharedWindow: v >= 90, Descriptor: v >= 80,
		Convergence: v >= 70, Redux: v >= 80, FastI2F: v >= 86, AddMinMax: v >= 90, MinCap: 24, RegUnit: 256,
	}
	if v >= 70 {
		t.Reserved = 2
	} else {
		t.MinCap = 16
	}
	if t.UniformConstants = 55; v >= 100 {
		t.UniformConstants = 71
	}
	t.sm = smOf(v)
	t.Steps = occupancySteps(t.sm.warps)
	return t, nil
}

// occupancySteps lists the largest register counts per thread, in units of 8,
// that still let each number of warps (in fours, one a scheduler) be resident.
func occupancySteps(maxWarps int) []int {
	var steps []int
	for w := maxWarps; w >= 4; w -= 4 {
		n := RegisterFile / 32 / w / 8 * 8
		if n > MaxRegisters {
			n = MaxRegisters
		}
		if len(steps) == 0 || steps[len(steps)-1] != n {
			steps = append(steps, n)
		}
	}
	return steps
}

// Step rounds a register count up to where occupancy falls anyway.
func (t *Target) Step(need int) int {
	for _, s := range t.Steps {
		if need <= s {
			return s
		}
	}
	return MaxRegisters
}

// RegisterFile is the number of 32-bit registers of one SM, and so of one CTA,
// on every architecture modelled (CUDA C++ Programming Guide, table "Technical
// Specifications per Compute Capability").
const RegisterFile = 65536

// MaxRegisters is the largest register count of a thread that an instruction
// can encode: R0 to R254.
const MaxRegisters = 255
