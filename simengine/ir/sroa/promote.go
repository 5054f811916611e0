package sroa

import "github.com/warptune/warptune/simengine/ir"

// Promote returns the kernel with those arrays in registers that PTX keeps in local memory and ptxas
// does not. It returns k itself where there are none. An access at a constant index becomes a move.
// An access at a run-time index becomes, for each element that it may be to, a comparison of the
// index and a predicated move.
//
// ptxas 13.0 does that for sm_75 and sm_90 (deploy/calibrate/ptxas/indexed.py) with arrays of 32-bit
// words, if it does not more than double the code by its estimate (see choose). Neither bounds of
// the index nor a cap of registers count.
func Promote(k *ir.Kernel) *ir.Kernel {
	if k.LocalBytes == 0 {
		return k
	}
	h := &promoter{k: k, at: congruences(k), refused: make([]bool, len(k.Vars)), of: map[int]localAccess{}}
	for pc := range k.Instrs {
		h.visit(pc)
	}
	if h.unknownAddress || !h.choose() {
		return k
	}
	return h.kernel()
}

// localAccess is a load or store of a variable in local memory.
type localAccess struct {
	variable int32
	at       congruence // of the first byte, from the variable's start
	words    int
}

// places returns the offsets from the variable's start that an access may be at.
func (a *localAccess) places(size int) (places []uint64) {
	if a.at.modulus == 0 {
		return []uint64{a.at.value}
	}
	for p := a.at.value; p+uint64(4*a.words) <= uint64(size); p += a.at.modulus {
		places = append(places, p)
	}
	return places
}

// promoter finds the arrays that go to registers, and writes the kernel.
type promoter struct {
	k              *ir.Kernel
	at             []congruence
	refused        []bool // by variable
	of             map[int]localAccess
	unknownAddress bool // there are accesses to addresses of no known variable
}

// refuse keeps a variable in memory whose address a value may be.
func (h *promoter) refuse(c congruence) {
	switch {
	case c.variable >= 0:
		h.refused[c.variable] = true
	case c.variable == mixed:
		h.unknownAddress = true
	}
}

// visit notes the accesses of an instruction, and the addresses that it takes elsewhere.
func (h *promoter) visit(pc int) {
	in := &h.k.Instrs[pc]
	if in.Op == ir.Cvta && len(in.Dst) == 1 && !reads(h.k, in.Dst[0]) {
		return
	}
	rest := in.Src
	if (in.Op == ir.Ld || in.Op == ir.St) && in.Space == ir.Local {
		h.access(pc)
		rest = rest[1:]
	}
	moves := movesAddress(in) && tracked(in)
	for i := range rest {
		c := congruenceOf(h.k, &rest[i], h.at)
		if o := &rest[i]; o.Kind == ir.OperandAddr {
			c = h.address(o)
		}
		if c.variable != -1 && c.known && !(moves && h.at[in.Dst[0]].variable == c.variable) {
			h.refuse(c)
		}
	}
	if len(in.Dst) == 1 && in.Dst[0] != ir.NoReg {
		if c := h.at[in.Dst[0]]; c.known && c.variable != -1 && (!moves || in.Guard != ir.NoReg) {
			h.refuse(c)
		}
	}
}

// address is what is known of the address of an access.
func (h *promoter) address(o *ir.Operand) congruence {
	c := always(0)
	if o.Reg != ir.NoReg {
		c = h.at[o.Reg]
	}
	if o.Var >= 0 {
		v := always(0)
		if v.variable = o.Var; h.k.Vars[o.Var].Space != ir.Local {
			return anything
		}
		c = c.plus(v, false)
	}
	return c.plus(always(o.Imm), false)
}

// access notes a load or store of local memory.
func (h *promoter) access(pc int) {
	in := &h.k.Instrs[pc]
	a := localAccess{at: h.address(&in.Src[0]), words: max(1, int(in.Vec))}
	if a.variable = a.at.variable; a.variable < 0 {
		h.unknownAddress = true
		return
	}
	size := uint64(h.k.Vars[a.variable].Size)
	if aligned := uint64(h.k.Vars[a.variable].Align); aligned < a.at.modulus {
		a.at = modulo(a.variable, max(1, aligned), a.at.value)
	}
	if !h.whole(in) || a.at.value%4 != 0 || a.at.modulus == 1 || a.at.modulus == 2 || a.at.modulus == 0 && a.at.value+uint64(4*a.words) > size ||
		a.at.modulus != 0 && (in.Guard != ir.NoReg || len(a.places(int(size))) == 0 || in.Src[0].Var >= 0) {
		h.refused[a.variable] = true
	}
	h.of[pc] = a
}

// whole reports whether an access moves 32-bit registers unchanged.
func (h *promoter) whole(in *ir.Instr) bool {
	if in.Type.Size() != 4 || in.Mod != 0 {
		return false
	}
	for _, r := range in.Dst {
		if r != ir.NoReg && h.k.Regs[r].Type.Size() != 4 {
			return false
		}
	}
	for _, o := range in.Src[1:] {
		if o.Kind != ir.OperandImm && (o.Kind != ir.OperandReg || h.k.Regs[o.Reg].Type.Size() != 4) {
			return false
		}
	}
	return true
}

// reads reports whether any instruction reads a register.
func reads(k *ir.Kernel, r ir.Reg) bool {
	var buf [16]ir.Reg
	for pc := range k.Instrs {
		for _, u := range k.Instrs[pc].AppendUses(buf[:0]) {
			if u == r {
				return true
			}
		}
	}
	return false
}
