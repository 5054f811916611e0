package lower

import "github.com/warptune/warptune/simengine/ir"

// inferLocal infers the address space of generic accesses, as LLVM's InferAddressSpaces does: those
// that can only be to local memory become loads and stores of local memory. Compilers write volatile
// variables and private arrays as generic accesses, which would otherwise be taken to touch all
// memory.
//
// A register holds a local address if every definition of it converts an address of local memory,
// copies or selects local addresses, or adds an integer to one, and every use of it is one of these
// or an access.
func inferLocal(k *ir.Kernel) {
	w := addrSpaceInference{k: k, of: ir.NewBitSet(len(k.Regs)), not: ir.NewBitSet(len(k.Regs))}
	if !w.derive() {
		return
	}
	w.refuse()
	w.rewrite()
}

// addrSpaceInference is the registers that hold addresses of local memory.
type addrSpaceInference struct {
	k       *ir.Kernel
	of, not ir.BitSet // registers that are computed from local addresses, and those that cannot be one
	buf     [16]ir.Reg
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
func fromLocal(in *ir.Instr) bool {
	return in.Op == ir.Cvta && in.Space == ir.Local && in.Mod&ir.ModTo == 0 && in.Dst[0] != ir.NoReg
}

// steps reports whether an instruction copies, selects or offsets what is computed from a local
// address.
func (w *addrSpaceInference) steps(in *ir.Instr) bool {
	if len(in.Dst) != 1 || in.Dst[0] == ir.NoReg || in.Type.Size() != 8 || in.Mod&(ir.ModCarryIn|ir.ModCarryOut|ir.ModSat) != 0 {
		return false
	}
	first := len(in.Src) > 0 && w.has(&in.Src[0])
	switch in.Op {
	case ir.Mov:
		return len(in.Src) == 1 && first
	case ir.Sub:
		return first
	case ir.Add, ir.Selp:
		return first || w.has(&in.Src[1])
	}
	return false
}

func (w *addrSpaceInference) has(o *ir.Operand) bool {
	return o.Kind == ir.OperandReg && o.Reg != ir.NoReg && w.of.Has(o.Reg)
}

// keeps reports whether the result of such an instruction is a local address if its operands are.
func (w *addrSpaceInference) keeps(in *ir.Instr) bool {
	switch in.Op {
	case ir.Sub:
		return !w.has(&in.Src[1])
	case ir.Add:
		return !w.has(&in.Src[0]) || !w.has(&in.Src[1])
	case ir.Selp:
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
		case in.Op == ir.Cvta && in.Space == ir.Local && (in.Mod&ir.ModTo != 0 || fromLocal(in) && !w.has(&in.Src[0])):
		case w.steps(in) && w.keeps(in):
		default:
			for _, r := range in.AppendDefs(w.buf[:0]) {
				w.not.Add(r)
			}
			for i := range in.Src {
				o := &in.Src[i]
				if r := o.Reg; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && r != ir.NoReg && w.of.Has(r) && (i > 0 || !isLocalAccess(in)) {
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
func isLocalAccess(in *ir.Instr) bool {
	return (in.Op == ir.Ld || in.Op == ir.St) && in.Space == ir.Generic && in.Mod&ir.ModMatrix == 0 && in.Src[0].Kind == ir.OperandAddr && in.Src[0].Var < 0
}

// spread refuses all registers of an instruction if one is refused, and reports whether that refused
// any more.
func (w *addrSpaceInference) spread(in *ir.Instr) (changed bool) {
	var regs []ir.Reg
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
	is := func(r ir.Reg) bool { return r != ir.NoReg && w.of.Has(r) && !w.not.Has(r) }
	for pc := range w.k.Instrs {
		in := &w.k.Instrs[pc]
		switch {
		case fromLocal(in) && is(in.Dst[0]), in.Op == ir.Cvta && in.Space == ir.Local && in.Mod&ir.ModTo != 0 && in.Src[0].Kind == ir.OperandReg && is(in.Src[0].Reg):
			in.Op, in.Type, in.Space, in.Mod = ir.Mov, ir.B64, ir.Generic, 0
		case isLocalAccess(in) && is(in.Src[0].Reg):
			in.Space = ir.Local
		}
	}
}
