package loopsample

import (
	"slices"
	"sort"

	"github.com/warptune/warptune/simengine/ir"
)

// Loop is a natural loop of a kernel and what is known about leaving out its iterations in Slice
// mode.
//
// A loop can be sampled if what the slice computes in it follows from the iteration's number alone.
// Precisely:
//
//   - One block leaves the loop, and every iteration passes it. It branches on one comparison of
//     integers: of a linear induction with a loop invariant.
//   - Every register that the slice carries from one iteration to the next is a linear induction or
//     cyclic. To a linear induction the same loop invariant is added exactly once in every
//     iteration. A cyclic register is computed from cyclic registers alone, such as the number of
//     the buffer that comes next, and is seen to come round within a few iterations.
//   - No other branch, no guard of a memory instruction and no barrier in the loop depends on an
//     induction or on data loaded in the loop. Comparisons of an induction with a loop invariant are
//     allowed: in the iterations left out their results are those of the one before.
//   - The slice writes no memory in the loop.
//
// Words of local memory that are accessed only as a whole, at constant places, count as registers
// (sroa.Mirror).
//
// Values recomputed from inductions in each iteration, such as `i & mask` or data loaded from an
// index array, are no obstacle: the iterations left out are taken to be like those executed before
// them.
type Loop struct {
	Head   int   // block index of its header
	Blocks []int // ascending, the header included
	// Obstacle says why the loop is never sampled; "" when it can be.
	Obstacle string
	// Counted is set if the number of iterations follows from inductions, whatever the Obstacle is.
	Counted bool
	// Barriers says that it contains a barrier, so that all warps of a CTA
	// must leave out the same iterations.
	Barriers bool

	// Periodic says that what Cyclic registers become, and what guards depend on, may depend on the
	// comparisons in Guards. Their results must have been the same for a whole period.
	Periodic bool
	// Mbarriers says that it contains operations on mbarriers, so that all warps which do must leave
	// out as many iterations of the loops in which they do. Drifts says that which mbarriers these
	// are, or the parities, follow from inductions, and States that it waits by a phase's state.
	Mbarriers, Drifts, States bool

	Members    []bool
	Inductions []ir.Reg // inductions that the slice carries round the loop
	Cyclic     []ir.Reg // what else it carries, computed from itself
	Exit       Test
	Guards     []Test // further comparisons of inductions, for their cmp alone
}

// Test is the comparison that ends a loop, or a guard in it.
type Test struct {
	block     int
	Induction ir.Operand // the side that is an induction
	Limit     ir.Operand
	Cmp       ir.Cmp // induct cmp limit
	Type      ir.Type
	Continues bool // the loop goes on while the comparison is this
	// ahead says that the induction's register at the header already holds
	// the value of the next comparison.
	Ahead bool
	// latch says that the comparison is the last thing an iteration does.
	AtLatch bool
}

// CanSample reports whether iterations of the loop may be left out.
func (l *Loop) CanSample() bool { return l.Obstacle == "" }

// CanEstimate reports whether iterations may be left out by estimate only: inductions say how many
// there are, but what each does depends on data.
func (l *Loop) CanEstimate() bool { return l.Counted && !l.CanSample() }

// Watched is the registers whose values are looked at in the loop's header.
func (l *Loop) Watched() []ir.Reg {
	if !l.Counted {
		return nil
	}
	return slices.Concat(l.Inductions, l.Deciding())
}

// Deciding is the registers that decide how many iterations are left out.
func (l *Loop) Deciding() []ir.Reg {
	if !l.CanSample() {
		return nil
	}
	return l.Tested()
}

// Tested is the registers that are looked at to know how many iterations are left, and how many of them can be left out
// or estimated.
func (l *Loop) Tested() []ir.Reg {
	if !l.Counted {
		return nil
	}
	regs := slices.Clone(l.Cyclic)
	for _, t := range append([]Test{l.Exit}, l.Guards...) {
		for _, o := range []ir.Operand{t.Induction, t.Limit} {
			if o.Kind == ir.OperandReg {
				regs = append(regs, o.Reg)
			}
		}
	}
	return regs
}

func (l *Loop) First(k *ir.Kernel) int { return k.Blocks[l.Blocks[0]].Start }
func (l *Loop) Last(k *ir.Kernel) int  { return k.Blocks[l.Blocks[len(l.Blocks)-1]].End - 1 }

// Find lists a kernel's natural loops, outer before inner ones. s, if not nil, is the slice that
// they are analysed for: it says which of them can be sampled.
func Find(k *ir.Kernel, s *Slice) []Loop {
	dom := newDominance(k)
	w := &waits{k: k}
	if s != nil {
		w = findWaits(k)
	} else {
		w.edges()
	}
	loops := findLoops(k, dom, w)
	if s != nil {
		analyse(loops, dom, w, s)
	}
	return loops
}

// findLoops finds the loops by their back edges, branches to a block that dominates them.
func findLoops(k *ir.Kernel, dom *dominance, w *waits) []Loop {
	var loops []Loop
	for h := range k.Blocks {
		blocks := make([]bool, len(k.Blocks))
		var work []int
		for _, p := range w.preds[h] {
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
				work = append(work, w.preds[b]...)
			}
		}
		l := Loop{Head: h, Members: blocks, Obstacle: "not analysed"}
		for b, in := range blocks {
			if in {
				l.Blocks = append(l.Blocks, b)
			}
		}
		loops = append(loops, l)
	}
	sort.SliceStable(loops, func(i, j int) bool { return len(loops[i].Blocks) > len(loops[j].Blocks) })
	return loops
}

// dominance is the dominator tree of a kernel's blocks.
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

// dominates reports whether a lies on every path from the entry to b. An unreachable block is
// dominated by itself only.
func (d *dominance) dominates(a, b int) bool {
	for b >= 0 && d.depth[b] > d.depth[a] {
		b = d.idom[b]
	}
	return a == b
}
