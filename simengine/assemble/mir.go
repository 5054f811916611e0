package assemble

import "github.com/warptune/warptune/simengine/ir"

// mblock is a basic block of machine instructions.
type mblock struct {
	insts  []inst
	merged int // block it was if-converted into, -1
	holds  int // see Block.Holds
	succs  []int
	preds  []int
	depth  int // loop depth
}

// mfn is a kernel as machine instructions over virtual registers.
type mfn struct {
	k      *ir.Kernel
	t      *target
	check  bool
	vals   []valueInfo
	blocks []mblock
	order  []int // reachable, unmerged blocks in reverse post-order
	live   liveness

	regs    []int16 // first register of each value, -1 none
	general int     // highest general register used plus one
	spills  spillState
	spared  int // registers that hoisting parameters out of outer loops would take

	numbers map[value]bool // pairs of uniform registers to which selection brings a number
	inPlace []int32        // loads from constant memory that instructions read in place
	elected []int32        // PTX reductions that one lane does for its warp
	counted []int32        // PTX atomics that count in shared memory
	swapped []int32        // PTX atomics that are loops over a swap in it

	undefined map[value]bool     // values that may be read unwritten; only where check is set
	tracked   []map[int32]string // see trackOrder
}

// newValue adds a virtual register.
func (f *mfn) newValue(w uint8, fl file) value {
	f.vals = append(f.vals, valueInfo{words: w, file: fl, def: -1})
	return value(len(f.vals) - 1)
}

// spillState is what spilling has done to the program.
type spillState struct {
	bytes, stores, loads int
	// pinned values are the short-lived ones spill code made; spilling them
	// again would gain nothing.
	pinned map[value]bool
}
