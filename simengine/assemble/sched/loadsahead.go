package sched

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
)

// Loads ahead of arithmetic.
//
// In PTX for one architecture, of a program without products, what the budget leaves goes to loads and shuffles: they
// and what they depend on issue ahead of program order while the rest still fits. Arithmetic goes ahead only about as
// far as the block's own order has registers. List scheduling works on all elements of a thread's tile at the same time,
// and keeps what it has of each:
//
//	list scheduling          loads ahead
//	LDG a0; LDG a1           LDG a0; LDG a1
//	FMUL t0, a0, c           FMUL t0, a0, c
//	FMUL t1, a1, c           FFMA t0, t0, a0, 1
//	FFMA t0, t0, a0, 1       FMUL t1, a1, c
//	FFMA t1, t1, a1, 1       FFMA t1, t1, a1, 1
//
// Evidence, ptxas corpus (12.8, 315 Triton programs of 19 kernels without products, of shared/hopper and
// triton-wgmma-a to -d): 193 register counts are within 10 % so, and 183 otherwise; they are 15.6 and 16.4 % off in the
// mean. rope_halves has 18 of 18 for 11. geglu_tanh_backward takes 42 registers where 64 are offered: its last block
// interleaves as many elements as it takes for none to wait. Measured on an H100 and an H200: with loads alone ahead,
// bitonic_rows, whose rows go through shuffles, takes 1.63 times the measured time in one configuration for 1.20, and
// its pick is 1.29 for 1.00.

// loadsGoAhead reports whether this order is tried for a program.
func loadsGoAhead(f *mir.Func) bool {
	return f.Target.Specific && f.Target.Uses(rules.LoadsAhead) && !slices.ContainsFunc(f.Order, func(b int) bool { return HasProduct(f.Blocks[b].Insts) })
}

// leadsToLoad finds the loads and shuffles of a block and what they depend on.
func leadsToLoad(g *dag) []bool {
	leads := make([]bool, len(g.insts))
	for i := len(g.insts) - 1; i >= 0; i-- {
		c := g.insts[i].Op.Class()
		leads[i] = c == mir.Load || c == mir.Shuffle
		for k := g.head[i]; k >= 0 && !leads[i]; k = g.edges[k].next {
			leads[i] = leads[g.edges[k].to]
		}
	}
	return leads
}

// loadsAheadOrder returns the order with loads ahead of arithmetic if it takes fewer registers than list scheduling,
// which takes listed, else nil. Up to the registers that all warps can have, list scheduling costs nothing.
func loadsAheadOrder(f *mir.Func, b, budget, listed int, g *dag, s *Scratch) []int32 {
	if g.leads == nil || g.pressure > budget || listed < f.Target.Steps[0]-f.Target.Reserved {
		return nil
	}
	if order, p := listLookahead(f, b, budget, g, s); p < listed {
		return order
	}
	return nil
}

// arithmeticSlack is how many registers more than the block's own order takes arithmetic may hold that issues ahead of
// it. With 0, 1, 2, 3, 4 and 6, 188, 193, 193, 191, 192 and 190 of those register counts are within 10 %.
const arithmeticSlack = 2

// limitOf is how many general registers may be live if instruction i goes ahead.
func (p *lookahead) limitOf(i int32) int {
	if p.g.leads == nil || p.g.leads[i] {
		return p.limit
	}
	return min(p.limit, p.g.pressure+arithmeticSlack)
}
