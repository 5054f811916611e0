package assemble

import "fmt"

// target is what instruction selection and allocation know of a compute
// capability.
type target struct {
	cc [2]int
	// uniform: there is a uniform datapath with its own registers (Turing on).
	uniform bool
	// imadWide: 32x32+64 multiply-add in one instruction (Volta on). Before,
	// Maxwell and Pascal build every integer multiply from 16-bit XMADs.
	imadWide, xmad bool
	// iadd3: three-input integer add (Maxwell on); lop3 likewise.
	iadd3, lop3 bool
	// constOperand: arithmetic reads c[bank][offset] directly (see constant); Hopper
	// loads constants through LDC and ULDC instead.
	constOperand bool
	// sharedWindow: the shared memory of a CTA starts at an address that
	// depends on its rank in the cluster (Hopper on).
	sharedWindow bool
	// descriptor: global accesses name a memory descriptor in a uniform
	// register (Ampere on).
	descriptor bool
	// convergence: divergent regions are bracketed by BSSY and BSYNC (Volta
	// on; SSY and SYNC before, at the same places and cost).
	convergence bool
	// redux: REDUX reduces integers over a warp (Ampere on).
	redux bool
	// i2fFast: integer to fp32 conversion runs on the ALU (I2FP; GA102 on, not the A100, in ptxas 13.0.88).
	i2fFast bool
	// addMinMax: an add fused into min or max, and min or max of three (VIADDMNMX and
	// VIMNMX3), and sums with an immediate in the multiplier's pipe (VIADD; Hopper on).
	addMinMax bool
	// uniformConstants is how many words of constants a block keeps in uniform registers at
	// a time: for sm_90 between 54 and 56, for sm_100 and sm_120 between 70 and 72 (crowdconst.go).
	uniformConstants int
	// counting: shared memory is counted in by an instruction that takes any number
	// of lanes for a word at a time (Maxwell on, with its atomics on shared memory).
	counting bool
	// reserved registers that a thread is charged beyond those its code names:
	// the count reported for sm_70 and later is two more than the highest
	// register used plus one.
	reserved int
	minCap   int // smallest cap the assembler honours
	regUnit  int // registers a warp's allocation is rounded to
	// steps are the register counts at which occupancy changes, ascending.
	steps []int
	sm    sm
}

// targetFor returns the target of a compute capability.
func targetFor(cc [2]int) (*target, error) {
	v := cc[0]*10 + cc[1]
	if v < 30 || v > 129 {
		return nil, fmt.Errorf("assemble: compute capability %d.%d is not modelled (3.0 to 12.x are)", cc[0], cc[1])
	}
	t := &target{
		cc: cc, iadd3: v >= 50, lop3: v >= 50, counting: v >= 50, xmad: v >= 50 && v < 70, imadWide: v >= 70,
		uniform: v >= 75, constOperand: v < 90, sharedWindow: v >= 90, descriptor: v >= 80,
		convergence: v >= 70, redux: v >= 80, i2fFast: v >= 86, addMinMax: v >= 90, minCap: 24, regUnit: 256,
	}
	if v >= 70 {
		t.reserved = 2
	} else {
		t.minCap = 16
	}
	if t.uniformConstants = 55; v >= 100 {
		t.uniformConstants = 71
	}
	t.sm = smOf(v)
	t.steps = occupancySteps(t.sm.warps)
	return t, nil
}

// occupancySteps lists the largest register counts per thread, in units of 8,
// that still let each number of warps (in fours, one a scheduler) be resident.
func occupancySteps(maxWarps int) []int {
	var steps []int
	for w := maxWarps; w >= 4; w -= 4 {
		n := registerFile / 32 / w / 8 * 8
		if n > maxRegisters {
			n = maxRegisters
		}
		if len(steps) == 0 || steps[len(steps)-1] != n {
			steps = append(steps, n)
		}
	}
	return steps
}

// step rounds a register count up to where occupancy falls anyway.
func (t *target) step(need int) int {
	for _, s := range t.steps {
		if need <= s {
			return s
		}
	}
	return maxRegisters
}

// registerFile is the number of 32-bit registers of one SM, and so of one CTA,
// on every architecture modelled (CUDA C++ Programming Guide, table "Technical
// Specifications per Compute Capability").
const registerFile = 65536

// maxRegisters is the largest register count of a thread that an instruction
// can encode: R0 to R254.
const maxRegisters = 255
