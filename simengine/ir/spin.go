package ir

import "slices"

// Spins finds the blocks in which a thread waits for others: a block that branches back to itself and changes nothing, so
// that it ends only when another thread has written what it reads. Barriers of the grid are made of such blocks, by hand and
// by grid_group::sync, and so are waits for the CTA before. Weak loads need not see what others write, so they wait for
// nobody; nor does anything in a kernel that writes device memory nowhere else.
func (k *Kernel) Spins() []bool {
	var spins []bool
	for i := range k.Blocks {
		if k.spins(i) {
			if spins == nil {
				spins = make([]bool, len(k.Blocks))
			}
			spins[i] = true
		}
	}
	return spins
}

// spins reports whether a block is a loop that reads device memory, writes none, and carries no register from one pass to
// the next.
func (k *Kernel) spins(i int) bool {
	b := &k.Blocks[i]
	if b.End == b.Start {
		return false
	}
	last := &k.Instrs[b.End-1]
	if last.Op != Bra || last.Guard == NoReg || last.Target != b.Start {
		return false
	}
	var buf [16]Reg
	written := map[Reg]bool{}
	for pc := b.Start; pc < b.End; pc++ {
		for _, r := range k.Instrs[pc].AppendDefs(buf[:0]) {
			written[r] = true
		}
	}
	if !k.writesBeside(b) {
		return false
	}
	looks := false
	before := map[Reg]bool{}
	for pc := b.Start; pc < b.End-1; pc++ {
		in := &k.Instrs[pc]
		for _, r := range in.AppendUses(buf[:0]) {
			if written[r] && !before[r] {
				return false
			}
		}
		switch in.Op {
		case Ld:
			looks = looks || in.sees() && (in.Space == Global || in.Space == Generic)
		case Atom:
			if !in.leavesAsIs() {
				return false
			}
			looks = looks || in.Space == Global || in.Space == Generic
		case Membar, Nanosleep, Nop, BarWarp, Vote, Match, Activemask, Redux, Elect:
		default:
			if in.Op >= Bra || in.Op.WritesMemory() {
				return false
			}
		}
		if in.Guard == NoReg {
			for _, r := range in.AppendDefs(buf[:0]) {
				before[r] = true
			}
		}
	}
	return looks && before[last.Guard]
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
