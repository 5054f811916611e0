package ir

// SliceAddress marks the instructions whose results matter to where control
// goes and which addresses memory instructions touch: what must be computed to
// know a warp's path and accesses without computing the kernel's answer.
//
// Branches, exits, barriers, fences and cp.async groups are always marked. The
// guard and the address of a memory instruction are always needed; the
// instruction itself is marked only when the data it moves is: a load whose
// result is needed, and a store, atomic or copy into a space that a marked
// load may read. Registers are not told apart by place: when any needed
// instruction reads a register, every write of it is marked.
//
// Any two pointers into global memory are taken to alias; see SliceDistinct.
func SliceAddress(k *Kernel) []bool { return slice(k, nil) }

// SliceDistinct is SliceAddress for launches that pass a buffer of its own to
// every pointer parameter: a store through one parameter does not matter to
// loads through another. It marks no more than SliceAddress.
func SliceDistinct(k *Kernel) []bool { return slice(k, k.pointerRoots()) }

func slice(k *Kernel, of []roots) []bool {
	s := &slicer{of: of, k: k, needed: make([]bool, len(k.Instrs)), defs: make([][]int32, len(k.Regs)), reg: NewBitSet(len(k.Regs))}
	for pc := range k.Instrs {
		in := &k.Instrs[pc]
		for _, r := range in.AppendDefs(s.buf[:0]) {
			s.defs[r] = append(s.defs[r], int32(pc))
		}
	}
	for pc := range k.Instrs {
		s.root(pc)
	}
	for {
		s.drain()
		if !s.stores() && !s.carries() {
			return s.needed
		}
	}
}

type slicer struct {
	k      *Kernel
	needed []bool
	defs   [][]int32 // instructions that write each register
	reg    BitSet    // registers that are needed
	work   []Reg
	buf    [16]Reg
	of     []roots // by register; nil: every pointer may point anywhere
}

// root marks what is needed whatever the data.
func (s *slicer) root(pc int) {
	in := &s.k.Instrs[pc]
	switch in.Op {
	case Bra, Brx, Exit, Trap, Bar, BarRed, BarWarp, Membar, CpAsyncCommit, CpAsyncWait:
		s.mark(pc)
	case Ld, Ldu, St, Atom, Red, CpAsync, Prefetch:
		s.want(in.Guard)
		for i := range in.Src {
			if o := &in.Src[i]; o.Kind == OperandAddr || in.Op == CpAsync && o.Kind == OperandReg {
				s.want(o.Reg)
			}
		}
	}
}

// mark needs an instruction and all it reads.
func (s *slicer) mark(pc int) {
	if s.needed[pc] {
		return
	}
	s.needed[pc] = true
	for _, r := range s.k.Instrs[pc].AppendUses(s.buf[:0]) {
		s.want(r)
	}
}

func (s *slicer) want(r Reg) {
	if r != NoReg && !s.reg.Has(r) {
		s.reg.Add(r)
		s.work = append(s.work, r)
	}
}

// drain marks the writers of every register wanted.
func (s *slicer) drain() {
	for len(s.work) > 0 {
		r := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		for _, pc := range s.defs[r] {
			s.mark(int(pc))
		}
	}
}

// stores marks the writes to spaces that marked loads read, and reports
// whether it marked any. A load through the read-only path reads nothing the
// kernel writes.
func (s *slicer) stores() bool {
	var read [SharedCluster + 1]bool
	var global roots // of the marked loads from global memory
	for pc, need := range s.needed {
		in := &s.k.Instrs[pc]
		if !need || in.Mod&ModNonCoherent != 0 || in.Mirrored() {
			continue
		}
		switch in.Op {
		case Ld, Atom:
			read[in.Space] = true
			if in.Space == Global {
				global |= s.roots(&in.Src[0])
			}
		case CpAsync:
			read[Global] = true
			global |= rootUnknown
		}
	}
	any := read[Global] || read[Shared] || read[Local] || read[Generic]
	marked := false
	for pc := range s.k.Instrs {
		in := &s.k.Instrs[pc]
		if s.needed[pc] || in.Mirrored() {
			continue
		}
		switch in.Op {
		case St, Atom, Red, CpAsync:
			generic := in.Space == Generic && any || read[Generic]
			if in.Space == Global && read[Global] && !generic && !global.mayAlias(s.roots(&in.Src[0])) {
				continue
			}
			if generic || read[in.Space] {
				s.mark(pc)
				marked = true
			}
		}
	}
	return marked
}

func (s *slicer) roots(o *Operand) roots {
	if s.of == nil {
		return rootUnknown
	}
	return s.k.addressRoots(o, s.of)
}

// carries marks the writers of the carry flag once a reader is needed.
func (s *slicer) carries() bool {
	reads := false
	for pc, need := range s.needed {
		reads = reads || need && s.k.Instrs[pc].Mod&ModCarryIn != 0
	}
	marked := false
	for pc := range s.k.Instrs {
		if reads && !s.needed[pc] && s.k.Instrs[pc].Mod&ModCarryOut != 0 {
			s.mark(pc)
			marked = true
		}
	}
	return marked
}

// AlwaysExecutes reports whether an instruction is executed whether or not its result is
// needed: accesses to memory, control flow and barriers.
func (o Op) AlwaysExecutes() bool {
	switch o {
	case Ld, Ldu, St, Atom, Red, CpAsync, Bra, Brx, Exit, Trap, Bar, BarRed:
		return true
	}
	return false
}

// ReadsAny reports whether an instruction reads a register of a set, its guard included.
func (in *Instr) ReadsAny(set BitSet) bool {
	var buf [8]Reg
	for _, r := range in.AppendUses(buf[:0]) {
		if set.Has(r) {
			return true
		}
	}
	return false
}

// WritesMemory reports whether an instruction writes shared, local or device memory.
func (o Op) WritesMemory() bool { return o == St || o == Atom || o == Red || o == CpAsync }
