package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Operations on mbarriers (SYNCS).

// lowerMbarrier lowers an operation on an mbarrier.
func (s *selector) lowerMbarrier(n *hir.Node) error {
	if n.Space == ir.SharedCluster && n.Op != ir.MbarWait {
		return s.remoteArrive(n)
	}
	a := s.mbarrierAddress(n.Src[0])
	dst := mir.Arg{}
	if len(n.Dst) > 0 && n.Dst[0] >= 0 && s.demand[n.Dst[0]] != 0 {
		dst = s.dest(0, s.hir.Values[n.Dst[0]].Words)
	}
	switch n.Op {
	case ir.MbarInit:
		s.emit(mir.OpSYNCSEXCH, mir.Arg{}, a, s.initialCount(n.Src[1]))
	case ir.MbarInval:
		s.emit(mir.OpSYNCSCCTL, mir.Arg{}, a)
	case ir.CpAsyncArrive:
		s.emit(mir.OpARRIVES, mir.Arg{}, a)
	case ir.MbarWait:
		s.emit(mir.OpSYNCSPHASECHK, dst, a, s.phase(n))
	default:
		args := []mir.Arg{a}
		for _, o := range n.Src[1:] {
			args = append(args, s.gprWord(o, 0))
		}
		s.emit(mir.OpSYNCSARRIVE, dst, args...)
	}
	return nil
}

// remoteArrive lowers an arrival at an mbarrier of another CTA.
func (s *selector) remoteArrive(n *hir.Node) error {
	args := []mir.Arg{s.gprWord(addressOperand(n.Src[0]), 0)}
	for _, o := range n.Src[1:] {
		args = append(args, s.gprWord(o, 0))
	}
	s.emit(mir.OpSYNCSARRIVE, mir.Arg{}, args...)
	return nil
}

// mbarrierAddress returns the address of an mbarrier, in a uniform register where all lanes name the
// same one.
func (s *selector) mbarrierAddress(o ir.Operand) mir.Arg {
	x := addressOperand(o)
	switch x.Kind {
	case ir.OperandVar:
		return s.uniOperand(x)
	case ir.OperandReg:
		v := s.localCopy(vreg.Value(x.Reg))
		vi := &s.hir.Values[v]
		if vi.File == vreg.Uniform || vi.Uniform && vi.Defs == 1 && vi.File == vreg.General && s.onUniformPath(v) {
			return s.uniWord(x, 0)
		}
	}
	return s.gprWord(x, 0)
}

// initialCount returns the word pair that initialises an mbarrier for a count: 1<<20 less the count,
// shifted to where the pending and the expected count lie.
func (s *selector) initialCount(o ir.Operand) mir.Arg {
	pair := s.newValue(2, vreg.Uniform)
	count, less := s.uniformWords(o), mir.ValueWords(s.newValue(1, vreg.Uniform), 0, 1)
	s.emit(mir.OpUIADD3, less, count, mir.Arg{Kind: mir.ArgImm, Imm: 1 << 20})
	s.emit(mir.OpUSHF, mir.ValueWords(pair, 1, 1), less)
	s.emit(mir.OpUSHF, mir.ValueWords(pair, 0, 1), less)
	return mir.ValueWords(pair, 0, 2)
}

// phase returns the operand that names the phase to wait for: the parity in the top bit, or the upper
// word of a state.
func (s *selector) phase(n *hir.Node) mir.Arg {
	o := n.Src[1]
	switch {
	case n.Mod&ir.ModParity == 0:
		return s.gprWord(o, 1)
	case o.Kind == ir.OperandImm:
		return s.gprWord(ir.Operand{Kind: ir.OperandImm, Reg: ir.NoReg, Var: -1, Param: -1, Imm: o.Imm << 31}, 0)
	}
	t := s.temp(1)
	s.emit(mir.OpSHL, t, s.flexible(o, 0))
	return t
}

// constantPair sets a 64-bit value that nothing here reads.
func (s *selector) constantPair(n *hir.Node) error {
	for w := range s.hir.Values[n.Dst[0]].Words {
		s.emit(mir.OpMOV, s.dest(w, 1), mir.Arg{Kind: mir.ArgImm, Imm: 1})
	}
	return nil
}
