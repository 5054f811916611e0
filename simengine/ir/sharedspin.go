package ir

// SharedSpins is Spins of loops that look at words of shared memory alone, as cooperative groups of several warps meet
// through nvcc. Such a loop may leave by its branch, and jump back in the block after: see SpinsAgain.
func (k *Kernel) SharedSpins() []bool {
	return k.spinning(func(i int, shared BitSet) bool {
		b := &k.Blocks[i]
		_, words := k.looks(b, shared)
		return words && k.writesSharedBeside(b)
	})
}

// SpinsAgain reports whether the block after one does nothing but, maybe, sleep and jump back to it.
func (k *Kernel) SpinsAgain(i int) bool {
	if i+1 >= len(k.Blocks) {
		return false
	}
	b := &k.Blocks[i+1]
	for pc := b.Start; pc < b.End-1; pc++ {
		if op := k.Instrs[pc].Op; op != Nop && op != Nanosleep {
			return false
		}
	}
	last := &k.Instrs[b.End-1]
	return b.End > b.Start && last.Op == Bra && last.Guard == NoReg && last.Target == k.Blocks[i].Start
}

// inShared reports whether an access is to shared memory, inDevice whether it may be to device memory, by the registers
// that hold generic addresses of shared memory.
func (in *Instr) inShared(addresses BitSet) bool {
	if in.Space == Generic && len(in.Src) > 0 && in.Src[0].Kind == OperandAddr && in.Src[0].Reg != NoReg {
		return addresses.Has(in.Src[0].Reg)
	}
	return in.Space == Shared
}

func (in *Instr) inDevice(addresses BitSet) bool {
	return in.Space == Global || in.Space == Generic && !in.inShared(addresses)
}

// sharedAddresses is the registers that hold generic addresses of shared memory wherever they are written: conversions of
// such, copies, and these plus an offset.
func (k *Kernel) sharedAddresses() BitSet {
	set := NewBitSet(len(k.Regs))
	for changed := true; changed; {
		changed = false
		for pc := range k.Instrs {
			in := &k.Instrs[pc]
			if len(in.Dst) == 1 && in.Dst[0] != NoReg && !set.Has(in.Dst[0]) && in.makesShared(set) {
				set.Add(in.Dst[0])
				changed = true
			}
		}
	}
	var buf [16]Reg
	for changed := true; changed; {
		changed = false
		for pc := range k.Instrs {
			in := &k.Instrs[pc]
			for _, r := range in.AppendDefs(buf[:0]) {
				if set.Has(r) && !in.makesShared(set) {
					set.Remove(r)
					changed = true
				}
			}
		}
	}
	return set
}

// makesShared reports whether an instruction makes a generic address of shared memory, given registers that hold some.
func (in *Instr) makesShared(set BitSet) bool {
	has := func(n int) bool { return len(in.Src) > n && in.Src[n].Kind == OperandReg && set.Has(in.Src[n].Reg) }
	switch in.Op {
	case Cvta:
		return in.Space == Shared && in.Mod&ModTo == 0
	case Mov:
		return len(in.Src) == 1 && has(0)
	case Add:
		return has(0) != has(1)
	case Sub:
		return has(0) && !has(1)
	}
	return false
}

// writesSharedBeside reports whether a kernel writes shared memory outside a block.
func (k *Kernel) writesSharedBeside(b *Block) bool {
	for pc := range k.Instrs {
		in := &k.Instrs[pc]
		if (pc < b.Start || pc >= b.End) && in.Op.WritesMemory() && (in.Space == Shared || in.Space == Generic) {
			return true
		}
	}
	return false
}
