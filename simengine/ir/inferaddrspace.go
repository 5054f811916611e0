package ir

// inferLocal infers the address space of generic accesses, as LLVM's InferAddressSpaces does: those
// that can only be to local memory become loads and stores of local memory. Compilers write volatile
// variables and private arrays as generic accesses, which would otherwise be taken to touch all
// memory.
//
// A register holds a local address if every definition of it converts an address of local memory,
// copies or selects local addresses, or adds an integer to one, and every use of it is one of these
// or an access.
func (k *Kernel) inferLocal() {
	w := addrSpaceInference{k: k, of: NewBitSet(len(k.Regs)), not: NewBitSet(len(k.Regs))}
	if !w.derive() {
		return
	}
	w.refuse()
	w.rewrite()
}

// addrSpaceInference is the registers that hold addresses of local memory.
type addrSpaceInference struct {
	k       *Kernel
	of, not BitSet // registers that are computed from local addresses, and those that cannot be one
	buf     [16]Reg
}

// derive finds the registers that are computed from local addresses, and reports whether there are
// any.
func (w *addrSpaceInference) derive() (any bool) {
	for changed := true; changed; {
		changed = false
		for pc := range w.k.Instrs {
			in := &w.k.Instrs[pc]
			if !fromLocal(in) && !w.steps(in) {
				continue
			}
			if d := in.Dst[0]; !w.of.Has(d) {
				w.of.Add(d)
				any, changed = true, true
			}
		}
	}
	return any
}

// fromLocal reports whether an instruction converts an address of local memory to a generic one.
func fromLocal(in *Instr) bool {
	return in.Op == Cvta && in.Space == Local && in.Mod&ModTo == 0 && in.Dst[0] != NoReg
}

// steps reports whether an instruction copies, selects or offsets what is computed from a local
// address.
func (w *addrSpaceInference) steps(in *Instr) bool {
	if len(in.Dst) != 1 || in.Dst[0] == NoReg || in.Type.Size() != 8 || in.Mod&(ModCarryIn|ModCarryOut|ModSat) != 0 {
		return false
	}
	first := len(in.Src) > 0 && w.has(&in.Src[0])
	switch in.Op {
	case Mov:
		return len(in.Src) == 1 && first
	case Sub:
		return first
	case Add, Selp:
		return first || w.has(&in.Src[1])
	}
	return false
}

func (w *addrSpaceInference) has(o *Operand) bool {
	return o.Kind == OperandReg && o.Reg != NoReg && w.of.Has(o.Reg)
}

// keeps reports whether the result of such an instruction is a local address if its operands are.
func (w *addrSpaceInference) keeps(in *Instr) bool {
	switch in.Op {
	case Sub:
		return !w.has(&in.Src[1])
	case Add:
		return !w.has(&in.Src[0]) || !w.has(&in.Src[1])
	case Selp:
		return w.has(&in.Src[0]) && w.has(&in.Src[1])
	}
	return true
}

// refuse finds the registers that cannot be local addresses: those with another definition or use,
// and those computed from or into one of them.
func (w *addrSpaceInference) refuse() {
	for pc := range w.k.Instrs {
		in := &w.k.Instrs[pc]
		switch {
		case in.Op == Cvta && in.Space == Local && (in.Mod&ModTo != 0 || fromLocal(in) && !w.has(&in.Src[0])):
		case w.steps(in) && w.keeps(in):
		default:
			for _, r := range in.AppendDefs(w.buf[:0]) {
				w.not.Add(r)
			}
			for i := range in.Src {
				o := &in.Src[i]
				if r := o.Reg; (o.Kind == OperandReg || o.Kind == OperandAddr) && r != NoReg && w.of.Has(r) && (i > 0 || !isLocalAccess(in)) {
					w.not.Add(r)
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for pc := range w.k.Instrs {
			if in := &w.k.Instrs[pc]; w.steps(in) && w.spread(in) {
				changed = true
			}
		}
	}
}

// isLocalAccess reports whether an instruction is a generic access that may become one to local
// memory.
func isLocalAccess(in *Instr) bool {
	return (in.Op == Ld || in.Op == St) && in.Space == Generic && in.Mod&ModMatrix == 0 && in.Src[0].Kind == OperandAddr && in.Src[0].Var < 0
}

// spread refuses all registers of an instruction if one is refused, and reports whether that refused
// any more.
func (w *addrSpaceInference) spread(in *Instr) (changed bool) {
	var regs []Reg
	for i := range in.Src {
		if w.has(&in.Src[i]) {
			regs = append(regs, in.Src[i].Reg)
		}
	}
	regs = append(regs, in.Dst[0])
	bad := false
	for _, r := range regs {
		bad = bad || w.not.Has(r)
	}
	for _, r := range regs {
		if bad && !w.not.Has(r) {
			w.not.Add(r)
			changed = true
		}
	}
	return changed
}

// rewrite turns conversions of local addresses into moves and accesses through them into accesses to
// local memory.
func (w *addrSpaceInference) rewrite() {
	is := func(r Reg) bool { return r != NoReg && w.of.Has(r) && !w.not.Has(r) }
	for pc := range w.k.Instrs {
		in := &w.k.Instrs[pc]
		switch {
		case fromLocal(in) && is(in.Dst[0]), in.Op == Cvta && in.Space == Local && in.Mod&ModTo != 0 && in.Src[0].Kind == OperandReg && is(in.Src[0].Reg):
			in.Op, in.Type, in.Space, in.Mod = Mov, B64, Generic, 0
		case isLocalAccess(in) && is(in.Src[0].Reg):
			in.Space = Local
		}
	}
}
