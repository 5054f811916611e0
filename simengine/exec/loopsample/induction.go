package loopsample

import (
	"cmp"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// analysis decides whether one loop can be sampled.
type analysis struct {
	k      *ir.Kernel
	needed []bool
	opaque func(ir.Op) bool
	dom    *dominance
	waits  *waits
	loops  []Loop
	l      *Loop
	live   ir.BitSet // registers of the slice live into the header
	inner  []int     // by block: index of the innermost loop
	self   int       // index of l
	defs   map[ir.Reg][]int
	latch  []int
	// reaching: definitions are told apart by which of them reach a place. Loops that
	// are sampled do without, which is simpler and was compared with hardware.
	reaching bool
	// relaxed: an instruction may be executed in some iterations only, as conditions say that are the
	// same in all those left out. Words are followed through conversions between 32 and 64 bits.
	relaxed bool
}

// Slice is what is known of the instructions that a CTA's slice executes: those that addresses
// and control flow depend on.
type Slice struct {
	Kernel *ir.Kernel
	Needed []bool              // by instruction: its result is computed
	LiveIn func() []ir.BitSet  // by block: registers of the slice live into it
	Yields []bool              // by block; see ir.Kernel.Yields
	Opaque func(op ir.Op) bool // reports whether a result is no function of one lane's operands
	Async  bool                // the kernel has asynchronous instructions (see Loop.Periodic)
}

// analyse fills in of each loop its Obstacle, inductions and exit test.
func analyse(loops []Loop, dom *dominance, waits *waits, s *Slice) {
	if len(loops) == 0 {
		return
	}
	live := s.LiveIn()
	inner := make([]int, len(s.Kernel.Blocks))
	for b := range inner {
		inner[b] = -1
		for i := range loops {
			if loops[i].Members[b] {
				inner[b] = i // inner loops come last
			}
		}
	}
	for i := range loops {
		l := &loops[i]
		a := analysis{k: s.Kernel, needed: s.Needed, opaque: s.Opaque, dom: dom, waits: waits, loops: loops, l: l, live: live[l.Head], inner: inner, self: i}
		if slices.ContainsFunc(l.Blocks, func(b int) bool { return s.Yields[b] }) {
			l.Obstacle = "lanes of a warp yield to each other in it"
			continue
		}
		if l.Mbarriers = a.hasMbarriers(); l.Mbarriers {
			if l.Obstacle = a.runPeriodic(); l.Obstacle != "" {
				a.reset()
			}
			continue
		}
		if l.Obstacle = a.run(); s.Async && (l.Obstacle != "" || a.copiesFewer()) {
			if a.runPeriodic() == "" {
				l.Obstacle = ""
				continue
			}
			a.reset()
			l.Obstacle = a.run()
		}
		if !l.Counted {
			a.runReaching()
		}
	}
}

// reset takes back what was found out.
func (a *analysis) reset() {
	l := a.l
	l.Inductions, l.Cyclic, l.Guards, l.Counted, l.Periodic = nil, nil, nil, false, false
}

func (a *analysis) run() string {
	a.collect()
	if o := a.findExit(); o != "" {
		return o
	}
	obstacle := a.findCarried()
	if o := a.findTest(); o != "" {
		return cmp.Or(obstacle, o)
	}
	a.l.Counted = true
	return cmp.Or(obstacle, a.variantControl())
}

// runReaching analyses a loop that cannot be sampled again, with reaching definitions, for whether
// its iterations can be counted.
func (a *analysis) runReaching() {
	was := *a.l
	a.reaching = true
	a.l.Inductions, a.l.Cyclic, a.l.Guards = nil, nil, nil
	if a.run(); !a.l.Counted {
		*a.l = was
	}
	a.l.Obstacle = was.Obstacle
}

// findCarried sorts the registers that the slice carries round the loop into inductions and cyclic
// ones. The obstacle is the first that is neither.
func (a *analysis) findCarried() (obstacle string) {
	for _, r := range a.carried() {
		switch {
		case a.inducts(r):
			a.l.Inductions = append(a.l.Inductions, r)
		case a.cycles(r):
			a.l.Cyclic = append(a.l.Cyclic, r)
		default:
			obstacle = cmp.Or(obstacle, "register "+a.k.Regs[r].Name+" is carried round the loop and is not a linear induction")
		}
	}
	return obstacle
}

// carried lists the registers that the slice carries round the loop.
func (a *analysis) carried() []ir.Reg {
	var list []ir.Reg
	for r := range a.defs {
		if a.live.Has(r) {
			list = append(list, r)
		}
	}
	slices.Sort(list)
	return list
}

// collect finds the loop's definitions, latches and barriers.
func (a *analysis) collect() {
	a.defs, a.latch = map[ir.Reg][]int{}, nil
	for _, b := range a.l.Blocks {
		blk := &a.k.Blocks[b]
		for pc := blk.Start; pc < blk.End; pc++ {
			in := &a.k.Instrs[pc]
			a.l.Barriers = a.l.Barriers || in.Op == ir.Bar || in.Op == ir.BarRed || in.Op == ir.ClusterBarrier
			if !a.needed[pc] {
				continue
			}
			for _, r := range in.Dst {
				if r != ir.NoReg {
					a.defs[r] = append(a.defs[r], pc)
				}
			}
		}
		for _, s := range a.waits.succs[b] {
			if s == a.l.Head {
				a.latch = append(a.latch, b)
			}
		}
	}
}

// once reports whether an instruction executes exactly once in every iteration.
func (a *analysis) once(pc int) bool {
	b := a.k.BlockOf(pc)
	if a.k.Instrs[pc].Guard != ir.NoReg || a.inner[b] != a.self {
		return false
	}
	for _, latch := range a.latch {
		if !a.relaxed && !a.dom.dominates(b, latch) {
			return false
		}
	}
	return true
}

// before reports whether p executes before q in every iteration, both once.
func (a *analysis) before(p, q int) bool {
	bp, bq := a.k.BlockOf(p), a.k.BlockOf(q)
	if bp == bq {
		return p < q
	}
	return a.dom.dominates(bp, bq)
}

// onlyDef returns the one definition of a register in the loop, -1 if there are several or it does
// not execute exactly once in an iteration.
func (a *analysis) onlyDef(r ir.Reg) int {
	if d := a.defs[r]; len(d) == 1 && a.once(d[0]) {
		return d[0]
	}
	return -1
}

// inducts reports whether a register is a linear induction.
func (a *analysis) inducts(r ir.Reg) bool {
	base, ok := a.linearAtLatch(r)
	return ok && base == r
}

// cycles reports whether the value of a register after an iteration is a function of what it and
// other such registers held before, and of nothing else that changes.
func (a *analysis) cycles(r ir.Reg) bool {
	pc := a.onlyDef(r)
	return pc >= 0 && a.cyclesDef(pc, 0)
}

func (a *analysis) cyclesDef(pc, depth int) bool {
	in := &a.k.Instrs[pc]
	if in.Op == ir.Ld && in.Space == ir.ParamSpace {
		return in.Src[0].Reg == ir.NoReg
	}
	if depth > 16 || a.opaque(in.Op) || in.Op.AlwaysExecutes() || varies(in) {
		return false
	}
	for i := range in.Src {
		if !a.cyclesOperand(&in.Src[i], pc, depth) {
			return false
		}
	}
	return true
}

func (a *analysis) cyclesOperand(o *ir.Operand, pc, depth int) bool {
	switch o.Kind {
	case ir.OperandImm, ir.OperandVar:
		return true
	case ir.OperandSpecial:
		return !o.Special.IsClock()
	case ir.OperandReg:
	default:
		return false
	}
	if len(a.defs[o.Reg]) == 0 {
		return true
	}
	def := a.onlyDef(o.Reg)
	switch {
	case def < 0:
		return false
	case def != pc && a.before(def, pc):
		return a.cyclesDef(def, depth+1)
	}
	return !a.inducts(o.Reg) // what it held at the header; it is carried, and looked at itself
}

// linearAtLatch returns the register whose value at the header, plus a loop invariant, r has at the
// end of the iteration.
func (a *analysis) linearAtLatch(r ir.Reg) (ir.Reg, bool) {
	pc := a.onlyDef(r)
	if pc < 0 && a.reaching && len(a.latch) == 1 {
		pc, _ = a.reachingDef(r, point{a.latch[0], a.k.Blocks[a.latch[0]].End})
	}
	if pc < 0 {
		return ir.NoReg, false
	}
	return a.linearDef(pc, 0)
}

// linearDef is linearAtLatch for the value that instruction pc computes.
func (a *analysis) linearDef(pc, depth int) (ir.Reg, bool) {
	in := &a.k.Instrs[pc]
	if depth > 16 || in.Mod&ir.ModCarryIn != 0 {
		return ir.NoReg, false
	}
	if in.Type.IsFloat() || in.Type.Packed() != ir.TypeInvalid || in.Mod&(ir.ModSat|ir.ModCarryOut) != 0 || !wide(in.Type) {
		return ir.NoReg, a.invariant(in, pc, depth)
	}
	switch in.Op {
	case ir.Mov:
		if len(in.Src) == 1 && len(in.Dst) == 1 {
			return a.linear(&in.Src[0], pc, depth)
		}
	case ir.Cvt:
		if a.relaxed && !in.SrcType.IsFloat() && wide(in.SrcType) {
			return a.linear(&in.Src[0], pc, depth)
		}
		return ir.NoReg, a.invariant(in, pc, depth)
	case ir.Ld, ir.St:
		if in.Mirrored() {
			return a.linear(&in.Src[1], pc, depth)
		}
		return ir.NoReg, a.invariant(in, pc, depth)
	case ir.Add:
		x, okx := a.linear(&in.Src[0], pc, depth)
		y, oky := a.linear(&in.Src[1], pc, depth)
		switch {
		case okx && oky && y == ir.NoReg:
			return x, true
		case okx && oky && x == ir.NoReg:
			return y, true
		}
	case ir.Sub:
		x, okx := a.linear(&in.Src[0], pc, depth)
		y, oky := a.linear(&in.Src[1], pc, depth)
		if okx && oky && y == ir.NoReg {
			return x, true
		}
	default:
		return ir.NoReg, a.invariant(in, pc, depth)
	}
	return ir.NoReg, false
}

// invariant reports whether an instruction computes the same in all iterations.
func (a *analysis) invariant(in *ir.Instr, pc, depth int) bool {
	if in.Op == ir.Ld && in.Space == ir.ParamSpace {
		return in.Src[0].Reg == ir.NoReg
	}
	if a.opaque(in.Op) || in.Op.AlwaysExecutes() {
		return false
	}
	for i := range in.Src {
		if base, ok := a.linear(&in.Src[i], pc, depth+1); !ok || base != ir.NoReg {
			return false
		}
	}
	return true
}

// linear describes the value of an operand when instruction pc reads it. It returns NoReg for a loop
// invariant, or the induction that the value is a constant distance from, and reports whether it is
// one of the two.
func (a *analysis) linear(o *ir.Operand, pc, depth int) (ir.Reg, bool) {
	switch o.Kind {
	case ir.OperandImm, ir.OperandVar:
		return ir.NoReg, true
	case ir.OperandSpecial:
		return ir.NoReg, !o.Special.IsClock()
	case ir.OperandReg:
	default:
		return ir.NoReg, false
	}
	if len(a.defs[o.Reg]) == 0 {
		return ir.NoReg, true
	}
	def := a.onlyDef(o.Reg)
	if def < 0 && a.reaching {
		var fromHeader bool
		if def, fromHeader = a.reachingDef(o.Reg, a.placeOf(pc)); fromHeader {
			return o.Reg, true
		}
	}
	switch {
	case def < 0:
		return ir.NoReg, false
	case def != pc && a.before(def, pc):
		return a.linearDef(def, depth+1)
	case a.before(pc, def) || def == pc || a.relaxed && !a.leadsTo(def, a.placeOf(pc)):
		return o.Reg, true // still the value it had at the header
	}
	return ir.NoReg, false
}

// wide reports whether a type has 32 or 64 bits, as inductions must.
func wide(t ir.Type) bool { return t.Size() == 4 || t.Size() == 8 }
