package ir

import "slices"

// Spins finds the blocks in which a thread waits for others: a block that branches back to itself and changes nothing, so
// that it ends only when another thread has written what it reads. Barriers of the grid are made of such blocks, by hand and
// by grid_group::sync, and so are waits for the CTA before. Weak loads need not see what others write, so they wait for
// nobody; nor does anything in a kernel that writes device memory nowhere else.
func (k *Kernel) Spins() []bool {
	return k.spinning(func(i int, shared BitSet) bool {
		b := &k.Blocks[i]
		device, _ := k.looks(b, shared)
		return device && k.Instrs[b.End-1].Target == b.Start && k.writesBeside(b)
	})
}

// mayWait reports whether a block comes back to itself, by its branch or by the next block, and reads what other threads may
// be writing.
func (k *Kernel) mayWait(i int) bool {
	b := &k.Blocks[i]
	if b.End == b.Start || k.Instrs[b.End-1].Op != Bra || k.Instrs[b.End-1].Guard == NoReg {
		return false
	}
	if k.Instrs[b.End-1].Target != b.Start && !k.SpinsAgain(i) {
		return false
	}
	return slices.ContainsFunc(k.Instrs[b.Start:b.End], func(in Instr) bool { return in.asksOthers() })
}

// spinning is the blocks that may wait and that a test finds to; nil: none.
func (k *Kernel) spinning(test func(block int, shared BitSet) bool) (spins []bool) {
	var shared BitSet
	for i := range k.Blocks {
		if !k.mayWait(i) {
			continue
		}
		if shared == nil {
			shared = k.sharedAddresses()
		}
		if test(i, shared) {
			if spins == nil {
				spins = make([]bool, len(k.Blocks))
			}
			spins[i] = true
		}
	}
	return spins
}

// looks reports whether a block that ends with a branch looks at device memory, or at shared memory alone, and would find
// the same if nobody wrote: it writes no memory and carries no register from one pass to the next.
func (k *Kernel) looks(b *Block, shared BitSet) (device, words bool) {
	last := &k.Instrs[b.End-1]
	var buf [16]Reg
	written := map[Reg]bool{}
	for pc := b.Start; pc < b.End; pc++ {
		for _, r := range k.Instrs[pc].AppendDefs(buf[:0]) {
			written[r] = true
		}
	}
	before := map[Reg]bool{}
	for pc := b.Start; pc < b.End-1; pc++ {
		in := &k.Instrs[pc]
		for _, r := range in.AppendUses(buf[:0]) {
			if written[r] && !before[r] {
				return false, false
			}
		}
		switch in.Op {
		case Ld:
			if in.sees() {
				device, words = device || in.inDevice(shared), words || in.inShared(shared)
			}
		case Atom:
			if !in.leavesAsIs() {
				return false, false
			}
			device, words = device || in.inDevice(shared), words || in.inShared(shared)
		case Membar, Nanosleep, Nop, BarWarp, Vote, Match, Activemask, Redux, Elect:
		default:
			if in.Op >= Bra || in.Op.WritesMemory() {
				return false, false
			}
		}
		if in.Guard == NoReg {
			for _, r := range in.AppendDefs(buf[:0]) {
				before[r] = true
			}
		}
	}
	return device && before[last.Guard], words && !device && before[last.Guard]
}

// writesBeside reports whether a kernel writes device memory outside a block.
func (k *Kernel) writesBeside(b *Block) bool {
	for pc := range k.Instrs {
		in := &k.Instrs[pc]
		if (pc < b.Start || pc >= b.End) && in.Op.WritesMemory() && in.Space != Shared && in.Space != Local && in.Space != SharedCluster {
			return true
		}
	}
	return false
}

// leavesAsIs reports whether an atomic operation looks at memory and leaves it: an addition of nothing, or an exchange by
// the same.
func (in *Instr) leavesAsIs() bool {
	zero := func(n int) bool { return len(in.Src) > n && in.Src[n].Kind == OperandImm && in.Src[n].Imm == 0 }
	switch in.Atom {
	case AtomAdd, AtomOr, AtomXor:
		return zero(1)
	case AtomMax:
		return zero(1) && in.Type == U32 || zero(1) && in.Type == U64
	case AtomCAS:
		return len(in.Src) > 2 && in.Src[1].Kind == OperandImm && in.Src[2].Kind == OperandImm && in.Src[1].Imm == in.Src[2].Imm
	}
	return false
}

// Cooperative reports whether a kernel waits in the workspace of its grid, as grid_group::sync does: it is launched
// cooperatively, so that all of its CTAs are resident together.
func (k *Kernel) Cooperative() bool { return k.Reads(EnvReg1, EnvReg2) && k.Spins() != nil }

// Reads reports whether an instruction reads one of some special registers.
func (k *Kernel) Reads(regs ...Special) bool {
	for i := range k.Instrs {
		for n := range k.Instrs[i].Src {
			if o := &k.Instrs[i].Src[n]; o.Kind == OperandSpecial && slices.Contains(regs, o.Special) {
				return true
			}
		}
	}
	return false
}
