package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// lowerBranch lowers control transfers. A branch to a block that only exits is an exit, one to the
// next block nothing.
func (s *selector) lowerBranch(n *hir.Node) error {
	f := s.hir
	switch n.Op {
	case ir.Exit:
		s.emit(mir.OpEXIT, mir.Arg{})
	case ir.Trap:
		s.emit(mir.OpTRAP, mir.Arg{})
	case ir.Brx:
		args := make([]mir.Arg, 0, 1)
		if len(n.Src) > 0 {
			args = append(args, s.gprWord(n.Src[0], 0))
		}
		s.emit(mir.OpBRX, mir.Arg{}, args...)
	case ir.Bra:
		succs := f.Blocks[s.b].Succs
		if len(succs) == 0 {
			return nil
		}
		target := succs[len(succs)-1]
		switch {
		case n.Guard == vreg.None && s.follows(target):
		case f.IsExit(target):
			s.emit(mir.OpEXIT, mir.Arg{})
		default:
			s.emit(mir.OpBRA, mir.Arg{})
		}
	}
	return nil
}

// follows reports whether block b comes next in the emitted order.
func (s *selector) follows(b int) bool {
	f := s.hir
	for i, x := range f.Order {
		if x == s.b {
			return i+1 < len(f.Order) && f.Order[i+1] == b
		}
	}
	return false
}

// closeBlock emits the end of a block that falls through: an exit if its successor only exits, a
// branch if its successor does not follow.
func (s *selector) closeBlock() {
	f := s.hir
	hb := &f.Blocks[s.b]
	if len(hb.Succs) == 0 {
		return
	}
	if len(hb.Nodes) > 0 {
		if n := &f.Nodes[hb.Nodes[len(hb.Nodes)-1]]; n.IsTerminator() && n.Guard == vreg.None {
			return
		}
	}
	switch next := hb.Succs[0]; {
	case f.IsExit(next):
		s.emit(mir.OpEXIT, mir.Arg{})
	case !s.follows(next):
		s.emit(mir.OpBRA, mir.Arg{})
	}
}

// lowerSync lowers barriers, fences and warp-wide operations.
func (s *selector) lowerSync(n *hir.Node) error {
	dst := mir.Arg{}
	if len(n.Dst) > 0 && n.Dst[0] >= 0 && s.demand[n.Dst[0]] != 0 {
		dst = mir.ValueWords(n.Dst[0], 0, 1)
	}
	args := make([]mir.Arg, 0, 4)
	switch n.Op {
	case ir.Bar, ir.BarRed:
		if n.Op == ir.BarRed {
			args = append(args, s.pred(n.Src[len(n.Src)-1]))
		}
		s.emit(mir.OpBAR, dst, args...)
	case ir.BarWarp:
		s.emit(mir.OpWARPSYNC, dst)
	case ir.Membar:
		s.emit(mir.OpMEMBAR, dst)
	case ir.Nanosleep:
		s.emit(mir.OpNANOSLEEP, dst)
	case ir.Shfl:
		for i := 0; i < len(n.Src) && i < 3; i++ {
			if n.Src[i].Kind == ir.OperandImm {
				args = append(args, s.flexibleWord(n.Src[i], 0))
			} else {
				args = append(args, s.gprWord(n.Src[i], 0))
			}
		}
		in := s.emit(mir.OpSHFL, dst, args...)
		in.Volatile = !n.OfAllLanes()
		if len(n.Dst) > 1 && n.Dst[1] >= 0 && s.demand[n.Dst[1]] != 0 {
			in.Dst[1] = mir.ValueWords(n.Dst[1], 0, 1)
		}
	default:
		op := map[ir.Op]mir.Op{ir.Vote: mir.OpVOTE, ir.Match: mir.OpMATCH, ir.Activemask: mir.OpVOTE, ir.Redux: mir.OpREDUX, ir.Elect: mir.OpELECT}[n.Op]
		for _, o := range n.Src {
			if o.Kind != ir.OperandReg || len(args) == 4 {
				continue
			}
			if s.hir.Values[o.Reg].File == vreg.Predicate {
				args = append(args, s.pred(o))
			} else {
				args = append(args, s.gprWord(o, 0))
			}
		}
		in := s.emit(op, dst, args...)
		if n.Op == ir.Elect && len(n.Dst) > 1 && n.Dst[1] >= 0 && s.demand[n.Dst[1]] != 0 {
			in.Dst[1] = mir.ValueWords(n.Dst[1], 0, 1)
		}
	}
	return nil
}

// lowerSelect lowers comparisons and selections.
func (s *selector) lowerSelect(n *hir.Node) error {
	switch n.Op {
	case ir.Setp:
		if t := s.twin[n.Dst[0]]; t != vreg.None { // a uniform predicate
			u := mir.ValueWords(t, 0, 1)
			s.emit(mir.OpUISETP, u, s.uniOperand(n.Src[0]), s.uniOperand(n.Src[1]))
			if s.demand[n.Dst[0]]&demandLow != 0 {
				s.emit(mir.OpPLOP3, s.dest(0, 1), u)
			}
			return nil
		}
		s.compare(n, mir.ValueWords(n.Dst[0], 0, 1), mir.Arg{})
		if len(n.Dst) > 1 && n.Dst[1] >= 0 {
			s.buf[len(s.buf)-1].Dst[1] = mir.ValueWords(n.Dst[1], 0, 1)
		}
	case ir.Set:
		if s.setsWord(n) {
			return nil
		}
		p := s.carry()
		s.compare(n, p, mir.Arg{})
		s.emit(mir.OpSEL, s.dest(0, 1), p)
	case ir.Testp, ir.Isspacep:
		s.emit(mir.OpISETP, s.dest(0, 1), s.gprWord(n.Src[0], 0))
	case ir.Selp, ir.Slct:
		var p mir.Arg
		if n.Op == ir.Slct {
			p = s.carry()
			s.emit(mir.OpISETP, p, s.gprWord(n.Src[2], 0))
		} else {
			p = s.pred(n.Src[2])
		}
		if s.hir.Values[n.Dst[0]].File == vreg.Predicate {
			s.emit(mir.OpPLOP3, s.dest(0, 1), s.pred(n.Src[0]), s.pred(n.Src[1]), p)
			return nil
		}
		op, from := mir.OpSEL, n.Src[:2]
		if n.Type == ir.F32 { // FSEL R7, -R0, |R5|, P0 (ptxas 12.8 for sm_90a)
			op, from = mir.OpFSEL, s.stripModifiers(from, n.Type, true)
		}
		for w := uint8(0); w < s.hir.Values[n.Dst[0]].Words; w++ {
			s.emit(op, s.dest(w, 1), append(s.operands(w, from...), p)...)
		}
	}
	return nil
}

// setsWord lowers a floating-point comparison whose result is a word to FSET or HSET2, and reports
// whether it is one.
//
// Evidence, ptxas corpus: 162 in HeCBench's crossEntropy for sm_90.
func (s *selector) setsWord(n *hir.Node) bool {
	op := mir.OpInvalid
	switch n.SrcType {
	case ir.F32:
		op = mir.OpFSET
	case ir.F16, ir.F16x2, ir.BF16, ir.BF16x2:
		op = mir.OpHSET2
	}
	if op == mir.OpInvalid || s.hir.Values[n.Dst[0]].Words != 1 {
		return false
	}
	args := s.operands(0, s.stripModifiers(n.Src[:2], n.SrcType, true)...)
	if len(n.Src) > 2 {
		args = append(args, s.pred(n.Src[2]))
	}
	s.emit(op, s.dest(0, 1), args...)
	return true
}

// compare emits the comparison of a setp or set into dst, combined with the predicate extra if that
// is one.
func (s *selector) compare(n *hir.Node, dst, extra mir.Arg) {
	t := n.Type
	if n.Op == ir.Set {
		t = n.SrcType
	}
	if len(n.Src) > 2 && extra.Kind == mir.ArgNone {
		extra = s.pred(n.Src[2])
	}
	with := func(a []mir.Arg) []mir.Arg {
		if extra.Kind != mir.ArgNone {
			a = append(a, extra)
		}
		return a
	}
	switch {
	case t == ir.F64:
		x := s.stripModifiers(n.Src[:2], t, true)
		s.emit(mir.OpDSETP, dst, with(s.doubles(x))...)
	case t == ir.F32:
		s.emit(mir.OpFSETP, dst, with(s.operands(0, s.stripModifiers(n.Src[:2], t, true)...))...)
	case hir.IsHalf(t):
		s.emit(mir.OpHSETP2, dst, with(s.operands(0, s.stripModifiers(n.Src[:2], t, true)...))...)
	case hir.Words(t) == 2:
		c := s.carry()
		s.emit(mir.OpISETP, c, s.operands(0, n.Src[0], n.Src[1])...)
		s.emit(mir.OpISETP, dst, with(append(s.operands(1, n.Src[0], n.Src[1]), c))...)
	default:
		s.compare32(n, dst, extra, with)
	}
}

// compare32 emits a 32-bit integer comparison: on the uniform datapath where both operands are
// uniform and one is in a uniform register.
func (s *selector) compare32(n *hir.Node, dst, extra mir.Arg, with func([]mir.Arg) []mir.Arg) {
	a, b := n.Src[0], n.Src[1]
	inUniform := func(o ir.Operand) bool {
		return o.Kind == ir.OperandReg && s.hir.Values[o.Reg].File == vreg.Uniform
	}
	if (inUniform(a) && s.slotRank(b) > 0 || inUniform(b) && s.slotRank(a) > 0) && extra.Kind == mir.ArgNone {
		u := mir.ValueWords(s.newValue(1, vreg.UniformPredicate), 0, 1)
		s.emit(mir.OpUISETP, u, s.uniOperand(a), s.uniOperand(b))
		s.emit(mir.OpPLOP3, dst, u)
		return
	}
	if extra.Kind == mir.ArgNone && s.testBits(n, dst) {
		return
	}
	s.emit(mir.OpISETP, dst, with(s.operands(0, a, b))...)
}

// lowerPredLogic lowers logic on predicates. A comparison with one reader takes the operation in;
// exclusive or only if it is a comparison of floats (kernels: point_in_polygon) or of 64 bits.
//
// Evidence, machine code of 100 programs for sm_90a: 184 ISETP.XOR.EX and 30 ISETP.AND.EX with a predicate, and no
// ISETP.XOR of 32 bits.
func (s *selector) lowerPredLogic(n *hir.Node) error {
	if len(n.Src) == 2 {
		for i := range 2 {
			d := s.fold(n.Src[i], false)
			if d != nil && d.Op == ir.Setp && len(d.Src) == 2 && len(d.Dst) == 1 && (d.Type == ir.F32 || hir.IsInt(d.Type) && (hir.Words(d.Type) == 2 || n.Op != ir.Xor)) {
				s.compare(d, s.dest(0, 1), s.pred(n.Src[1-i]))
				return nil
			}
		}
	}
	args := make([]mir.Arg, 0, 2)
	for _, o := range n.Src {
		args = append(args, s.pred(o))
	}
	s.emit(mir.OpPLOP3, s.dest(0, 1), args...)
	return nil
}
