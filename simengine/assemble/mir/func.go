// Package mir is a kernel as machine instructions over virtual registers, with the analyses and
// checks that scheduling and register allocation share.
package mir

import (
	"github.com/warptune/warptune/simengine/assemble/target"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Machine code over virtual registers: what instruction selection makes and what scheduling and
// register allocation work on.

// Block is a basic block of machine instructions.
type Block struct {
	Insts     []Inst
	Merged    int // block that it was if-converted into, -1 none
	Holds     int // block whose first instructions were moved to the end of this one, 0 none
	Succs     []int
	Preds     []int
	LoopDepth int // loops around it
}

// Func is a kernel as machine instructions over virtual registers.
type Func struct {
	Kernel *ir.Kernel
	Target *target.Target
	Check  bool // the verifiers run after each pass
	Values []vreg.Info
	Blocks []Block
	Order  []int // reachable, unmerged blocks in reverse post-order
	Live   liveness

	Regs          []int16 // by value: its first register, -1 none
	General       int     // highest general register used plus one
	Spills        SpillState
	HoistedParams int // general registers that keeping parameters across inner loops would take

	// Groups are lists of values that lie in adjacent registers: accumulators of warpgroups' products.
	Groups  [][]vreg.Value
	grouped []bool // by value: it is in one of Groups

	UniformNumbers map[vreg.Value]bool // uniform values that hold a 64-bit constant and nothing else
	ReadInPlace    []int32             // PTX loads from constant memory that instructions read as an operand
	Elected        []int32             // PTX reductions that one lane makes for its warp
	Counted        []int32             // PTX atomics that add one in shared memory
	Swapped        []int32             // PTX atomics on shared memory that became a compare-and-swap loop

	MayBeUnwritten map[vreg.Value]bool // values that the PTX may read unwritten; only with Check
	tracked        []map[int32]string  // by block: what each instruction depends on, see TrackOrder
}

// NewValue adds a virtual register of w words in a register file.
func (f *Func) NewValue(w uint8, fl vreg.File) vreg.Value {
	f.Values = append(f.Values, vreg.Info{Words: w, File: fl, Def: -1})
	return vreg.Value(len(f.Values) - 1)
}

// SpillState is what spilling has added: bytes of local memory a thread, static stores and loads.
type SpillState struct {
	Bytes, Stores, Loads int
	// Pinned values live around one instruction only. Spilling them again gains nothing.
	Pinned map[vreg.Value]bool
}
