package exec

import (
	"cmp"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// loopAnalysis decides whether one loop can be sampled.
type loopAnalysis struct {
	k      *ir.Kernel
	needed []bool
	dom    *dominance
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
}

// analyse fills in the loop's Obstacle, inductions and exit test.
func (c *compiler) analyse() {
	if c.p.Mode != Slice || len(c.p.Loops) == 0 {
		return
	}
	in, _ := c.liveness()
	inner := make([]int, len(c.k.Blocks))
	for b := range inner {
		inner[b] = -1
		for i := range c.p.Loops {
			if c.p.Loops[i].blocks[b] {
				inner[b] = i // inner loops come last
			}
		}
	}
	for i := range c.p.Loops {
		l := &c.p.Loops[i]
		a := loopAnalysis{k: c.k, needed: c.needed, dom: c.dom, loops: c.p.Loops, l: l, live: in[l.Head], inner: inner, self: i}
		if slices.ContainsFunc(l.Blocks, func(b int) bool { return c.yields[b] }) {
			l.Obstacle = "lanes of a warp yield to each other in it"
			continue
		}
		if l.Obstacle = a.run(); !l.counted {
			a.runReaching()
		}
	}
}

func (a *loopAnalysis) run() string {
	a.collect()
	if o := a.findExit(); o != "" {
		return o
	}
	obstacle := a.findCarried()
	if o := a.findTest(); o != "" {
		return cmp.Or(obstacle, o)
	}
	a.l.counted = true
	return cmp.Or(obstacle, a.variantControl())
}

// runReaching looks again at a loop that cannot be sampled, for whether its iterations
// can be counted.
func (a *loopAnalysis) runReaching() {
	was := *a.l
	a.reaching = true
	a.l.carried, a.l.turning, a.l.guards = nil, nil, nil
	if a.run(); !a.l.counted {
		*a.l = was
	}
	a.l.Obstacle = was.Obstacle
}

// findCarried sorts the registers that the slice carries round the loop, and says
// which one follows no rule.
func (a *loopAnalysis) findCarried() (obstacle string) {
	for r := range a.defs {
		if a.live.Has(r) {
			a.l.carried = append(a.l.carried, r)
		}
	}
	sortRegs(a.l.carried)
	carried := a.l.carried
	a.l.carried = nil
	for _, r := range carried {
		switch {
		case a.inducts(r):
			a.l.carried = append(a.l.carried, r)
		case a.turns(r):
			a.l.turning = append(a.l.turning, r)
		default:
			obstacle = cmp.Or(obstacle, "register "+a.k.Regs[r].Name+" is carried round the loop and is not a linear induction")
		}
	}
	return obstacle
}

// collect finds the loop's definitions, latches and barriers.
func (a *loopAnalysis) collect() {
	a.defs, a.latch = map[ir.Reg][]int{}, nil
	for _, b := range a.l.Blocks {
		blk := &a.k.Blocks[b]
		for pc := blk.Start; pc < blk.End; pc++ {
			in := &a.k.Instrs[pc]
			a.l.Barriers = a.l.Barriers || in.Op == ir.Bar || in.Op == ir.BarRed
			if !a.needed[pc] {
				continue
			}
			for _, r := range in.Dst {
				if r != ir.NoReg {
					a.defs[r] = append(a.defs[r], pc)
				}
			}
		}
		for _, s := range blk.Succs {
			if s == a.l.Head {
				a.latch = append(a.latch, b)
			}
		}
	}
}

// once reports whether pc runs exactly once in every iteration.
func (a *loopAnalysis) once(pc int) bool {
	b := a.k.BlockOf(pc)
	if a.k.Instrs[pc].Guard != ir.NoReg || a.inner[b] != a.self {
		return false
	}
	for _, latch := range a.latch {
		if !a.dom.dominates(b, latch) {
			return false
		}
	}
	return true
}

// before reports whether p runs before q in every iteration, both once.
func (a *loopAnalysis) before(p, q int) bool {
	bp, bq := a.k.BlockOf(p), a.k.BlockOf(q)
	if bp == bq {
		return p < q
	}
	return a.dom.dominates(bp, bq)
}

// onlyDef is the one definition of r in the loop, -1 if there are several or
// it does not run exactly once an iteration.
func (a *loopAnalysis) onlyDef(r ir.Reg) int {
	if d := a.defs[r]; len(d) == 1 && a.once(d[0]) {
		return d[0]
	}
	return -1
}

// inducts says that a register is a linear induction.
func (a *loopAnalysis) inducts(r ir.Reg) bool {
	base, ok := a.linearAtLatch(r)
	return ok && base == r
}

// turns says that what a register holds after an iteration follows from what it
// and others that turn held before it, and from nothing else that changes.
func (a *loopAnalysis) turns(r ir.Reg) bool {
	pc := a.onlyDef(r)
	return pc >= 0 && a.turnsDef(pc, 0)
}

func (a *loopAnalysis) turnsDef(pc, depth int) bool {
	in := &a.k.Instrs[pc]
	if in.Op == ir.Ld && in.Space == ir.ParamSpace {
		return in.Src[0].Reg == ir.NoReg
	}
	if depth > 16 || calls[in.Op] != nil || executes(in.Op) || varies(in) {
		return false
	}
	for i := range in.Src {
		if !a.turnsOperand(&in.Src[i], pc, depth) {
			return false
		}
	}
	return true
}

func (a *loopAnalysis) turnsOperand(o *ir.Operand, pc, depth int) bool {
	switch o.Kind {
	case ir.OperandImm, ir.OperandVar:
		return true
	case ir.OperandSpecial:
		return !isClock(o.Special)
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
		return a.turnsDef(def, depth+1)
	}
	return !a.inducts(o.Reg) // what it held at the header; it is carried, and looked at itself
}

// linearAtLatch finds the register whose value at the header, plus something
// the same in all iterations, r has at the end of the iteration.
func (a *loopAnalysis) linearAtLatch(r ir.Reg) (ir.Reg, bool) {
	pc := a.onlyDef(r)
	if pc < 0 && a.reaching && len(a.latch) == 1 {
		pc, _ = a.reachingDef(r, place{a.latch[0], a.k.Blocks[a.latch[0]].End})
	}
	if pc < 0 {
		return ir.NoReg, false
	}
	return a.linearDef(pc, 0)
}

// linearDef is linearAtLatch for the value that instruction pc computes.
func (a *loopAnalysis) linearDef(pc, depth int) (ir.Reg, bool) {
	in := &a.k.Instrs[pc]
	if depth > 16 || in.Mod&ir.ModCarryIn != 0 {
		return ir.NoReg, false
	}
	if in.Type.IsFloat() || in.Type.Packed() != ir.TypeInvalid || in.Mod&(ir.ModSat|ir.ModCarryOut) != 0 || width(in.Type) < 32 {
		return ir.NoReg, a.invariant(in, pc, depth)
	}
	switch in.Op {
	case ir.Mov:
		if len(in.Src) == 1 && len(in.Dst) == 1 {
			return a.linear(&in.Src[0], pc, depth)
		}
	case ir.Ld, ir.St:
		if in.Private() {
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

// invariant reports an instruction whose sources are the same in all
// iterations and that depends on nothing else.
func (a *loopAnalysis) invariant(in *ir.Instr, pc, depth int) bool {
	if in.Op == ir.Ld && in.Space == ir.ParamSpace {
		return in.Src[0].Reg == ir.NoReg
	}
	if calls[in.Op] != nil || executes(in.Op) {
		return false
	}
	for i := range in.Src {
		if base, ok := a.linear(&in.Src[i], pc, depth+1); !ok || base != ir.NoReg {
			return false
		}
	}
	return true
}

// linear is the value an operand has when instruction pc reads it: NoReg for
// one that is the same in all iterations, else the induction it follows.
func (a *loopAnalysis) linear(o *ir.Operand, pc, depth int) (ir.Reg, bool) {
	switch o.Kind {
	case ir.OperandImm, ir.OperandVar:
		return ir.NoReg, true
	case ir.OperandSpecial:
		return ir.NoReg, !isClock(o.Special)
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
	case a.before(pc, def) || def == pc:
		return o.Reg, true // still the value it had at the header
	}
	return ir.NoReg, false
}

func sortRegs(r []ir.Reg) {
	for i := range r {
		for j := i; j > 0 && r[j] < r[j-1]; j-- {
			r[j], r[j-1] = r[j-1], r[j]
		}
	}
}
