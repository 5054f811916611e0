package sroa

import "github.com/warptune/warptune/simengine/ir"

// How ptxas 13.0 decides whether to hold an array in registers whose places are chosen at run
// time, by 6,055 pieces of code made for sm_75 and sm_90 (deploy/calibrate/ptxas/indexed.py and its
// results; 96 % of them are decided so here for sm_90, 90 % for sm_75): an access costs as many instructions as there
// are places for it to be. All together may cost no more than there are instructions in the
// kernel, which count ten times as much for each loop that they are in, however often it is
// gone through and whatever branch they stand behind.
const (
	perLoop = 10
	// deepest keeps the sum in range.
	deepest = 8
	// mostHeld is how many bytes such an array may have: on sm_90 88 words are held and 96 are
	// not, whatever else the kernel does (on sm_75 160 are).
	mostHeld = 4 * 88
	// mostCalled is that in a kernel that calls the routine of a division: 32 words are held on
	// sm_90, 33 not.
	mostCalled = 4 * 32
	// mostStatic is that of an array whose places are all constants once loops are unrolled: 128
	// words are held, of 256 some.
	mostStatic = 4 * 128
)

// choose refuses what ptxas leaves in memory, and reports whether anything is left.
func (h *holder) choose() (any bool) {
	k := h.k
	cost := make([]int64, len(k.Vars)) // in halves of an instruction
	var all int64
	most := mostHeld
	for b := range k.Blocks {
		often := int64(1)
		for range min(deepest, k.Blocks[b].LoopDepth) {
			often *= perLoop
		}
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			all += often * int64(halves(&k.Instrs[pc]))
			if a, ok := h.of[pc]; ok && a.at.modulus != 0 {
				cost[a.variable] += 2 * often * int64(len(a.places(k.Vars[a.variable].Size)))
			}
			if k.Instrs[pc].Op == ir.Div && ir.HasSlowPath(&k.Instrs[pc]) {
				most = mostCalled
			}
		}
	}
	filled := h.filled()
	for v := range k.Vars {
		limit := most
		if cost[v] == 0 {
			limit = mostStatic
		}
		h.refused[v] = h.refused[v] || !filled[v] || cost[v] > all || k.Vars[v].Size > limit
		any = any || !h.refused[v]
	}
	return any
}

// filled reports of each variable whether every word of it is stored at a constant place. ptxas
// leaves in memory what is only filled as data has it, a stack of four words, too; what it does with
// what is filled in part was not looked at.
func (h *holder) filled() []bool {
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

// halves is what an instruction counts, in halves of one. Loads and stores of global and shared
// memory are three; roots, logarithms, exponentials and quotients what they take, measured
// the same way; parameters, conversions of addresses and moves none.
func halves(in *ir.Instr) int {
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
