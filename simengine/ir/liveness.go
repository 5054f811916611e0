package ir

import "math/bits"

// BitSet is a set of registers.
type BitSet []uint64

// NewBitSet is an empty set that can hold n registers.
func NewBitSet(n int) BitSet { return make(BitSet, (n+63)/64) }

// Has reports whether r is in the set.
func (s BitSet) Has(r Reg) bool { return s[r>>6]>>(uint(r)&63)&1 != 0 }

// Add puts r into the set.
func (s BitSet) Add(r Reg) { s[r>>6] |= 1 << (uint(r) & 63) }

// Remove takes r out of the set.
func (s BitSet) Remove(r Reg) { s[r>>6] &^= 1 << (uint(r) & 63) }

// Len counts the registers in the set.
func (s BitSet) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Each calls f for every register of the set, in order.
func (s BitSet) Each(f func(Reg)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			f(Reg(i<<6 + bits.TrailingZeros64(w)))
		}
	}
}

// AppendUses appends the registers the instruction reads, its guard and
// address bases included.
func (in *Instr) AppendUses(regs []Reg) []Reg {
	if in.Guard != NoReg {
		regs = append(regs, in.Guard)
	}
	for i := range in.Src {
		switch o := &in.Src[i]; o.Kind {
		case OperandReg, OperandAddr:
			if o.Reg != NoReg {
				regs = append(regs, o.Reg)
			}
		}
	}
	return regs
}

// AppendDefs appends the registers the instruction writes.
func (in *Instr) AppendDefs(regs []Reg) []Reg {
	for _, r := range in.Dst {
		if r != NoReg {
			regs = append(regs, r)
		}
	}
	return regs
}

// Liveness holds the registers live at the block boundaries of a kernel.
type Liveness struct {
	In, Out []BitSet // by block
}

// Liveness computes which registers are live at the start and end of each
// block. A guarded write does not end the life of the value before it.
func (k *Kernel) Liveness() *Liveness {
	n, words := len(k.Blocks), (len(k.Regs)+63)/64
	all := make(BitSet, 4*n*words)
	cut := func() []BitSet {
		sets := make([]BitSet, n)
		for i := range sets {
			sets[i], all = all[:words:words], all[words:]
		}
		return sets
	}
	lv := &Liveness{In: cut(), Out: cut()}
	gen, kill := cut(), cut()
	for b := range k.Blocks {
		k.localSets(b, gen[b], kill[b])
		copy(lv.In[b], gen[b])
	}
	for changed := true; changed; {
		changed = false
		for b := n - 1; b >= 0; b-- {
			for _, s := range k.Blocks[b].Succs {
				for w, x := range lv.In[s] {
					lv.Out[b][w] |= x
				}
			}
			for w := range lv.In[b] {
				x := gen[b][w] | lv.Out[b][w]&^kill[b][w]
				changed = changed || x != lv.In[b][w]
				lv.In[b][w] = x
			}
		}
	}
	return lv
}

// localSets collects what block b reads before writing, and what it writes.
func (k *Kernel) localSets(b int, gen, kill BitSet) {
	var buf [16]Reg
	for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
		in := &k.Instrs[pc]
		for _, r := range in.AppendUses(buf[:0]) {
			if !kill.Has(r) {
				gen.Add(r)
			}
		}
		if in.Guard != NoReg {
			continue
		}
		for _, r := range in.AppendDefs(buf[:0]) {
			kill.Add(r)
		}
	}
}

// Walk goes through block b backwards and calls f before each instruction is
// undone: live is the set after the instruction. f must not keep it. The set
// left when Walk returns is the block's In.
func (lv *Liveness) Walk(k *Kernel, b int, f func(pc int, live BitSet)) {
	var buf [16]Reg
	live := append(BitSet(nil), lv.Out[b]...)
	for pc := k.Blocks[b].End - 1; pc >= k.Blocks[b].Start; pc-- {
		in := &k.Instrs[pc]
		f(pc, live)
		if in.Guard == NoReg {
			for _, r := range in.AppendDefs(buf[:0]) {
				live.Remove(r)
			}
		}
		for _, r := range in.AppendUses(buf[:0]) {
			live.Add(r)
		}
	}
}

// Words is the number of 32-bit registers a register of type t takes: 0 for a
// predicate, 2 for 64 bits, 4 for 128.
func (t Type) Words() int { return (t.Size() + 3) / 4 }

// Pressure is the number of 32-bit registers the set takes.
func (k *Kernel) Pressure(s BitSet) int {
	n := 0
	s.Each(func(r Reg) { n += k.Regs[r].Type.Words() })
	return n
}

// MaxLive is the largest number of 32-bit registers live at once, in program
// order and with no value recomputed: what a perfect allocator would need
// without moving instructions.
func (k *Kernel) MaxLive() int {
	lv, most := k.Liveness(), 0
	for b := range k.Blocks {
		most = max(most, k.Pressure(lv.In[b]))
		lv.Walk(k, b, func(pc int, live BitSet) {
			n := k.Pressure(live)
			for _, r := range k.Instrs[pc].Dst { // a dead result still takes a register
				if r != NoReg && !live.Has(r) {
					n += k.Regs[r].Type.Words()
				}
			}
			most = max(most, n)
		})
	}
	return most
}
