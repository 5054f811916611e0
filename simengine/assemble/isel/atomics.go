package isel

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Atomics and reductions in memory.

// releaseFence emits the fence before an access to device memory that releases beyond the CTA.
func (s *selector) releaseFence(n *hir.Node) {
	if n.Space != ir.Shared && s.hir.Kernel.Instrs[n.PC].ReleasesBeyondCTA() {
		s.emit(mir.OpMEMBAR, mir.Arg{})
	}
}

// lowerAtomic lowers atom and red.
func (s *selector) lowerAtomic(n *hir.Node) error {
	s.releaseFence(n)
	op := mir.OpATOM
	used := slices.ContainsFunc(n.Dst, func(v vreg.Value) bool { return v >= 0 && s.demand[v] != 0 })
	switch {
	case n.Space == ir.Shared:
		op = mir.OpATOMS
	case !used && n.Atom != ir.AtomCAS && n.Atom != ir.AtomExch:
		op = mir.OpRED
	}
	dst := mir.Arg{}
	if used && n.Vec == 1 {
		dst = mir.ValueWords(n.Dst[0], 0, s.hir.Values[n.Dst[0]].Words)
	}
	args := make([]mir.Arg, 1, 4)
	var vr int32
	var base vreg.Value
	var off int64
	args[0], vr, base, off = s.address(n.Src[0], n.Space)
	if op == mir.OpATOM && s.aggregates(n) {
		leader, active, sum := s.electForAdd(n)
		old := s.temp(1)
		s.access(s.emit(op, old, args[0], sum), n, vr, base, off)
		s.distributeAdd(n, old, leader, active)
		return nil
	}
	if op == mir.OpATOMS && !used && s.isSharedIncrement(n) {
		s.out.Counted = append(s.out.Counted, n.PC)
		s.access(s.emit(mir.OpATOMSINC, mir.Arg{}, args[0]), n, vr, base, off)
		return nil
	}
	if n.Vec > 1 {
		s.vectorAtomic(n, op, args[0], vr, base, off)
		return nil
	}
	for _, o := range n.Src[1:] {
		args = append(args, s.data(o, n.Type))
	}
	if op == mir.OpATOMS && s.needsCASLoop(n) {
		s.casLoop(n, dst, args, vr, base, off)
		return nil
	}
	if op == mir.OpRED && s.reducesInWarp(n) {
		args[1] = s.reduceInWarp(n, args[1])
	}
	s.access(s.emit(op, dst, args...), n, vr, base, off)
	return nil
}

// vectorAtomic emits an atomic on a vector (RED.E.ADD.F32x4, ATOMG.E.ADD.BF16x8 and the like).
func (s *selector) vectorAtomic(n *hir.Node, op mir.Op, a mir.Arg, vr int32, base vreg.Value, off int64) {
	if hir.Bits(n.Type) == 16 {
		s.halvesAtomic(n, op, a, vr, base, off)
		return
	}
	data, dst := s.gather(n.Src[1:], n.Type), mir.Arg{}
	if op == mir.OpATOM {
		dst = s.vector(n.Dst, true)
	}
	s.access(s.emit(op, dst, a, data), n, vr, base, off)
	if op == mir.OpATOM {
		s.unpackVector(n.Dst, dst)
	}
}

// halvesAtomic emits an atomic on a vector of halves, two of which share a register.
func (s *selector) halvesAtomic(n *hir.Node, op mir.Op, a mir.Arg, vr int32, base vreg.Value, off int64) {
	halves := n.Src[1:]
	words := uint8(len(halves)+1) / 2
	data, dst := s.temp(words), mir.Arg{}
	for w := range words {
		pair, at := halves[2*w:min(2*int(w)+2, len(halves))], mir.ValueWords(data.Value, w, 1)
		if word, ok := s.wordOf(pair); ok {
			s.emit(mir.OpMOV, at, s.gprWord(word, 0))
			continue
		}
		s.emit(mir.OpPRMT, at, s.operands(0, pair...)...)
	}
	if op == mir.OpATOM {
		dst = s.temp(words)
	}
	s.access(s.emit(op, dst, a, data), n, vr, base, off)
	for i, d := range n.Dst {
		if op == mir.OpATOM && d >= 0 && s.demand[d] != 0 {
			s.emit(mir.OpPRMT, mir.ValueWords(d, 0, 1), mir.ValueWords(dst.Value, uint8(i)/2, 1))
		}
	}
}

// wordOf returns the word whose lower and upper half two operands are, and reports whether there is one.
func (s *selector) wordOf(pair []ir.Operand) (word ir.Operand, ok bool) {
	if len(pair) != 2 {
		return word, false
	}
	low, upper, ok := s.halfOf(pair[0])
	high, upper2, ok2 := s.halfOf(pair[1])
	return low, ok && ok2 && !upper && upper2 && low.Reg == high.Reg
}

// isSharedIncrement reports whether an atomic adds one to a 32-bit word, which in shared memory is
// an instruction of its own, ATOMS.POPC.INC: lanes that share a word do not take turns.
//
// Evidence, microbenchmark (deploy/calibrate, wavefronts.same_address shared_inc).
func (s *selector) isSharedIncrement(n *hir.Node) bool {
	return s.hir.Target.SharedIncrement && n.Atom == ir.AtomAdd && len(n.Src) == 2 && hir.Bits(n.Type) == 32 && hir.IsInt(n.Type) && n.Src[1].Kind == ir.OperandImm && n.Src[1].Imm == 1
}

// aggregates reports whether the lanes of a warp add the same number to the same address and read
// the old value, so that one of them adds for all (warp-aggregated atomics).
func (s *selector) aggregates(n *hir.Node) bool {
	if n.Atom != ir.AtomAdd || len(n.Src) != 2 || hir.Bits(n.Type) != 32 || !hir.IsInt(n.Type) {
		return false
	}
	alike := n.Src[0].Reg == ir.NoReg || s.hir.Values[n.Src[0].Reg].Uniform
	return alike && (n.Src[1].Kind == ir.OperandImm || n.Src[1].Kind == ir.OperandReg && s.warpUniform(vreg.Value(n.Src[1].Reg), 4))
}

// warpUniform reports whether a value is the same in all lanes: it is uniform, or computed from a
// vote in up to steps definitions.
//
// Evidence, kernels: compact.
func (s *selector) warpUniform(v vreg.Value, steps int) bool {
	if s.hir.Values[v].Uniform {
		return true
	}
	d := s.hir.DefOf(v)
	switch {
	case d == nil || d.Guard != vreg.None || steps == 0:
		return false
	case d.Op == ir.Vote && d.Type == ir.B32 || d.Op == ir.Activemask:
		return true
	case d.HasEffect() || d.Op == ir.Ld || d.Op == ir.Ldu || d.Op == ir.Shfl || d.Op == ir.Mov && d.Src[0].Kind == ir.OperandSpecial:
		return false
	}
	for i := range d.Src {
		if o := &d.Src[i]; o.Kind == ir.OperandReg && !s.warpUniform(vreg.Value(o.Reg), steps-1) {
			return false
		}
	}
	return true
}

// electForAdd emits what precedes a warp-aggregated atomic: one lane is elected, and adds for all
// active lanes.
//
// Evidence, kernels: compact.
func (s *selector) electForAdd(n *hir.Node) (leader, active, sum mir.Arg) {
	s.out.Elected = append(s.out.Elected, n.PC)
	lane := s.temp(1)
	leader, active, sum = s.temp(1), s.temp(1), s.temp(1)
	s.emit(mir.OpS2R, lane)
	s.emit(mir.OpVOTE, active)
	s.emit(mir.OpFLO, leader, active)
	s.emit(mir.OpPOPC, sum, active)
	s.emit(mir.OpISETP, s.carry(), lane, leader)
	if o := n.Src[1]; o.Kind != ir.OperandImm || o.Imm != 1 {
		count := sum
		sum = s.temp(1)
		s.emit(mir.OpIMAD, sum, count, s.flexible(o, 0))
	}
	return leader, active, sum
}

// distributeAdd emits what follows it: each lane gets the elected one's result plus the number of
// active lanes before it.
func (s *selector) distributeAdd(n *hir.Node, old, leader, active mir.Arg) {
	before, mask, rank, first := s.temp(1), s.temp(1), s.temp(1), s.temp(1)
	s.emit(mir.OpS2R, mask)
	s.emit(mir.OpLOP3, before, mask, active)
	s.emit(mir.OpPOPC, rank, before)
	s.emit(mir.OpSHFL, first, old, leader)
	s.emit(mir.OpIADD3, mir.ValueWords(n.Dst[0], 0, 1), first, rank)
}

// reducesInWarp reports whether a warp reduces an integer in registers first, with one lane's
// reduction into memory for all: the address is the same in all lanes. Additions of floating-point
// numbers keep their order.
func (s *selector) reducesInWarp(n *hir.Node) bool {
	switch n.Atom {
	case ir.AtomAdd, ir.AtomMin, ir.AtomMax, ir.AtomAnd, ir.AtomOr, ir.AtomXor:
	default:
		return false
	}
	a := n.Src[0]
	return s.hir.Target.REDUX && len(n.Src) == 2 && hir.Bits(n.Type) == 32 && hir.IsInt(n.Type) && (a.Reg == ir.NoReg || s.hir.Values[a.Reg].Uniform)
}

// reduceInWarp emits the reduction in registers: VOTEU and UFLO elect a lane, REDUX reduces. It
// returns the result.
//
// Evidence, kernels: monte_carlo.
func (s *selector) reduceInWarp(n *hir.Node, data mir.Arg) mir.Arg {
	s.out.Elected = append(s.out.Elected, n.PC)
	lane, active, sum := mir.ValueWords(s.newValue(1, vreg.General), 0, 1), mir.ValueWords(s.newValue(1, vreg.General), 0, 1), mir.ValueWords(s.newValue(1, vreg.General), 0, 1)
	s.emit(mir.OpS2R, lane)
	s.emit(mir.OpVOTE, active)
	s.emit(mir.OpREDUX, sum, data)
	s.emit(mir.OpISETP, s.carry(), lane, active)
	return sum
}

// needsCASLoop reports whether shared memory has no instruction for an atomic: it has none for
// floating-point numbers, from Maxwell on.
func (s *selector) needsCASLoop(n *hir.Node) bool {
	return s.hir.Target.SharedIncrement && !hir.IsInt(n.Type) && n.Atom != ir.AtomExch && n.Atom != ir.AtomCAS
}

// casLoop emits a compare-and-swap loop for such an atomic: load, compute, swap, again until no
// other lane came in between. Of the lanes that share a word one gets through in each turn.
//
// Evidence, microbenchmark (deploy/calibrate, wavefronts.shared_sums). Kernels: bicg.
func (s *selector) casLoop(n *hir.Node, dst mir.Arg, args []mir.Arg, vr int32, base vreg.Value, off int64) {
	s.out.Swapped = append(s.out.Swapped, n.PC)
	w := uint8(hir.Words(n.Type))
	old, sum, got, done := dst, s.temp(w), s.temp(w), s.carry()
	if old.Kind == mir.ArgNone {
		old = s.temp(w)
	}
	s.emit(mir.OpBSSY, mir.Arg{})
	s.access(s.emit(mir.OpLDS, old, args[0]), n, vr, base, off)
	s.emit(simple[ir.Add].ruleFor(n.Type), sum, old, args[1])
	s.access(s.emit(mir.OpATOMS, got, args[0], old, sum), n, vr, base, off)
	s.emit(mir.OpISETP, done, got)
	s.emit(mir.OpBRA, mir.Arg{}).Guard = done.Value
	s.emit(mir.OpBSYNC, mir.Arg{})
}
