package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// lowerAtomic lowers atom and red.
func (s *selector) lowerAtomic(n *hir.Node) error {
	op := mir.OpATOM
	used := len(n.Dst) > 0 && n.Dst[0] >= 0 && s.demand[n.Dst[0]] != 0
	switch {
	case n.Space == ir.Shared:
		op = mir.OpATOMS
	case !used && n.Atom != ir.AtomCAS && n.Atom != ir.AtomExch:
		op = mir.OpRED
	}
	dst := mir.Arg{}
	if used {
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

// isSharedIncrement says whether an atomic adds one to a word, which in shared memory is an
// instruction of its own (ATOMS.POPC.INC, of which lanes that share a word take no
// turns: deploy/calibrate wavefronts.same_address shared_inc).
func (s *selector) isSharedIncrement(n *hir.Node) bool {
	return s.hir.Target.SharedIncrement && n.Atom == ir.AtomAdd && len(n.Src) == 2 && hir.Bits(n.Type) == 32 && hir.IsInt(n.Type) && n.Src[1].Kind == ir.OperandImm && n.Src[1].Imm == 1
}

// aggregates says whether lanes that ask memory for places of their own, the same
// number each at an address that all have in common, ask for them together.
func (s *selector) aggregates(n *hir.Node) bool {
	if n.Atom != ir.AtomAdd || len(n.Src) != 2 || hir.Bits(n.Type) != 32 || !hir.IsInt(n.Type) {
		return false
	}
	alike := n.Src[0].Reg == ir.NoReg || s.hir.Values[n.Src[0].Reg].Uniform
	return alike && (n.Src[1].Kind == ir.OperandImm || n.Src[1].Kind == ir.OperandReg && s.warpUniform(vreg.Value(n.Src[1].Reg), 4))
}

// warpUniform says that all lanes of a warp have the same in a value: it is uniform, or
// computed, in a few steps, of what the warp voted (compact's machine code adds up what
// one lane adds for all that the vote found).
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

// electForAdd emits what the real assembler puts before such an atomic: a lane is
// elected, which adds for all that are active (compact's machine code,
// deploy/calibrate/validation/third).
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

// distributeAdd emits what follows it: the lanes get the elected one's place and
// count those before them.
func (s *selector) distributeAdd(n *hir.Node, old, leader, active mir.Arg) {
	before, mask, rank, first := s.temp(1), s.temp(1), s.temp(1), s.temp(1)
	s.emit(mir.OpS2R, mask)
	s.emit(mir.OpLOP3, before, mask, active)
	s.emit(mir.OpPOPC, rank, before)
	s.emit(mir.OpSHFL, first, old, leader)
	s.emit(mir.OpIADD3, mir.ValueWords(n.Dst[0], 0, 1), first, rank)
}

// reducesInWarp says whether a warp's reduction into memory is one of registers
// first, of which one lane then stores the result: an integer one, at an address
// that all lanes have in common. Sums of floating point keep their order.
func (s *selector) reducesInWarp(n *hir.Node) bool {
	switch n.Atom {
	case ir.AtomAdd, ir.AtomMin, ir.AtomMax, ir.AtomAnd, ir.AtomOr, ir.AtomXor:
	default:
		return false
	}
	a := n.Src[0]
	return s.hir.Target.REDUX && len(n.Src) == 2 && hir.Bits(n.Type) == 32 && hir.IsInt(n.Type) && (a.Reg == ir.NoReg || s.hir.Values[a.Reg].Uniform)
}

// reduceInWarp emits what the real assembler does: VOTEU and UFLO elect a lane, REDUX
// reduces (monte_carlo's machine code, deploy/calibrate/validation/further).
func (s *selector) reduceInWarp(n *hir.Node, data mir.Arg) mir.Arg {
	s.out.Elected = append(s.out.Elected, n.PC)
	lane, active, sum := mir.ValueWords(s.newValue(1, vreg.General), 0, 1), mir.ValueWords(s.newValue(1, vreg.General), 0, 1), mir.ValueWords(s.newValue(1, vreg.General), 0, 1)
	s.emit(mir.OpS2R, lane)
	s.emit(mir.OpVOTE, active)
	s.emit(mir.OpREDUX, sum, data)
	s.emit(mir.OpISETP, s.carry(), lane, active)
	return sum
}

// needsCASLoop says whether shared memory has no such atomic: of floating-point numbers it has
// none, from Maxwell on.
func (s *selector) needsCASLoop(n *hir.Node) bool {
	return s.hir.Target.SharedIncrement && !hir.IsInt(n.Type) && n.Atom != ir.AtomExch && n.Atom != ir.AtomCAS
}

// casLoop emits the loop that the real assembler makes instead: what is there is loaded,
// worked on and swapped for the result, again until nobody came between (deploy/calibrate
// wavefronts.shared_sums and the machine code of bicg, validation/sixth). Of lanes that
// share a word one gets through at a time.
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
