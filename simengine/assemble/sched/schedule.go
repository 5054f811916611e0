// Package sched orders the instructions of basic blocks. Before register allocation it looks for
// orders with few live registers (sethiullman.go, bottomup.go, pressurelist.go, vectorload.go;
// reorder.go chooses) and then for latency within a budget of registers (list.go, lookahead.go;
// schedule.go chooses); after it, for latency.
package sched

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Scheduling of a program: before allocation for latency within a register budget, after allocation
// for latency alone.

// Scratch is storage that scheduling reuses from block to block.
type Scratch struct {
	lastDef    []int32 // by unit of dependence: last writer, -1 none
	readers    []int32 // by unit: first of its list in readerPool, -1 none
	readerPool []reader
	touched    []int32 // units to reset
	live       []uint8 // by value: live words
	number     []int32 // by word of a value; all zero between uses, see findWordUses
	general    []uint8 // by value: its words that take general registers
	list       listing
	dag        dag // for a block whose graph is not kept
}

// Grow makes room for the values of a function and returns s.
func (s *Scratch) Grow(f *mir.Func) *Scratch {
	n := len(f.Values)
	if units := 4*n + vreg.NumFiles*fileUnits(f); len(s.lastDef) < units {
		s.lastDef, s.readers = make([]int32, units), make([]int32, units)
		for i := range s.lastDef {
			s.lastDef[i], s.readers[i] = -1, -1
		}
	}
	if cap(s.live) < n {
		s.live, s.number, s.general = make([]uint8, n+n/8), make([]int32, 4*(n+n/8)), make([]uint8, n+n/8)
	}
	s.live, s.number, s.general = s.live[:n], s.number[:4*n], s.general[:n]
	for v := range s.general {
		s.general[v] = f.GeneralMask(vreg.Value(v))
	}
	return s
}

// Schedule orders the blocks of a layout for latency within a budget of general registers. most is how many the program's
// own order may take, 0 where no block is to have fewer than its own order takes. It reports whether any order changed.
func Schedule(f *mir.Func, budget, most int, l *mir.Layout, dags []*dag, s *Scratch) (changed bool) {
	for _, b := range f.Order {
		if dags[b] == nil {
			continue
		}
		order := scheduleBlock(f, b, budget, most, dags[b], s)
		changed = changed || !slices.Equal(order, l.Blocks[b].Order)
		l.Blocks[b].Order = order
	}
	return changed
}

// DAGs builds the dependence graph of every block of more than one instruction; nil for the others.
func DAGs(f *mir.Func, s *Scratch) []*dag {
	out := make([]*dag, len(f.Blocks))
	loadsAhead := loadsGoAhead(f)
	for _, b := range f.Order {
		if len(f.Blocks[b].Insts) > 1 {
			g := newDAG(f, f.Blocks[b].Insts, s, false, &dag{})
			g.bounds = boundsOf(f, b, s)
			g.pressure = orderPressure(f, b, &g.ops, nil, g.bounds.out, s.general, s)
			if loadsAhead {
				g.leads = leadsToLoad(g)
			}
			out[b] = g
		}
	}
	return out
}

// Reschedule orders every block once registers are allocated, for latency alone. Afterwards every
// block has instructions of its own, which later passes change in place.
func Reschedule(f *mir.Func, s *Scratch) error {
	s.Grow(f)
	for _, b := range f.Order {
		mb := &f.Blocks[b]
		if len(mb.Insts) < 2 {
			mb.Insts = slices.Clone(mb.Insts)
			continue
		}
		l := lister{f: f, g: newDAG(f, mb.Insts, s, true, &s.dag), s: s, limits: limits{aheadBudget: 1 << 20}, final: true}
		mb.Insts = mir.Arrange(mb.Insts, l.run(b))
	}
	return nil
}

// scheduleBlock returns the best order found for a block, nil for its own. In turn:
//
// - list scheduling, if it keeps within the budget, or what loadsahead.go has instead;
// - the look-ahead order, if the block's own order keeps within the budget;
// - list scheduling with a lower and lower aheadBudget, the first that keeps within the budget;
// - the order with the lowest pressure.
//
// Blocks with MMA instructions whose own order (see byProduct) exceeds the budget have the look-ahead order within the
// pressure of their own, so that fragments are still loaded ahead where registers are free.
//
// Evidence, H100 (mma_attn, 128 keys a step): ptxas loads fragments six to twelve MMAs ahead. Where each was loaded right
// before its MMA the kernel was predicted at 1.57 times its measured time, and at 1.33 so.
//
// Where it exceeds the budget, but not most, instructions run ahead within the budget alone. The budget was lowered since
// an order with more found no registers. That is for the loads of one part of the block; the products of another, which
// need most registers, find theirs.
//
// Evidence, ptxas corpus (scaled_mm of 8-bit integers, 32 by 256, one stage): 18 loads of vectors are under way at once
// beside 128 accumulators. In the block's own order, one or two, the kernel was predicted at 1.7 times its measured time.
func scheduleBlock(f *mir.Func, b int, budget, most int, g *dag, s *Scratch) []int32 {
	if f.Target.Specific && g.pressure > budget && hasMMA(g.insts) {
		limit := g.pressure
		if limit <= most {
			limit = budget
		}
		if order, p := listLookahead(f, b, limit, g, s); p <= g.pressure {
			return order
		}
		return nil
	}
	var best []int32
	bestPressure := g.pressure
	for _, slack := range [...]int{0, 2, 4, 8, 16} {
		if slack > 0 && budget-slack < 8 {
			break
		}
		order, p := list(f, b, limits{budget, budget - slack, max(budget+1, bestPressure)}, g, s)
		if order != nil && p <= budget {
			if ahead := loadsAheadOrder(f, b, budget, p, g, s); ahead != nil {
				return ahead
			}
			return order
		}
		if slack == 0 && g.pressure <= budget && f.Target.Uses(rules.LookAhead) {
			if order, p := listLookahead(f, b, budget, g, s); p <= budget {
				return order
			}
		}
		if order != nil && p < bestPressure {
			best, bestPressure = order, p
		}
	}
	return best
}

// Orders are the dependence graphs of a program's blocks with the orders tried so far.
type Orders struct{ Graphs []*dag }

// Operands returns the packed operands of the blocks that have a graph, nil for the others.
func (o *Orders) Operands() []*mir.Operands {
	out := make([]*mir.Operands, len(o.Graphs))
	for b, g := range o.Graphs {
		if g != nil {
			out[b] = &g.ops
		}
	}
	return out
}
