package isel

import (
	"fmt"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Lowering of one node.

// lowerNode lowers a node in the file that its readers want: uniform if all of them can read it
// there and the uniform datapath can compute it, else general.
func (s *selector) lowerNode(n *hir.Node) error {
	f := s.hir
	if s.uniformVectorLoad(n) {
		for k := 0; k < len(n.Dst); k += 2 {
			s.lowerUniformConst(n, s.pairUniform(n.Dst[k:k+2]), int64(k)*4)
		}
		return nil
	}
	if len(n.Dst) != 1 || n.Dst[0] < 0 {
		if err := s.lower(n); err != nil {
			return err
		}
		s.copyTwins(n.Dst)
		return nil
	}
	v := n.Dst[0]
	vi := &f.Values[v]
	if vi.File == vreg.Uniform {
		return s.lowerUniform(n, v)
	}
	if vi.Defs == 1 && vi.Uniform && vi.File == vreg.General && (vi.Words == 1 || n.Space == ir.Const || n.Op != ir.Ld && n.Op != ir.Cvta && n.Op != ir.Mov) && s.uniformOp(n) {
		if s.demand[v]&demandGeneral == 0 {
			s.sub[v] = subst{v: s.twinOf(v)}
			return s.lowerUniform(n, s.twinOf(v))
		}
		if s.twin[v] != vreg.None {
			if n.Op == ir.Mov && n.Src[0].Kind == ir.OperandSpecial {
				s.readUniform(n, mir.ValueWords(s.twin[v], 0, 1))
				return s.lower(n)
			}
			if err := s.lowerUniform(n, s.twin[v]); err != nil {
				return err
			}
			for w := range vi.Words {
				if w == 0 || s.demand[v]&demandHigh != 0 {
					s.emit(mir.OpMOV, s.dest(w, 1), mir.ValueWords(s.twin[v], w, 1))
				}
			}
			return nil
		}
	}
	if err := s.lower(n); err != nil {
		return err
	}
	s.copyTwins(n.Dst)
	return nil
}

// unsupported is the error for a node that no rule lowers.
func (s *selector) unsupported(n *hir.Node) error {
	return fmt.Errorf("no machine instruction for %v.%v at %v", n.Op, n.Type, s.hir.Kernel.Instrs[n.PC].Pos)
}

// simpleRule is the machine operation of a PTX operation that is one instruction a word, by type.
type simpleRule struct {
	i32, f32, f64, half mir.Op
}

var simple = map[ir.Op]simpleRule{
	ir.Min:       {mir.OpIMNMX, mir.OpFMNMX, mir.OpInvalid, mir.OpHMNMX2},
	ir.Max:       {mir.OpIMNMX, mir.OpFMNMX, mir.OpInvalid, mir.OpHMNMX2},
	ir.Abs:       {mir.OpIABS, mir.OpFADD, mir.OpDADD, mir.OpHADD2},
	ir.Neg:       {mir.OpIADD3, mir.OpFADD, mir.OpDADD, mir.OpHADD2},
	ir.Mul24:     {mir.OpIMAD, 0, 0, 0},
	ir.Mad24:     {mir.OpIMAD, 0, 0, 0},
	ir.Sad:       {mir.OpVABSDIFF, 0, 0, 0},
	ir.Vabsdiff4: {mir.OpVABSDIFF, 0, 0, 0},
	ir.Add:       {mir.OpIADD3, mir.OpFADD, mir.OpDADD, mir.OpHADD2},
	ir.Sub:       {mir.OpIADD3, mir.OpFADD, mir.OpDADD, mir.OpHADD2},
	ir.Mul:       {mir.OpIMAD, mir.OpFMUL, mir.OpDMUL, mir.OpHMUL2},
	ir.Mad:       {mir.OpIMAD, mir.OpFFMA, mir.OpDFMA, mir.OpHFMA2},
	ir.Fma:       {mir.OpIMAD, mir.OpFFMA, mir.OpDFMA, mir.OpHFMA2},
	ir.And:       {mir.OpLOP3, 0, 0, 0},
	ir.Or:        {mir.OpLOP3, 0, 0, 0},
	ir.Xor:       {mir.OpLOP3, 0, 0, 0},
	ir.Not:       {mir.OpLOP3, 0, 0, 0},
	ir.CNot:      {mir.OpISETP, 0, 0, 0},
	ir.Lop3:      {mir.OpLOP3, 0, 0, 0},
	ir.Shl:       {mir.OpSHF, 0, 0, 0},
	ir.Shr:       {mir.OpSHF, 0, 0, 0},
	ir.Shf:       {mir.OpSHF, 0, 0, 0},
	ir.Bfi:       {mir.OpLOP3, 0, 0, 0},
	ir.Prmt:      {mir.OpPRMT, 0, 0, 0},
	ir.Szext:     {mir.OpPRMT, 0, 0, 0},
	ir.Bmsk:      {mir.OpSHF, 0, 0, 0},
	ir.Brev:      {mir.OpBREV, 0, 0, 0},
	ir.Popc:      {mir.OpPOPC, 0, 0, 0},
	ir.Clz:       {mir.OpFLO, 0, 0, 0},
	ir.Bfind:     {mir.OpFLO, 0, 0, 0},
	ir.Dp4a:      {mir.OpIDP, 0, 0, 0},
	ir.Dp2a:      {mir.OpIDP, 0, 0, 0},
	ir.Copysign:  {0, mir.OpLOP3, mir.OpLOP3, 0},
}

// ruleFor picks the operation for a type.
func (r simpleRule) ruleFor(t ir.Type) mir.Op {
	switch t {
	case ir.F32, ir.TF32:
		return r.f32
	case ir.F64:
		return r.f64
	case ir.F16, ir.F16x2, ir.BF16, ir.BF16x2:
		return r.half
	}
	return r.i32
}

// lower emits the machine instructions of a node in general registers.
func (s *selector) lower(n *hir.Node) error {
	if s.moveConstants(n) {
		return nil
	}
	switch n.Op {
	case ir.Nop:
		return nil
	case ir.Mov:
		return s.lowerMov(n)
	case ir.Cvta:
		s.copyWords(n)
		return nil
	case ir.Cvt:
		return s.lowerCvt(n)
	case ir.Ld, ir.Ldu:
		return s.lowerLoad(n)
	case ir.Tex, ir.Txq, ir.Suld, ir.Sust:
		return s.lowerTexture(n)
	case ir.St:
		s.releaseFence(n)
		return s.lowerStore(n)
	case ir.Atom, ir.Red:
		return s.lowerAtomic(n)
	case ir.CpAsync, ir.CpAsyncCommit, ir.CpAsyncWait, ir.Prefetch:
		return s.lowerAsync(n)
	case ir.Bra, ir.Brx, ir.Exit, ir.Trap:
		return s.lowerBranch(n)
	case ir.Bar, ir.BarRed, ir.BarWarp, ir.Membar, ir.Nanosleep, ir.Shfl, ir.Vote, ir.Match, ir.Activemask, ir.Redux, ir.Elect:
		return s.lowerSync(n)
	case ir.Setp, ir.Set, ir.Selp, ir.Slct, ir.Testp, ir.Isspacep:
		return s.lowerSelect(n)
	case ir.Mma:
		return s.lowerMma(n)
	case ir.Wgmma:
		return s.lowerWgmma(n)
	case ir.WgmmaFence, ir.WgmmaCommit, ir.WgmmaWait:
		return s.lowerWgmmaGroup(n)
	case ir.MbarInit, ir.MbarInval, ir.MbarArrive, ir.MbarExpect, ir.MbarWait, ir.CpAsyncArrive:
		return s.lowerMbarrier(n)
	case ir.BulkCopy, ir.BulkPrefetch:
		return s.lowerBulk(n)
	case ir.BulkCommit, ir.BulkWait:
		return s.lowerBulkGroup(n)
	case ir.FenceProxy:
		return s.lowerFenceProxy(n)
	case ir.TensormapSet, ir.TensormapCopy:
		return s.lowerTensormap(n)
	case ir.ClusterBarrier:
		return s.lowerCluster(n)
	case ir.Setmaxnreg:
		return s.lowerSetmaxnreg(n)
	case ir.Mapa:
		s.emit(mir.OpPRMT, s.dest(0, 1), s.operands(0, n.Src...)...)
		return nil
	case ir.GetCTARank:
		s.emit(mir.OpSHF, s.dest(0, 1), s.gprWord(n.Src[0], 0))
		return nil
	case ir.CreatePolicy:
		return s.constantPair(n)
	case ir.Movmatrix:
		s.emit(mir.OpMOVM, s.dest(0, 1), s.gprWord(n.Src[0], 0))
		return nil
	case ir.Div, ir.Rem, ir.Rcp, ir.Sqrt, ir.Rsqrt, ir.Sin, ir.Cos, ir.Lg2, ir.Ex2, ir.Tanh, ir.Bfe, ir.Fns:
		return s.lowerExpansion(n)
	case ir.AddC, ir.SubC, ir.MadC:
		return s.lowerCarry(n)
	}
	if n.Type == ir.Pred {
		return s.lowerPredLogic(n)
	}
	if hir.IsInt(n.Type) {
		switch n.Op {
		case ir.Add, ir.Sub, ir.Mul, ir.Mad, ir.Shl, ir.Shr, ir.And, ir.Or, ir.Xor, ir.Not, ir.Min, ir.Max, ir.Neg, ir.Abs:
			return s.lowerInt(n)
		}
	}
	if n.Type.Packed().IsInt() && s.lowerPairs(n) {
		return nil
	}
	return s.lowerSimple(n)
}

// lowerSimple lowers an operation that is one instruction, for 64-bit integers one a word.
func (s *selector) lowerSimple(n *hir.Node) error {
	r, ok := simple[n.Op]
	op := r.ruleFor(n.Type)
	if !ok || op == mir.OpInvalid {
		if n.Op == ir.Min || n.Op == ir.Max { // fp64
			return s.minMax64(n)
		}
		return s.unsupported(n)
	}
	if joinsWords(n) {
		s.emit(mir.OpMOV, s.dest(0, 1), s.flexible(n.Src[1], 0))
		s.emit(mir.OpMOV, s.dest(1, 1), s.flexible(n.Src[0], 0))
		return nil
	}
	src := n.Src
	if !hir.IsInt(n.Type) {
		src = s.stripModifiers(src, n.Type, n.Op != ir.Fma && n.Op != ir.Mad)
		op = s.pickOp(op)
		if fused := s.contract(n, src); fused != nil {
			src = s.stripModifiers(fused, n.Type, false)
			op = s.pickOp(simple[ir.Fma].ruleFor(n.Type))
		}
	}
	if n.Type == ir.F64 {
		s.emit(op, s.dest(0, 2), s.doubles(src)...)
		return nil
	}
	for w := uint8(0); w < s.hir.Values[n.Dst[0]].Words; w++ {
		if n.Op == ir.Neg {
			// Its operand is loaded into a general register, also from constant memory (kernels: gmm).
			s.emit(op, s.dest(w, 1), s.gprWord(src[0], w))
			continue
		}
		s.emit(op, s.dest(w, 1), s.operandsOf(n, w, src)...)
	}
	return nil
}

// operandsOf is operands for a node; where a multiply-add has two constants, the addend takes the
// flexible slot.
//
// Evidence, kernels: lavamd (expf).
func (s *selector) operandsOf(n *hir.Node, w uint8, src []ir.Operand) []mir.Arg {
	if len(src) != 3 || hir.IsInt(n.Type) {
		return s.operands(w, src...)
	}
	args := s.operands(w, src[2], src[0], src[1])
	args[0], args[1], args[2] = args[1], args[2], args[0]
	return args
}
