package mir

// Layout is a program as the allocation looks at it, once for every order that
// the scheduler tries: what each instruction reads and writes, packed, and in
// which order the instructions stand. It holds while no instruction changes.
type Layout struct {
	f      *Func
	Blocks []LaidOutBlock // by block; of those in f.order
}

// LaidOutBlock is a block of a layout.
type LaidOutBlock struct {
	Ops   *Operands
	Order []int32 // of ops; nil: their own
}

// At is the instruction that stands k-th.
func (l *LaidOutBlock) At(k int) int32 {
	if l.Order == nil {
		return int32(k)
	}
	return l.Order[k]
}

// Layout packs the program as it stands. dags, when not nil, have done so for
// the blocks they are of.
func (f *Func) Layout(packed []*Operands) *Layout {
	l := &Layout{f: f, Blocks: make([]LaidOutBlock, len(f.Blocks))}
	for _, b := range f.Order {
		if packed != nil && packed[b] != nil {
			l.Blocks[b].Ops = packed[b]
			continue
		}
		ops := Operands{}.Fill(f.Blocks[b].Insts)
		l.Blocks[b].Ops = &ops
	}
	return l
}

// Arrange puts the instructions into the layout's order.
func (l *Layout) Arrange() {
	for _, b := range l.f.Order {
		if order := l.Blocks[b].Order; order != nil {
			l.f.Blocks[b].Insts = Arrange(l.f.Blocks[b].Insts, order)
		}
	}
}

// Reset goes back to the program's own order.
func (l *Layout) Reset() {
	for b := range l.Blocks {
		l.Blocks[b].Order = nil
	}
}

// Positions is the number of program positions.
func (l *Layout) Positions() int {
	n := 0
	for _, b := range l.f.Order {
		n += 2 * len(l.Blocks[b].Ops.Flags)
	}
	return n
}

// Arrange is instructions in an order.
func Arrange(insts []Inst, order []int32) []Inst {
	out := make([]Inst, len(insts))
	for k, i := range order {
		out[k] = insts[i]
	}
	return out
}
