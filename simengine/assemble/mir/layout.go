package mir

// The order of a program while schedules are tried: the instructions stay where they are, and each
// block has a permutation of them.

// Layout is a program in an order to be tried. It is valid as long as no instruction changes.
type Layout struct {
	f      *Func
	Blocks []LaidOutBlock // by block
}

// LaidOutBlock is a block of a layout.
type LaidOutBlock struct {
	Ops   *Operands
	Order []int32 // permutation of the instructions, nil their own order
}

// At is the instruction at place k.
func (l *LaidOutBlock) At(k int) int32 {
	if l.Order == nil {
		return int32(k)
	}
	return l.Order[k]
}

// Layout returns the program in its own order. packed holds the operands of blocks for which they
// are packed already; it may be nil, and so may its elements.
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

// Arrange puts the instructions of the program into the layout's order.
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

// Positions is the number of program positions, two for each instruction.
func (l *Layout) Positions() int {
	n := 0
	for _, b := range l.f.Order {
		n += 2 * len(l.Blocks[b].Ops.Flags)
	}
	return n
}

// Arrange returns instructions in an order.
func Arrange(insts []Inst, order []int32) []Inst {
	out := make([]Inst, len(insts))
	for k, i := range order {
		out[k] = insts[i]
	}
	return out
}
