package assemble

import "slices"

// scratch is reused by the scheduling of every block.
type scratch struct {
	lastDef    []int32 // by register unit: last writer
	readers    []int32 // by register unit: first of its list in readerPool
	readerPool []reader
	touched    []int32
	live       []uint8
	number     []int32 // by word of a value: zeros, see findWordUses
	general    []uint8 // by value: its words that take general registers
	list       listing
	dag        dag // of the block being ordered, where none is kept
}

// grow makes room for a function as it stands.
func (s *scratch) grow(f *mfn) *scratch {
	n := len(f.vals)
	if units := 4*n + numFiles*f.fileUnits(); len(s.lastDef) < units {
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
		s.general[v] = f.generalMask(value(v))
	}
	return s
}

// schedule orders the instructions of every block of a layout: the longest
// dependent chain first, as far as the register budget lets it. It says whether
// any order is another than before.
func (f *mfn) schedule(budget int, l *layout, dags []*dag, s *scratch) (changed bool) {
	for _, b := range f.order {
		if dags[b] == nil {
			continue
		}
		order := f.scheduleBlock(b, budget, dags[b], s)
		changed = changed || !slices.Equal(order, l.blocks[b].order)
		l.blocks[b].order = order
	}
	return changed
}

// dags builds the dependence graph of every block worth ordering.
func (f *mfn) dags(s *scratch) []*dag {
	out := make([]*dag, len(f.blocks))
	for _, b := range f.order {
		if len(f.blocks[b].insts) > 1 {
			g := f.newDAG(f.blocks[b].insts, s, false, &dag{})
			g.bounds = f.boundsOf(b, s)
			g.pressure = f.orderPressure(b, &g.ops, nil, g.bounds.out, s.general, s)
			out[b] = g
		}
	}
	return out
}

// reschedule orders every block again once registers are assigned: by latency
// alone, as far as the reuse of registers lets it. Every block has instructions of its own then, which
// the passes after this one change in place.
func (f *mfn) reschedule(s *scratch) error {
	s.grow(f)
	for _, b := range f.order {
		mb := &f.blocks[b]
		if len(mb.insts) < 2 {
			mb.insts = slices.Clone(mb.insts)
			continue
		}
		l := lister{f: f, g: f.newDAG(mb.insts, s, true, &s.dag), s: s, greedy: 1 << 20, final: true}
		mb.insts = arrange(mb.insts, l.run(b))
	}
	return nil
}

// scheduleBlock returns the best order found for a block: with the longest chains first if
// that keeps within the budget, else the prudent one if its own order does, else the
// first one, as the greed for early loads is turned down, that keeps within it, else
// the one with the lowest pressure; nil is its own order.
func (f *mfn) scheduleBlock(b int, budget int, g *dag, s *scratch) []int32 {
	var best []int32
	bestPressure := g.pressure
	for _, slack := range [...]int{0, 2, 4, 8, 16} {
		if slack > 0 && budget-slack < 8 {
			break
		}
		order, p := f.list(b, budget, budget-slack, max(budget+1, bestPressure), g, s)
		if order != nil && p <= budget {
			return order
		}
		if slack == 0 && g.pressure <= budget {
			if prudent, p := f.listPrudently(b, budget, g, s); p <= budget {
				return prudent
			}
		}
		if order != nil && p < bestPressure {
			best, bestPressure = order, p
		}
	}
	return best
}

// ordering is what is known of the orders of a program's blocks.
type ordering struct{ dags []*dag }

// operands are those of the blocks that are known, packed; nil for the others.
func (o *ordering) operands() []*operands {
	out := make([]*operands, len(o.dags))
	for b, g := range o.dags {
		if g != nil {
			out[b] = &g.ops
		}
	}
	return out
}
