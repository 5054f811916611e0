// Package alias finds which kernel parameters and variables an address may have been computed from, whatever the
// control flow.
package alias

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// Roots is which kernel parameters and variables a 64-bit value may have been computed from as a
// pointer: bit i for parameter i, the bits above for variables, Unknown for anything else.
type Roots uint64

const (
	Unknown Roots = 1 << 63
	// Parameter marks an address in the parameter space, where the kernel writes nothing: that of the
	// parameter whose bit is set too.
	Parameter Roots = 1 << 62
)

// MayAlias reports whether two addresses can point into one buffer when
// distinct parameters point to distinct buffers.
func (a Roots) MayAlias(b Roots) bool { return a&b&^Parameter != 0 || (a|b)&Unknown != 0 }

// rootOf is the bit of parameter p, or of variable v if p is negative.
func rootOf(k *ir.Kernel, p, v int) Roots {
	if p < 0 {
		p = len(k.Params) + v
	}
	if p < 0 || p >= 62 {
		return Unknown
	}
	return 1 << p
}

// OfRegisters finds the roots of every register by a flow-insensitive fixed-point iteration. A
// product is no pointer, nor is a value shifted left or computed from 32 bits. A pointer loaded from
// memory or put together from halves is unknown. A difference keeps the roots of both operands: the
// difference of two pointers, added to one, leads to the other.
func OfRegisters(k *ir.Kernel) []Roots {
	of := make([]Roots, len(k.Regs))
	for changed := true; changed; {
		changed = false
		for pc := range k.Instrs {
			in := &k.Instrs[pc]
			for _, r := range in.Dst {
				if r == ir.NoReg || k.Regs[r].Type.Size() != 8 {
					continue
				}
				if v := of[r] | resultRoots(k, in, of); v != of[r] {
					of[r], changed = v, true
				}
			}
		}
	}
	return of
}

// resultRoots is the roots of an instruction's result.
func resultRoots(k *ir.Kernel, in *ir.Instr, of []Roots) Roots {
	src := in.Src
	switch in.Op {
	case ir.Ld, ir.Ldu:
		if p := in.Src[0].Param; in.Space == ir.ParamSpace && p >= 0 && in.Src[0].Reg == ir.NoReg && in.Src[0].Imm == 0 && in.Type.Size() == 8 && in.Vec <= 1 {
			return rootOf(k, int(p), -1)
		}
		return Unknown
	case ir.Atom:
		return Unknown
	case ir.Cvta:
		if in.Space == ir.ParamSpace && in.Mod&ir.ModTo == 0 {
			return Parameter | paramAt(k, &in.Src[0])
		}
	case ir.Mul:
		return 0
	case ir.Mad:
		src = in.Src[2:]
	case ir.Mov:
		if len(in.Src) > 1 {
			return Unknown
		}
	}
	var v Roots
	for i := range src {
		v |= operandRoots(k, &src[i], of)
	}
	if in.Op == ir.Shl {
		v &^= Unknown // of a pointer shifted right before, to align it, what is known is kept
	}
	return v
}

// paramAt is the root of the parameter whose address an operand is: a constant, or a register that is
// only ever moved one.
func paramAt(k *ir.Kernel, o *ir.Operand) Roots {
	offset, known := constantOf(k, o, 0)
	for p := range k.Params {
		if x := &k.Params[p]; known && offset >= uint64(x.Offset) && offset < uint64(x.Offset+x.Size) {
			return rootOf(k, p, -1)
		}
	}
	return Unknown
}

// constantOf is the constant that an operand holds, which a register does that is only ever moved one.
func constantOf(k *ir.Kernel, o *ir.Operand, depth int) (value uint64, known bool) {
	if o.Kind != ir.OperandReg || depth > 8 {
		return o.Imm, o.Kind == ir.OperandImm
	}
	for pc := range k.Instrs {
		in := &k.Instrs[pc]
		if !slices.Contains(in.Dst, o.Reg) {
			continue
		}
		if in.Op != ir.Mov || len(in.Src) != 1 || len(in.Dst) != 1 {
			return 0, false
		}
		v, ok := constantOf(k, &in.Src[0], depth+1)
		if !ok || known && v != value {
			return 0, false
		}
		value, known = v, true
	}
	return value, known
}

// operandRoots is the roots of a source; for an address, of what it is made of.
func operandRoots(k *ir.Kernel, o *ir.Operand, of []Roots) (v Roots) {
	switch o.Kind {
	case ir.OperandReg, ir.OperandAddr:
		if o.Reg != ir.NoReg && k.Regs[o.Reg].Type.Size() == 8 {
			v = of[o.Reg]
		}
	case ir.OperandVar:
	default:
		return 0
	}
	if o.Kind == ir.OperandReg {
		return v
	}
	if o.Var >= 0 {
		v |= rootOf(k, -1, int(o.Var))
	} else if o.Kind == ir.OperandVar || o.Param >= 0 {
		v |= Unknown // the address of a parameter
	}
	return v
}

// OfAddress is the roots of an address operand.
func OfAddress(k *ir.Kernel, o *ir.Operand, of []Roots) Roots {
	if v := operandRoots(k, o, of); v != 0 {
		return v
	}
	return Unknown
}

// Origins are the pointers that an address may have been computed from.
type Origins struct {
	Params, Vars []int // indices in Kernel.Params and Kernel.Vars
}

// Pointers knows of each address of a kernel where it comes from.
type Pointers struct {
	k  *ir.Kernel
	of []Roots
}

// New finds where the kernel's addresses come from.
func New(k *ir.Kernel) *Pointers { return &Pointers{k, OfRegisters(k)} }

// Origins are the parameters and variables that an address operand may point into, none
// where it is not known. A parameter that is a number may be among them.
func (p *Pointers) Origins(o *ir.Operand) (from Origins) {
	v := OfAddress(p.k, o, p.of)
	if v&Unknown != 0 {
		return from
	}
	for i := range p.k.Params {
		if v&rootOf(p.k, i, -1) != 0 {
			from.Params = append(from.Params, i)
		}
	}
	for i := range p.k.Vars {
		if v&rootOf(p.k, -1, i) != 0 {
			from.Vars = append(from.Vars, i)
		}
	}
	return from
}
