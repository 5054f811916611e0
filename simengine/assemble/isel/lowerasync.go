package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Bulk copies, fences of proxies, tensor maps, clusters.

// addressOperand is the address of an access as a plain operand; its offset is an immediate of the
// machine instruction.
func addressOperand(o ir.Operand) ir.Operand {
	switch {
	case o.Reg != ir.NoReg:
		return ir.Operand{Kind: ir.OperandReg, Reg: o.Reg, Var: -1, Param: -1}
	case o.Var >= 0:
		return ir.Operand{Kind: ir.OperandVar, Reg: ir.NoReg, Var: o.Var, Param: -1}
	}
	return ir.Operand{Kind: ir.OperandImm, Reg: ir.NoReg, Var: -1, Param: -1, Imm: o.Imm}
}

// lowerBulk lowers a bulk copy or prefetch: UTMALDG, UTMASTG, UTMAREDG, UBLKCP and the like, whose
// operands lie in uniform registers. Where lanes may be alone the instruction stands in a loop that
// serves one lane after the other, unless one was elected.
//
//	UTMALDG [UR8], [UR12]    UR8 shared address, UR9 mbarrier, UR10 on coordinates; UR12 the map's address
//	UBLKCP  [UR8], [UR6], UR5    UR5 the size
func (s *selector) lowerBulk(n *hir.Node) error {
	k := s.hir.Kernel.Instrs[n.PC].Bulk
	in := &ir.Instr{Op: n.Op, Bulk: k, Src: n.Src}
	shared, other := addressOperand(n.Src[0]), n.Src[0]
	switch {
	case n.Op == ir.BulkPrefetch:
		shared = ir.Operand{}
	case k.To == ir.Global:
		shared = addressOperand(n.Src[1])
	default:
		other = n.Src[1]
	}
	words := make([]ir.Operand, 0, 8)
	if shared.Kind != ir.OperandInvalid {
		words = append(words, shared)
	}
	if b := in.Mbarrier(); b != nil {
		words = append(words, addressOperand(*b))
	}
	loop := s.servesLanes(n)
	args := make([]mir.Arg, 0, 5)
	if k.Dims > 0 {
		words = append(words, in.Coordinates()...)
	}
	for len(words) > 0 {
		m := min(len(words), vreg.MaxWords)
		args = append(args, s.uniformWords(words[:m]...))
		words = words[m:]
	}
	args = append(args, s.uniformWords(addressOperand(other)))
	if k.Dims == 0 {
		args = append(args, s.uniformWords(n.Src[len(in.Src)-1-b2i(k.Barrier)-b2i(k.Multicast)]))
	}
	if k.Multicast {
		args = append(args, s.uniformWords(n.Src[len(n.Src)-1]))
	}
	s.beginLanes(loop)
	if n.Guard != vreg.None {
		u := mir.ValueWords(s.newValue(1, vreg.UniformPredicate), 0, 1)
		s.emit(mir.OpVOTEU, u, mir.ValueWords(n.Guard, 0, 1))
	}
	m := s.emit(bulkOp(n.Op, k), mir.Arg{}, args...)
	m.Space, m.Volatile = k.To, true
	if k.To != ir.Global {
		m.Space = k.From
	}
	s.endLanes(loop)
	return nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// bulkOp is the operation of a bulk copy or prefetch.
func bulkOp(op ir.Op, k *ir.Bulk) mir.Op {
	switch {
	case op == ir.BulkPrefetch && k.Dims > 0:
		return mir.OpUTMAPF
	case op == ir.BulkPrefetch:
		return mir.OpUBLKPF
	case k.Dims > 0 && k.Reduce != ir.AtomNone:
		return mir.OpUTMAREDG
	case k.Dims > 0 && k.To == ir.Global:
		return mir.OpUTMASTG
	case k.Dims > 0:
		return mir.OpUTMALDG
	case k.Reduce != ir.AtomNone:
		return mir.OpUBLKRED
	}
	return mir.OpUBLKCP
}

// servesLanes reports whether an instruction of the uniform datapath must be repeated for each lane:
// lanes may be apart, and none was elected.
//
// Evidence, machine code of nvcc 13.0's bulk copies by one thread, and of Triton 3.6's by an elected
// one (shared launches, sm_90).
func (s *selector) servesLanes(n *hir.Node) bool {
	return n.Guard == vreg.None && s.apart(s.b)
}

// beginLanes and endLanes emit the loop over lanes around a bulk copy.
func (s *selector) beginLanes(loop bool) {
	if loop {
		s.emit(mir.OpPLOP3, s.carry())
		s.emit(mir.OpELECT, s.carry())
	}
}

func (s *selector) endLanes(loop bool) {
	if !loop {
		return
	}
	again := s.carry()
	s.emit(mir.OpPLOP3, again)
	s.emit(mir.OpPLOP3, s.carry())
	s.emit(mir.OpBRA, mir.Arg{}).Guard = again.Value
}

// lowerBulkGroup lowers what closes and awaits bulk groups.
func (s *selector) lowerBulkGroup(n *hir.Node) error {
	if n.Op == ir.BulkCommit {
		s.emit(mir.OpUTMACMDFLUSH, mir.Arg{})
		return nil
	}
	s.emit(mir.OpDEPBAR, mir.Arg{})
	if n.Mod&ir.ModRead == 0 {
		s.emitBeside(mir.OpCCTL) // CCTL.IVALL: what was written is seen
	}
	return nil
}

// lowerFenceProxy lowers fences of proxies. That of mbarriers' initialisation is none.
func (s *selector) lowerFenceProxy(n *hir.Node) error {
	switch {
	case n.Mod&ir.ModRelease != 0 && n.Space == ir.Shared:
		return nil
	case n.Space == ir.ParamSpace:
		if n.Mod&ir.ModAcquire != 0 && len(n.Src) > 0 {
			s.emit(mir.OpUTMACCTL, mir.Arg{}, s.uniformWords(addressOperand(n.Src[0])))
			return nil
		}
		s.emit(mir.OpMEMBAR, mir.Arg{})
	default:
		s.emitBeside(mir.OpMEMBARALL)
		s.emit(mir.OpFENCEVIEW, mir.Arg{})
	}
	return nil
}

// lowerTensormap lowers changes of a tensor map in shared memory, and its copy to device memory.
func (s *selector) lowerTensormap(n *hir.Node) error {
	if n.Op == ir.TensormapSet {
		a, vr, base, off := s.address(n.Src[0], n.Space)
		op := map[ir.Space]mir.Op{ir.Shared: mir.OpSTS, ir.Global: mir.OpSTG}[n.Space]
		if op == mir.OpInvalid {
			op = mir.OpST
		}
		in := s.emit(op, mir.Arg{}, a, s.data(n.Src[len(n.Src)-1], n.Type))
		s.access(in, n, vr, base, off)
		in.Volatile = true
		return nil
	}
	to, _, _, _ := s.address(n.Src[0], ir.Global)
	from, _, _, _ := s.address(n.Src[1], ir.Shared)
	word := s.temp(1)
	in := s.emit(mir.OpLDS, word, from)
	in.Space, in.Width, in.Volatile, in.MemBase = ir.Shared, 4, true, vreg.None
	in = s.emit(mir.OpSTG, mir.Arg{}, to, word)
	in.Space, in.Width, in.Volatile, in.MemBase = ir.Global, 4, true, vreg.None
	s.emit(mir.OpMEMBAR, mir.Arg{})
	return nil
}

// lowerCluster lowers arrival at the barrier of a cluster, which makes memory visible first, and the
// wait for it.
//
// Evidence, machine code of nvcc 13.0 (shared launches of cluster_norm, sm_90).
func (s *selector) lowerCluster(n *hir.Node) error {
	if n.Mod&ir.ModArrive != 0 && n.Mod&ir.ModRelaxed == 0 {
		s.emitBeside(mir.OpMEMBARALL)
		s.emitBeside(mir.OpCCTL)
	}
	s.emit(mir.OpUCGABAR, mir.Arg{})
	return nil
}

// lowerSetmaxnreg lowers a change of a warp's registers; that for more is tried until it succeeds.
func (s *selector) lowerSetmaxnreg(n *hir.Node) error {
	s.emitBeside(mir.OpWARPSYNC)
	if n.Mod&ir.ModInc == 0 {
		s.emit(mir.OpUSETMAXREG, mir.Arg{})
		return nil
	}
	u, p := mir.ValueWords(s.newValue(1, vreg.UniformPredicate), 0, 1), s.carry()
	s.emit(mir.OpUSETMAXREG, u)
	s.emit(mir.OpPLOP3, p, u)
	s.emit(mir.OpBRA, mir.Arg{}).Guard = p.Value
	return nil
}

// Operations on mbarriers (SYNCS).

// lowerMbarrier lowers an operation on an mbarrier. One that releases beyond the CTA comes after fences.
func (s *selector) lowerMbarrier(n *hir.Node) error {
	if s.hir.Kernel.Instrs[n.PC].ReleasesBeyondCTA() {
		s.emitBeside(mir.OpMEMBARALL)
		s.emit(mir.OpMEMBAR, mir.Arg{})
	}
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
