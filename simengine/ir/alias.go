package ir

// roots says which kernel parameters a 64-bit value may have been computed
// from as a pointer: bit i for parameter i, rootUnknown for anything else.
type roots uint64

const rootUnknown roots = 1 << 63

// mayAlias reports whether two addresses can point into one buffer when
// distinct parameters point to distinct buffers.
func (a roots) mayAlias(b roots) bool { return a&b != 0 || (a|b)&rootUnknown != 0 }

// pointerRoots finds the roots of every register. A product is no pointer, and
// neither is what comes from 32 bits; a pointer loaded from memory or put
// together from halves is unknown.
func (k *Kernel) pointerRoots() []roots {
	of := make([]roots, len(k.Regs))
	for changed := true; changed; {
		changed = false
		for pc := range k.Instrs {
			in := &k.Instrs[pc]
			for _, r := range in.Dst {
				if r == NoReg || k.Regs[r].Type.Size() != 8 {
					continue
				}
				if v := of[r] | k.resultRoots(in, of); v != of[r] {
					of[r], changed = v, true
				}
			}
		}
	}
	return of
}

// resultRoots is the roots of what an instruction computes.
func (k *Kernel) resultRoots(in *Instr, of []roots) roots {
	src := in.Src
	switch in.Op {
	case Ld, Ldu:
		if p := in.Src[0].Param; in.Space == ParamSpace && p >= 0 && p < 63 && in.Type.Size() == 8 && in.Vec <= 1 {
			return 1 << p
		}
		return rootUnknown
	case Atom:
		return rootUnknown
	case Mul:
		return 0
	case Mad:
		src = in.Src[2:]
	case Mov:
		if len(in.Src) > 1 {
			return rootUnknown
		}
	}
	var v roots
	for i := range src {
		switch src[i].Kind {
		case OperandReg:
			if k.Regs[src[i].Reg].Type.Size() == 8 {
				v |= of[src[i].Reg]
			}
		case OperandVar, OperandAddr:
			v |= rootUnknown
		}
	}
	return v
}

// addressRoots is the roots of an address operand.
func (k *Kernel) addressRoots(o *Operand, of []roots) roots {
	if o.Reg == NoReg || o.Var >= 0 || of[o.Reg] == 0 {
		return rootUnknown
	}
	return of[o.Reg]
}
