package exec

import (
	"slices"
	"sort"

	"github.com/warptune/warptune/simengine/ir"
)

// Loop is a natural loop of a kernel and what is known about leaving out its
// iterations in Slice mode.
//
// A loop can be sampled when what the slice computes in it follows from the
// iteration's number alone. Precisely:
//
//   - one block leaves it, every iteration passes that block, and it branches
//     on one comparison of integers, one side of which is a linear induction
//     and the other the same in all iterations;
//   - every register of the slice that an iteration takes over from the one
//     before is a linear induction: exactly once an iteration, something is
//     added to it that is the same in all iterations; or it turns: it is
//     computed from registers that turn alone, such as the number of the
//     buffer that comes next, and is seen to come round within a few iterations;
//   - no other branch in it, no guard of a memory instruction and no barrier
//     depends on an induction or on data loaded in the loop, but for comparisons
//     of an induction with what is the same in all iterations: those that are
//     left out all find what the one before them found;
//   - the slice writes no memory in it.
//
// Words of a thread's own local memory that are accessed at their fixed places only count
// as registers (ir.KeepPrivate).
//
// Values recomputed from inductions in each iteration, such as `i & mask` or
// data loaded from an index array, are no obstacle: the iterations left out
// are taken to be like those recorded before them.
type Loop struct {
	Head   int   // block index of its header
	Blocks []int // ascending, the header included
	// Obstacle says why the loop is never sampled; "" when it can be.
	Obstacle string
	// counted says that how many iterations there are follows from inductions, whatever
	// the Obstacle is.
	counted bool
	// Barriers says that it contains a barrier, so that all warps of a CTA
	// must leave out the same iterations.
	Barriers bool

	blocks  []bool
	carried []ir.Reg // inductions that the slice carries round the loop
	turning []ir.Reg // what else it carries, computed from itself
	test    loopTest
	guards  []loopTest // further comparisons of inductions, for their cmp alone
}

// loopTest is the comparison that ends a loop.
type loopTest struct {
	block  int
	induct ir.Operand // the side that is an induction
	limit  ir.Operand
	cmp    ir.Cmp // induct cmp limit
	typ    ir.Type
	goesOn bool // the loop goes on while the comparison is this
	// ahead says that the induction's register at the header already holds
	// the value of the next comparison.
	ahead bool
	// latch says that the comparison is the last thing an iteration does.
	latch bool
}

// CanSample reports whether iterations of the loop may be left out.
func (l *Loop) CanSample() bool { return l.Obstacle == "" }

// CanEstimate reports whether iterations of the loop may be left out by
// Options.Estimate only: there are as many as inductions say, but what one of them
// does depends on data.
func (l *Loop) CanEstimate() bool { return l.counted && !l.CanSample() }

// watched are the registers the sampler reads at the header.
func (l *Loop) watched() []ir.Reg {
	if !l.counted {
		return nil
	}
	return slices.Concat(l.carried, l.decides())
}

// decides are those that say how many iterations it leaves out.
func (l *Loop) decides() []ir.Reg {
	if !l.CanSample() {
		return nil
	}
	regs := slices.Clone(l.turning)
	for _, t := range append([]loopTest{l.test}, l.guards...) {
		for _, o := range []ir.Operand{t.induct, t.limit} {
			if o.Kind == ir.OperandReg {
				regs = append(regs, o.Reg)
			}
		}
	}
	return regs
}

func (l *Loop) first(k *ir.Kernel) int { return k.Blocks[l.Blocks[0]].Start }
func (l *Loop) last(k *ir.Kernel) int  { return k.Blocks[l.Blocks[len(l.Blocks)-1]].End - 1 }

// findLoops lists the kernel's natural loops, outer before inner ones.
func findLoops(k *ir.Kernel) ([]Loop, *dominance) {
	dom := newDominance(k)
	var loops []Loop
	for h := range k.Blocks {
		blocks := make([]bool, len(k.Blocks))
		var work []int
		for _, p := range k.Blocks[h].Preds {
			if dom.dominates(h, p) {
				work = append(work, p)
			}
		}
		if len(work) == 0 {
			continue
		}
		blocks[h] = true
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			if !blocks[b] {
				blocks[b] = true
				work = append(work, k.Blocks[b].Preds...)
			}
		}
		l := Loop{Head: h, blocks: blocks, Obstacle: "not analysed"}
		for b, in := range blocks {
			if in {
				l.Blocks = append(l.Blocks, b)
			}
		}
		loops = append(loops, l)
	}
	sort.SliceStable(loops, func(i, j int) bool { return len(loops[i].Blocks) > len(loops[j].Blocks) })
	return loops, dom
}

// dominance answers which blocks lie on every path to a block.
type dominance struct {
	idom, depth []int
}

func newDominance(k *ir.Kernel) *dominance {
	d := &dominance{idom: k.Dominators(), depth: make([]int, len(k.Blocks))}
	for i := range d.idom {
		for b := i; b >= 0; b = d.idom[b] {
			d.depth[i]++
		}
	}
	return d
}

// dominates reports whether a lies on every path to b. A block that is never
// reached is dominated by itself only.
func (d *dominance) dominates(a, b int) bool {
	for b >= 0 && d.depth[b] > d.depth[a] {
		b = d.idom[b]
	}
	return a == b
}

// CanEstimate reports whether the program has a loop of which Options.Estimate leaves
// out iterations.
func (p *Program) CanEstimate() bool {
	return slices.ContainsFunc(p.Loops, func(l Loop) bool { return l.CanEstimate() })
}
