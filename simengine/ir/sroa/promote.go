package sroa

import "github.com/warptune/warptune/simengine/ir"

// Held is the kernel with those of its arrays in registers that the PTX keeps in local memory
// and ptxas holds in registers, and k itself where there is none. An access at a constant
// place is a move then; of one whose address is computed at run time the address is compared
// with each place that it may be, and a register moved from or to where it is equal.
//
// That is what ptxas 13.0 does for sm_75 and sm_90 (deploy/calibrate/ptxas/indexed.py): to arrays of
// words of 32 bits, if it makes the code no more than twice as long, by its estimate (see choose).
// No bounds of the index count, and no cap of registers.
func Promote(k *ir.Kernel) *ir.Kernel {
	if k.LocalBytes == 0 {
		return k
	}
	h := &holder{k: k, at: congruences(k), refused: make([]bool, len(k.Vars)), of: map[int]localAccess{}}
	for pc := range k.Instrs {
		h.visit(pc)
	}
	if h.astray || !h.choose() {
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

// places are the offsets from the variable's start that an access may be at.
func (a *localAccess) places(size int) (places []uint64) {
	if a.at.modulus == 0 {
		return []uint64{a.at.value}
	}
	for p := a.at.value; p+uint64(4*a.words) <= uint64(size); p += a.at.modulus {
		places = append(places, p)
	}
	return places
}

// holder finds arrays that are held in registers, and writes the kernel with them there.
type holder struct {
	k       *ir.Kernel
	at      []congruence
	refused []bool // by variable
	of      map[int]localAccess
	astray  bool // there are accesses to addresses of no known variable
}

// refuse keeps the variable in memory that a value may be an address of.
func (h *holder) refuse(c congruence) {
	switch {
	case c.variable >= 0:
		h.refused[c.variable] = true
	case c.variable == mixed:
		h.astray = true
	}
}

// visit notes what an instruction does to local memory, and with its addresses.
func (h *holder) visit(pc int) {
	in := &h.k.Instrs[pc]
	if in.Op == ir.Cvta && len(in.Dst) == 1 && !reads(h.k, in.Dst[0]) {
		return
	}
	rest := in.Src
	if (in.Op == ir.Ld || in.Op == ir.St) && in.Space == ir.Local {
		h.access(pc)
		rest = rest[1:]
	}
	moves := movesAddress(in) && steers(in)
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
func (h *holder) address(o *ir.Operand) congruence {
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
func (h *holder) access(pc int) {
	in := &h.k.Instrs[pc]
	a := localAccess{at: h.address(&in.Src[0]), words: max(1, int(in.Vec))}
	if a.variable = a.at.variable; a.variable < 0 {
		h.astray = true
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

// whole reports whether an access moves registers of 32 bits as they are.
func (h *holder) whole(in *ir.Instr) bool {
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
