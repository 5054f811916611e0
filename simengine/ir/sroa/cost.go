package sroa

import "github.com/warptune/warptune/simengine/ir"

// How ptxas 13.0 decides whether an array that is indexed at run time goes to registers. An access
// costs one instruction for each element that it may be to. All accesses together may cost no more
// than the instructions of the kernel, each counted ten times for every loop around it, whatever the
// loop's trip count and whatever branch it depends on.
//
// The evidence is 6,055 pieces of code for sm_75 and sm_90 (deploy/calibrate/ptxas/indexed.py and
// its results). 96 % of them are decided the same way here for sm_90, 90 % for sm_75.
const (
	perLoop = 10
	// deepest bounds the loop depth that counts, so that the sum stays in range.
	deepest = 8
	// maxIndexedBytes is the size limit of an array indexed at run time: on sm_90, 88 words go to
	// registers and 96 do not, whatever else the kernel does (on sm_75, 160 do).
	maxIndexedBytes = 4 * 88
	// maxIndexedBytesCalling is that limit in a kernel that calls the routine of a division: on
	// sm_90, 32 words go to registers and 33 do not.
	maxIndexedBytesCalling = 4 * 32
	// maxStaticBytes is the limit of an array whose indices are all constants once loops are
	// unrolled: 128 words go to registers, of 256 some.
	maxStaticBytes = 4 * 128
)

// choose refuses the arrays that ptxas leaves in memory, and reports whether any is left.
func (h *promoter) choose() (any bool) {
	k := h.k
	cost := make([]int64, len(k.Vars)) // in halves of an instruction
	var all int64
	most := maxIndexedBytes
	for b := range k.Blocks {
		often := int64(1)
		for range min(deepest, k.Blocks[b].LoopDepth) {
			often *= perLoop
		}
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			all += often * int64(halfInstrs(&k.Instrs[pc]))
			if a, ok := h.of[pc]; ok && a.at.modulus != 0 {
				cost[a.variable] += 2 * often * int64(len(a.places(k.Vars[a.variable].Size)))
			}
			if k.Instrs[pc].Op == ir.Div && ir.HasSlowPath(&k.Instrs[pc]) {
				most = maxIndexedBytesCalling
			}
		}
	}
	filled := h.filled()
	for v := range k.Vars {
		limit := most
		if cost[v] == 0 {
			limit = maxStaticBytes
		}
		h.refused[v] = h.refused[v] || !filled[v] || cost[v] > all || k.Vars[v].Size > limit
		any = any || !h.refused[v]
	}
	return any
}

// filled reports of each variable whether every word of it is stored at a constant place. ptxas
// leaves in memory an array that is only stored to at run-time indices, even a stack of four words.
// What it does with arrays filled in part at constant places is not known.
func (h *promoter) filled() []bool {
	words := make([]map[uint64]bool, len(h.k.Vars))
	for pc, a := range h.of {
		if h.k.Instrs[pc].Op != ir.St || a.at.modulus != 0 {
			continue
		}
		if words[a.variable] == nil {
			words[a.variable] = map[uint64]bool{}
		}
		for w := range a.words {
			words[a.variable][a.at.value/4+uint64(w)] = true
		}
	}
	all := make([]bool, len(words))
	for v := range all {
		size := h.k.Vars[v].Size
		all[v] = size > 0 && size%4 == 0 && len(words[v]) == size/4
	}
	return all
}

// halfInstrs is the cost of an instruction in half instructions. Loads and stores of global and
// shared memory cost three. Square roots, logarithms, exponentials and quotients cost what was
// measured in the same way. Parameters, conversions of addresses and moves cost nothing.
func halfInstrs(in *ir.Instr) int {
	full := in.Type == ir.F32 && in.Mod&ir.ModFtz == 0 // denormal operands, too
	switch {
	case in.Op == ir.Mov || in.Op == ir.Cvta || in.Op == ir.Nop || in.Op == ir.Ld && in.Space == ir.ParamSpace:
		return 0
	case (in.Op == ir.Ld || in.Op == ir.St) && in.Space != ir.Local:
		return 3
	case in.Op == ir.Rsqrt && full, in.Op == ir.Lg2 && full:
		return 10
	case in.Op == ir.Ex2 && full:
		return 6
	case in.Op == ir.Rcp && ir.HasSlowPath(in):
		return 8
	case in.Op == ir.Sqrt && ir.HasSlowPath(in):
		return 14
	case in.Op == ir.Div, in.Op == ir.Rem && in.Src[1].Kind != ir.OperandImm:
		return 10
	}
	return 2
}
