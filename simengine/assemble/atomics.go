package assemble

import "github.com/warptune/warptune/simengine/ir"

// lowerAtomic lowers atom and red.
func (s *selector) lowerAtomic(n *node) error {
	op := opATOM
	used := len(n.dst) > 0 && n.dst[0] >= 0 && s.want[n.dst[0]] != 0
	switch {
	case n.space == ir.Shared:
		op = opATOMS
	case !used && n.atom != ir.AtomCAS && n.atom != ir.AtomExch:
		op = opRED
	}
	dst := arg{}
	if used {
		dst = valueArg(n.dst[0], 0, s.f.vals[n.dst[0]].words)
	}
	args := make([]arg, 1, 4)
	var vr int32
	var base value
	var off int64
	args[0], vr, base, off = s.address(n.src[0], n.space)
	if op == opATOM && s.countsFirst(n) {
		leader, active, sum := s.countFirst(n)
		old := s.temp(1)
		s.access(s.emit(op, old, args[0], sum), n, vr, base, off)
		s.shareCount(n, old, leader, active)
		return nil
	}
	if op == opATOMS && !used && s.counts(n) {
		s.m.counted = append(s.m.counted, n.pc)
		s.access(s.emit(opATOMSINC, arg{}, args[0]), n, vr, base, off)
		return nil
	}
	for _, o := range n.src[1:] {
		args = append(args, s.data(o, n.typ))
	}
	if op == opATOMS && s.swaps(n) {
		s.swap(n, dst, args, vr, base, off)
		return nil
	}
	if op == opRED && s.reducesFirst(n) {
		args[1] = s.reduceFirst(n, args[1])
	}
	s.access(s.emit(op, dst, args...), n, vr, base, off)
	return nil
}

// counts says whether an atomic adds one to a word, which in shared memory is an
// instruction of its own (ATOMS.POPC.INC, of which lanes that share a word take no
// turns: deploy/calibrate wavefronts.same_address shared_inc).
func (s *selector) counts(n *node) bool {
	return s.f.t.counting && n.atom == ir.AtomAdd && len(n.src) == 2 && bits(n.typ) == 32 && isInt(n.typ) && n.src[1].Kind == ir.OperandImm && n.src[1].Imm == 1
}

// countsFirst says whether lanes that ask memory for places of their own, the same
// number each at an address that all have in common, ask for them together.
func (s *selector) countsFirst(n *node) bool {
	if n.atom != ir.AtomAdd || len(n.src) != 2 || bits(n.typ) != 32 || !isInt(n.typ) {
		return false
	}
	alike := n.src[0].Reg == ir.NoReg || s.f.vals[n.src[0].Reg].uniform
	return alike && (n.src[1].Kind == ir.OperandImm || n.src[1].Kind == ir.OperandReg && s.warpAlike(value(n.src[1].Reg), 4))
}

// warpAlike says that all lanes of a warp have the same in a value: it is uniform, or
// computed, in a few steps, of what the warp voted (compact's machine code adds up what
// one lane adds for all that the vote found).
func (s *selector) warpAlike(v value, steps int) bool {
	if s.f.vals[v].uniform {
		return true
	}
	d := s.f.defOf(v)
	switch {
	case d == nil || d.guard != noValue || steps == 0:
		return false
	case d.op == ir.Vote && d.typ == ir.B32 || d.op == ir.Activemask:
		return true
	case d.hasEffect() || d.op == ir.Ld || d.op == ir.Ldu || d.op == ir.Shfl || d.op == ir.Mov && d.src[0].Kind == ir.OperandSpecial:
		return false
	}
	for i := range d.src {
		if o := &d.src[i]; o.Kind == ir.OperandReg && !s.warpAlike(value(o.Reg), steps-1) {
			return false
		}
	}
	return true
}

// countFirst emits what the real assembler puts before such an atomic: a lane is
// elected, which adds for all that are active (compact's machine code,
// deploy/calibrate/validation/third).
func (s *selector) countFirst(n *node) (leader, active, sum arg) {
	s.m.elected = append(s.m.elected, n.pc)
	lane := s.temp(1)
	leader, active, sum = s.temp(1), s.temp(1), s.temp(1)
	s.emit(opS2R, lane)
	s.emit(opVOTE, active)
	s.emit(opFLO, leader, active)
	s.emit(opPOPC, sum, active)
	s.emit(opISETP, s.carry(), lane, leader)
	if o := n.src[1]; o.Kind != ir.OperandImm || o.Imm != 1 {
		count := sum
		sum = s.temp(1)
		s.emit(opIMAD, sum, count, s.mixOne(o, 0))
	}
	return leader, active, sum
}

// shareCount emits what follows it: the lanes get the elected one's place and
// count those before them.
func (s *selector) shareCount(n *node, old, leader, active arg) {
	before, mask, rank, first := s.temp(1), s.temp(1), s.temp(1), s.temp(1)
	s.emit(opS2R, mask)
	s.emit(opLOP3, before, mask, active)
	s.emit(opPOPC, rank, before)
	s.emit(opSHFL, first, old, leader)
	s.emit(opIADD3, valueArg(n.dst[0], 0, 1), first, rank)
}

// reducesFirst says whether a warp's reduction into memory is one of registers
// first, of which one lane then stores the result: an integer one, at an address
// that all lanes have in common. Sums of floating point keep their order.
func (s *selector) reducesFirst(n *node) bool {
	switch n.atom {
	case ir.AtomAdd, ir.AtomMin, ir.AtomMax, ir.AtomAnd, ir.AtomOr, ir.AtomXor:
	default:
		return false
	}
	a := n.src[0]
	return s.f.t.redux && len(n.src) == 2 && bits(n.typ) == 32 && isInt(n.typ) && (a.Reg == ir.NoReg || s.f.vals[a.Reg].uniform)
}

// reduceFirst emits what the real assembler does: VOTEU and UFLO elect a lane, REDUX
// reduces (monte_carlo's machine code, deploy/calibrate/validation/further).
func (s *selector) reduceFirst(n *node, data arg) arg {
	s.m.elected = append(s.m.elected, n.pc)
	lane, active, sum := valueArg(s.newValue(1, fileGeneral), 0, 1), valueArg(s.newValue(1, fileGeneral), 0, 1), valueArg(s.newValue(1, fileGeneral), 0, 1)
	s.emit(opS2R, lane)
	s.emit(opVOTE, active)
	s.emit(opREDUX, sum, data)
	s.emit(opISETP, s.carry(), lane, active)
	return sum
}

// swaps says whether shared memory has no such atomic: of floating-point numbers it has
// none, from Maxwell on.
func (s *selector) swaps(n *node) bool {
	return s.f.t.counting && !isInt(n.typ) && n.atom != ir.AtomExch && n.atom != ir.AtomCAS
}

// swap emits the loop that the real assembler makes instead: what is there is loaded,
// worked on and swapped for the result, again until nobody came between (deploy/calibrate
// wavefronts.shared_sums and the machine code of bicg, validation/sixth). Of lanes that
// share a word one gets through at a time.
func (s *selector) swap(n *node, dst arg, args []arg, vr int32, base value, off int64) {
	s.m.swapped = append(s.m.swapped, n.pc)
	w := uint8(words(n.typ))
	old, sum, got, done := dst, s.temp(w), s.temp(w), s.carry()
	if old.kind == argNone {
		old = s.temp(w)
	}
	s.emit(opBSSY, arg{})
	s.access(s.emit(opLDS, old, args[0]), n, vr, base, off)
	s.emit(simple[ir.Add].ruleFor(n.typ), sum, old, args[1])
	s.access(s.emit(opATOMS, got, args[0], old, sum), n, vr, base, off)
	s.emit(opISETP, done, got)
	s.emit(opBRA, arg{}).guard = done.v
	s.emit(opBSYNC, arg{})
}
