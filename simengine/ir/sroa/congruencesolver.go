package sroa

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// congruences finds what is known of every register by a fixed-point iteration, whatever the order
// of the instructions: the meet of all its definitions.
func congruences(k *ir.Kernel) []congruence {
	at := make([]congruence, len(k.Regs))
	for changed := true; changed; {
		next := slices.Clone(at)
		for pc := range k.Instrs {
			in := &k.Instrs[pc]
			for i, r := range in.Dst {
				if r != ir.NoReg && k.Regs[r].Type != ir.Pred {
					next[r] = meet(next[r], computes(k, in, i, at))
				}
			}
		}
		changed = !slices.Equal(next, at)
		at = next
	}
	for r := range at {
		if !at[r].known { // never written, a predicate, or both of each other
			at[r] = anything
		}
	}
	return at
}

// congruenceOf is what is known of an operand.
func congruenceOf(k *ir.Kernel, o *ir.Operand, at []congruence) congruence {
	switch o.Kind {
	case ir.OperandImm:
		return always(o.Imm)
	case ir.OperandReg:
		return at[o.Reg]
	case ir.OperandVar:
		if o.Var >= 0 && k.Vars[o.Var].Space == ir.Local {
			return congruence{known: true, variable: o.Var, value: o.Imm}
		}
	}
	return anything
}

// computes is what is known of result i of an instruction.
func computes(k *ir.Kernel, in *ir.Instr, i int, at []congruence) congruence {
	if len(in.Dst) != 1 || in.Type.IsFloat() || in.Type.Size() < 4 || !tracked(in) {
		return anything
	}
	var s [3]congruence
	n := min(len(in.Src), len(s))
	if in.Op == ir.Selp {
		n = 2 // not the predicate
	}
	for i := range n {
		if s[i] = congruenceOf(k, &in.Src[i], at); !s[i].known {
			return congruence{}
		}
	}
	if !movesAddress(in) {
		for _, c := range s {
			if c.known && c.variable != -1 {
				return anything // and the variable is refused
			}
		}
	}
	var c congruence
	switch in.Op {
	case ir.Mov:
		c = s[0]
	case ir.Cvt:
		c = s[0]
	case ir.Selp, ir.Min, ir.Max:
		c = meet(s[0], s[1])
	case ir.Add:
		c = s[0].plus(s[1], false)
	case ir.Sub:
		c = s[0].plus(s[1], true)
	case ir.Mul:
		c = s[0].times(s[1])
	case ir.Mad:
		c = s[0].times(s[1]).plus(s[2], false)
	case ir.Shl:
		if c = anything; s[1].modulus == 0 {
			c = s[0].times(always(1 << min(63, s[1].value)))
		}
	default:
		c = s[0].bitwise(s[1], in.Op)
	}
	// Constants that are not small may be cut or extended.
	if c.modulus == 0 && c.value >= 1<<31 {
		return modulo(c.variable, maxModulus, c.value)
	}
	return c
}

// tracked reports whether computes knows what an instruction does to its operands.
func tracked(in *ir.Instr) bool {
	switch in.Op {
	case ir.Mov:
		return len(in.Src) == 1
	case ir.Cvt:
		return !in.SrcType.IsFloat() && in.SrcType.Size() >= 4 && in.Mod&ir.ModSat == 0
	case ir.Add, ir.Sub, ir.Mul, ir.Mad:
		return in.Mod&^(ir.ModWide|ir.ModLo) == 0
	case ir.Selp, ir.Min, ir.Max, ir.Shl, ir.And, ir.Or, ir.Xor:
		return in.Mod == 0
	}
	return false
}

// movesAddress reports whether the result of an instruction may be an address in local memory if an
// operand is.
func movesAddress(in *ir.Instr) bool {
	switch in.Op {
	case ir.Mov, ir.Add, ir.Sub, ir.Selp:
		return in.Type.Size() == 8
	}
	return false
}
