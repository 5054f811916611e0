package ir

import "slices"

// roots is which kernel parameters and variables a 64-bit value may have been computed from as a
// pointer: bit i for parameter i, the bits above for variables, rootUnknown for anything else.
type roots uint64

const (
	rootUnknown roots = 1 << 63
	// rootParam marks an address in the parameter space, where the kernel writes nothing: that of the
	// parameter whose bit is set too.
	rootParam roots = 1 << 62
)

// mayAlias reports whether two addresses can point into one buffer when
// distinct parameters point to distinct buffers.
func (a roots) mayAlias(b roots) bool { return a&b&^rootParam != 0 || (a|b)&rootUnknown != 0 }

// rootOf is the bit of parameter p, or of variable v if p is negative.
func (k *Kernel) rootOf(p, v int) roots {
	if p < 0 {
		p = len(k.Params) + v
	}
	if p < 0 || p >= 62 {
		return rootUnknown
	}
	return 1 << p
}

// pointerRoots finds the roots of every register by a flow-insensitive fixed-point iteration. A
// product is no pointer, nor is a value shifted left or computed from 32 bits. A pointer loaded from
// memory or put together from halves is unknown. A difference keeps the roots of both operands: the
// difference of two pointers, added to one, leads to the other.
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

// resultRoots is the roots of an instruction's result.
func (k *Kernel) resultRoots(in *Instr, of []roots) roots {
	src := in.Src
	switch in.Op {
	case Ld, Ldu:
		if p := in.Src[0].Param; in.Space == ParamSpace && p >= 0 && in.Src[0].Reg == NoReg && in.Src[0].Imm == 0 && in.Type.Size() == 8 && in.Vec <= 1 {
			return k.rootOf(int(p), -1)
		}
		return rootUnknown
	case Atom:
		return rootUnknown
	case Cvta:
		if in.Space == ParamSpace && in.Mod&ModTo == 0 {
			return rootParam | k.paramAt(&in.Src[0])
		}
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
		v |= k.operandRoots(&src[i], of)
	}
	if in.Op == Shl {
		v &^= rootUnknown // of a pointer shifted right before, to align it, what is known is kept
	}
	return v
}

// paramAt is the root of the parameter whose address an operand is: a constant, or a register that is
// only ever moved one.
func (k *Kernel) paramAt(o *Operand) roots {
	offset, known := k.constantOf(o, 0)
	for p := range k.Params {
		if x := &k.Params[p]; known && offset >= uint64(x.Offset) && offset < uint64(x.Offset+x.Size) {
			return k.rootOf(p, -1)
		}
	}
	return rootUnknown
}

// constantOf is the constant that an operand holds, which a register does that is only ever moved one.
func (k *Kernel) constantOf(o *Operand, depth int) (value uint64, known bool) {
	if o.Kind != OperandReg || depth > 8 {
		return o.Imm, o.Kind == OperandImm
	}
	for pc := range k.Instrs {
		in := &k.Instrs[pc]
		if !slices.Contains(in.Dst, o.Reg) {
			continue
		}
		if in.Op != Mov || len(in.Src) != 1 || len(in.Dst) != 1 {
			return 0, false
		}
		v, ok := k.constantOf(&in.Src[0], depth+1)
		if !ok || known && v != value {
			return 0, false
		}
		value, known = v, true
	}
	return value, known
}

// operandRoots is the roots of a source; for an address, of what it is made of.
func (k *Kernel) operandRoots(o *Operand, of []roots) (v roots) {
	switch o.Kind {
	case OperandReg, OperandAddr:
		if o.Reg != NoReg && k.Regs[o.Reg].Type.Size() == 8 {
			v = of[o.Reg]
		}
	case OperandVar:
	default:
		return 0
	}
	if o.Kind == OperandReg {
		return v
	}
	if o.Var >= 0 {
		v |= k.rootOf(-1, int(o.Var))
	} else if o.Kind == OperandVar || o.Param >= 0 {
		v |= rootUnknown // the address of a parameter
	}
	return v
}

// addressRoots is the roots of an address operand.
func (k *Kernel) addressRoots(o *Operand, of []roots) roots {
	if v := k.operandRoots(o, of); v != 0 {
		return v
	}
	return rootUnknown
}

// Origins are the pointers that an address may have been computed from.
type Origins struct {
	Params, Vars []int // indices in Kernel.Params and Kernel.Vars
}

// Pointers knows of each address of a kernel where it comes from.
type Pointers struct {
	k  *Kernel
	of []roots
}

// Pointers finds where the kernel's addresses come from.
func (k *Kernel) Pointers() *Pointers { return &Pointers{k, k.pointerRoots()} }

// Origins are the parameters and variables that an address operand may point into, none
// where it is not known. A parameter that is a number may be among them.
func (p *Pointers) Origins(o *Operand) (from Origins) {
	v := p.k.addressRoots(o, p.of)
	if v&rootUnknown != 0 {
		return from
	}
	for i := range p.k.Params {
		if v&p.k.rootOf(i, -1) != 0 {
			from.Params = append(from.Params, i)
		}
	}
	for i := range p.k.Vars {
		if v&p.k.rootOf(-1, i) != 0 {
			from.Vars = append(from.Vars, i)
		}
	}
	return from
}
