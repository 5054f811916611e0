package bounds

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// follows reports whether anything may be known of an instruction's result.
func follows(in *ir.Instr) bool {
	if size := in.Type.Size(); in.Type.IsFloat() || in.Type.Packed() != ir.TypeInvalid || size != 4 && size != 8 || in.Mod&(ir.ModCarryIn|ir.ModCarryOut|ir.ModSat) != 0 {
		return false
	}
	switch in.Op {
	case ir.Mov, ir.Shfl, ir.Cvt, ir.Add, ir.Sub, ir.Mul, ir.Mad, ir.Shl, ir.Shr, ir.And, ir.Or, ir.Xor, ir.Lop3, ir.Bfe, ir.Rem, ir.Div, ir.Min, ir.Max, ir.Selp:
		return true
	}
	return false
}

// result is what is known of the first result of an instruction, at pc in a block that begins at start.
func (r *Registers) result(in *ir.Instr, pc, start int) state {
	unknown, size := state{kind: any}, in.Type.Size()
	if !follows(in) {
		return unknown
	}
	src := func(i int) state { return r.source(&in.Src[i], size) }
	for i := range in.Src { // nothing is known yet of what is computed of what is not
		if o := &in.Src[i]; o.Kind == ir.OperandReg && r.k.Regs[o.Reg].Type != ir.Pred && r.of[o.Reg].kind == unwritten && in.Op != ir.Selp {
			return state{}
		}
	}
	switch in.Op {
	case ir.Mov:
		if len(in.Src) == 1 && len(in.Dst) == 1 {
			return src(0)
		}
	case ir.Shfl:
		return src(0)
	case ir.Cvt:
		return convert(r.source(&in.Src[0], in.SrcType.Size()), in)
	case ir.Add:
		return add(src(0), src(1))
	case ir.Sub:
		return sub(src(0), src(1))
	case ir.Mul:
		return product(in, src(0), src(1))
	case ir.Mad:
		return add(product(in, src(0), src(1)), src(2))
	case ir.Shl:
		return shifted(src(0), src(1))
	case ir.Shr:
		if a, b := src(0), src(1); a.unsigned() && b.unsigned() {
			shr := between(a.Low>>min(b.High, 63), a.High>>min(b.Low, 63))
			if b.Low == b.High {
				shr = shr.among(a.bits >> min(b.Low, 63))
			}
			return shr
		}
	case ir.And:
		return and(src(0), src(1))
	case ir.Or:
		if a, b := src(0), src(1); a.unsigned() && b.unsigned() {
			return between(max(a.Low, b.Low), a.High+b.High).among(a.bits | b.bits)
		}
	case ir.Xor:
		if a, b := src(0), src(1); a.unsigned() && b.unsigned() {
			return between(0, a.High+b.High).among(a.bits | b.bits)
		}
	case ir.Lop3:
		return r.logic(in, src(0), src(1), src(2))
	case ir.Bfe:
		if n := src(2); in.Type == ir.U32 && n.unsigned() && n.High < 31 {
			return between(0, 1<<n.High-1)
		}
	case ir.Rem:
		if a, b := src(0), src(1); a.unsigned() && b.unsigned() && b.Low > 0 {
			return between(0, min(a.High, b.High-1))
		}
	case ir.Div:
		if a, b := src(0), src(1); a.unsigned() && b.unsigned() && b.Low > 0 {
			return between(a.Low/b.High, a.High/b.Low)
		}
	case ir.Min, ir.Max:
		if a, b := src(0), src(1); in.Type == ir.S32 && a.signed() && b.signed() || a.unsigned() && b.unsigned() {
			if in.Op == ir.Min {
				return between(min(a.Low, b.Low), min(a.High, b.High))
			}
			return between(max(a.Low, b.Low), max(a.High, b.High))
		}
	case ir.Selp:
		return join(r.chosen(&in.Src[0], true, in, pc, start), r.chosen(&in.Src[1], false, in, pc, start))
	}
	return unknown
}

func add(a, b state) state {
	if a.kind != bounded || b.kind != bounded {
		return state{kind: any}
	}
	sum := between(a.Low+b.Low, a.High+b.High)
	switch {
	case a.Low < 0 || b.Low < 0:
		return sum
	case a.bits&b.bits == 0:
		return sum.among(a.bits | b.bits)
	}
	return sum.among(^uint64(0) << min(bits.TrailingZeros64(a.bits), bits.TrailingZeros64(b.bits)))
}

func sub(a, b state) state {
	if a.kind != bounded || b.kind != bounded {
		return state{kind: any}
	}
	return between(a.Low-b.High, a.High-b.Low)
}

// product is that of a multiplication, of which the low half is taken unless it is wide.
func product(in *ir.Instr, a, b state) state {
	if a.kind != bounded || b.kind != bounded || in.Mod&ir.ModHi != 0 {
		return state{kind: any}
	}
	if in.Mod&ir.ModWide != 0 && !(in.Type == ir.S32 && a.signed() && b.signed() || a.unsigned() && b.unsigned()) {
		return state{kind: any}
	}
	if mostOf(a) > 1<<31 || mostOf(b) > 1<<31 {
		return state{kind: any}
	}
	p := [...]int64{a.Low * b.Low, a.Low * b.High, a.High * b.Low, a.High * b.High}
	prod := between(min(p[0], p[1], p[2], p[3]), max(p[0], p[1], p[2], p[3]))
	if a.Low < 0 || b.Low < 0 {
		return prod
	}
	return prod.among(^uint64(0) << (bits.TrailingZeros64(a.bits) + bits.TrailingZeros64(b.bits)))
}

func mostOf(s state) int64 { return max(s.High, -s.Low) }

func shifted(a, by state) state {
	if a.kind != bounded || !by.unsigned() || by.High > 31 || mostOf(a) > largest>>by.High {
		return state{kind: any}
	}
	shl := between(min(a.Low<<by.Low, a.Low<<by.High), max(a.High<<by.Low, a.High<<by.High))
	if a.Low >= 0 && by.Low == by.High {
		shl = shl.among(a.bits << by.Low)
	}
	return shl
}

// and is a conjunction: no more than either side that has no sign.
func and(a, b state) state {
	most, set := int64(-1), ^uint64(0)
	for _, s := range [...]state{a, b} {
		switch {
		case s.unsigned():
			if most < 0 || s.High < most {
				most = s.High
			}
			set &= s.bits
		case s.kind == bounded && s.Low == s.High: // a mask
			set &= uint64(s.Low)
		}
	}
	if most < 0 {
		return state{kind: any}
	}
	return between(0, most).among(set)
}

// logic is a function of the bits of three sources, given as a table.
func (r *Registers) logic(in *ir.Instr, s ...state) state {
	if len(in.Src) < 4 || in.Src[3].Kind != ir.OperandImm || in.Src[3].Imm&1 != 0 { // zeros make a one
		return state{kind: any}
	}
	most := int64(0)
	for _, x := range s {
		if !x.unsigned() {
			return state{kind: any}
		}
		most = max(most, x.High)
	}
	return between(0, 1<<bits.Len64(uint64(most))-1)
}

// convert is an integer conversion.
func convert(s state, in *ir.Instr) state {
	from, to := in.SrcType.Size(), in.Type.Size()
	switch {
	case in.SrcType.IsFloat() || from < 4 || s.kind != bounded:
	case to <= from, in.SrcType == ir.S32 && s.signed(), s.unsigned():
		return s
	}
	return state{kind: any}
}
