package mir

import (
	"github.com/warptune/warptune/simengine/assemble/target"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Block is a basic block of machine instructions.
type Block struct {
	Insts     []Inst
	Merged    int // block it was if-converted into, -1
	Holds     int // see Block.Holds
	Succs     []int
	Preds     []int
	LoopDepth int // loop depth
}

// Func is a kernel as machine instructions over virtual registers.
type Func struct {
	Kernel *ir.Kernel
	Target *target.Target
	Check  bool
	Values []vreg.Info
	Blocks []Block
	Order  []int // reachable, unmerged blocks in reverse post-order
	Live   liveness

	Regs          []int16 // first register of each value, -1 none
	General       int     // highest general register used plus one
	Spills        SpillState
	HoistedParams int // registers that hoisting parameters out of outer loops would take

	UniformNumbers map[vreg.Value]bool // pairs of uniform registers to which selection brings a number
	ReadInPlace    []int32             // loads from constant memory that instructions read in place
	Elected        []int32             // PTX reductions that one lane does for its warp
	Counted        []int32             // PTX atomics that count in shared memory
	Swapped        []int32             // PTX atomics that are loops over a swap in it

	MayBeUnwritten map[vreg.Value]bool // values that may be read unwritten; only where check is set
	tracked        []map[int32]string  // see trackOrder
}

// NewValue adds a virtual register.
func (f *Func) NewValue(w uint8, fl vreg.File) vreg.Value {
	f.Values = append(f.Values, vreg.Info{Words: w, File: fl, Def: -1})
	return vreg.Value(len(f.Values) - 1)
}

// SpillState is what spilling has done to the program.
type SpillState struct {
	Bytes, Stores, Loads int
	// pinned values are the short-lived ones spill code made; spilling them
	// again would gain nothing.
	Pinned map[vreg.Value]bool
}
