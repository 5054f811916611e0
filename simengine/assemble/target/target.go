// Package target has what the assembler knows of a compute capability: instructions, register
// file, occupancy.
package target

import (
	"fmt"

	"github.com/warptune/warptune/simengine/assemble/rules"
)

// Target is what the assembler knows of a compute capability.
type Target struct {
	CC      [2]int // major and minor number
	Uniform bool   // there is a uniform datapath with its own registers (Turing on)
	// IMADWide: 32x32+64 multiply-add in one instruction (Volta on). XMAD: integer multiplies are
	// built from 16-bit XMADs (Maxwell and Pascal).
	IMADWide, XMAD bool
	IADD3, LOP3    bool // three-input integer add, three-input logic (Maxwell on)
	// ConstOperand: arithmetic reads constant memory as an operand, c[bank][offset]. From Hopper on
	// constants are loaded by LDC and ULDC instead.
	ConstOperand bool
	// SharedWindow: the shared memory of a CTA starts at an address that depends on its rank in the
	// cluster (Hopper on).
	SharedWindow bool
	// Descriptor: global accesses name a memory descriptor in a uniform register (Ampere on).
	Descriptor bool
	// Convergence: divergent regions are bracketed by BSSY and BSYNC (Volta on; before, SSY and
	// SYNC at the same places and cost).
	Convergence bool
	REDUX       bool // one instruction reduces an integer over a warp (Ampere on)
	// FastI2F: integer to fp32 conversion runs on the ALU (I2FP; 8.6 on, not the A100; ptxas
	// 13.0.88).
	FastI2F bool
	// AddMinMax: addition fused into min or max (VIADDMNMX), min or max of three (VIMNMX3), and
	// addition of an immediate on the multiplier's pipe (VIADD). Hopper on.
	AddMinMax bool
	// UniformConstants is how many words of constants a block keeps in uniform registers at a time:
	// for sm_90 between 54 and 56, for sm_100 and sm_120 between 70 and 72
	// (sched/constpressure.go).
	UniformConstants int
	// SharedIncrement: an atomic that adds one in shared memory takes any number of lanes of a word
	// at a time (Maxwell on).
	SharedIncrement bool
	Registers
	// Specific: the PTX is for this architecture alone (.target sm_90a). Rules that were found with
	// such kernels hold for them only; the others' programs are calibrated without.
	Specific bool
	// Without are the rules of the model that are left out.
	Without rules.Set
}

// Registers is how registers are counted and bound occupancy.
type Registers struct {
	// Reserved registers are charged beyond those that the code names: from Volta on the reported
	// count is two more than the highest register plus one.
	Reserved int
	MinCap   int   // smallest cap that the assembler honours
	RegUnit  int   // granularity of a warp's registers
	Steps    []int // registers a thread at which occupancy changes, ascending
	sm       SM
}

// For returns the target of a compute capability, {9, 0} for sm_90.
func For(cc [2]int) (*Target, error) {
	v := cc[0]*10 + cc[1]
	if v < 30 || v > 129 {
		return nil, fmt.Errorf("assemble: compute capability %d.%d is not modelled (3.0 to 12.x are)", cc[0], cc[1])
	}
	t := &Target{
		CC: cc, IADD3: v >= 50, LOP3: v >= 50, SharedIncrement: v >= 50, XMAD: v >= 50 && v < 70, IMADWide: v >= 70,
		Uniform: v >= 75, ConstOperand: v < 90, SharedWindow: v >= 90, Descriptor: v >= 80,
		Convergence: v >= 70, REDUX: v >= 80, FastI2F: v >= 86, AddMinMax: v >= 90, Registers: Registers{MinCap: 24, RegUnit: 256},
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

// Uses reports whether a rule of the model applies.
func (t *Target) Uses(r rules.Rule) bool { return !t.Without.Has(r) }

// occupancySteps lists, for each number of resident warps (in fours, one a sub-partition), the
// largest registers per thread, in units of 8, that admit it.
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

// Step rounds a register count up to the largest one with the same occupancy.
func (t *Target) Step(need int) int {
	for _, s := range t.Steps {
		if need <= s {
			return s
		}
	}
	return MaxRegisters
}

// RegisterFile is the number of 32-bit registers of an SM, and so of a CTA at most, of every
// architecture modelled (CUDA C++ Programming Guide, table "Technical Specifications per Compute
// Capability").
const RegisterFile = 65536

// MaxRegisters is the largest number of registers of a thread that instructions can name: R0 to
// R254.
const MaxRegisters = 255
