package assemble

// layout is a program as the allocation looks at it, once for every order that
// the scheduler tries: what each instruction reads and writes, packed, and in
// which order the instructions stand. It holds while no instruction changes.
type layout struct {
	f      *mfn
	blocks []laidOut // by block; of those in f.order
}

// laidOut is a block of a layout.
type laidOut struct {
	ops   *operands
	order []int32 // of ops; nil: their own
}

// at is the instruction that stands k-th.
func (l *laidOut) at(k int) int32 {
	if l.order == nil {
		return int32(k)
	}
	return l.order[k]
}

// layout packs the program as it stands. dags, when not nil, have done so for
// the blocks they are of.
func (f *mfn) layout(packed []*operands) *layout {
	l := &layout{f: f, blocks: make([]laidOut, len(f.blocks))}
	for _, b := range f.order {
		if packed != nil && packed[b] != nil {
			l.blocks[b].ops = packed[b]
			continue
		}
		ops := operands{}.fill(f.blocks[b].insts)
		l.blocks[b].ops = &ops
	}
	return l
}

// arrange puts the instructions into the layout's order.
func (l *layout) arrange() {
	for _, b := range l.f.order {
		if order := l.blocks[b].order; order != nil {
			l.f.blocks[b].insts = arrange(l.f.blocks[b].insts, order)
		}
	}
}

// reset goes back to the program's own order.
func (l *layout) reset() {
	for b := range l.blocks {
		l.blocks[b].order = nil
	}
}

// positions is the number of program positions.
func (l *layout) positions() int {
	n := 0
	for _, b := range l.f.order {
		n += 2 * len(l.blocks[b].ops.flags)
	}
	return n
}

// arrange is instructions in an order.
func arrange(insts []inst, order []int32) []inst {
	out := make([]inst, len(insts))
	for k, i := range order {
		out[k] = insts[i]
	}
	return out
}
