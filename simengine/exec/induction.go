package exec

import "github.com/warptune/warptune/simengine/ir"

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
		l.Obstacle = a.run()
	}
}

func (a *loopAnalysis) run() string {
	a.collect()
	if o := a.findExit(); o != "" {
		return o
	}
	for r := range a.defs {
		if a.live.Has(r) {
			a.l.carried = append(a.l.carried, r)
		}
	}
	sortRegs(a.l.carried)
	for _, r := range a.l.carried {
		if base, ok := a.linearAtLatch(r); !ok || base != r {
			return "register " + a.k.Regs[r].Name + " is carried round the loop and is not a linear induction"
		}
	}
	if o := a.findTest(); o != "" {
		return o
	}
	return a.variantControl()
}

// collect finds the loop's definitions, latches and barriers.
func (a *loopAnalysis) collect() {
	a.defs = map[ir.Reg][]int{}
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

// findExit finds the one block that leaves the loop.
func (a *loopAnalysis) findExit() string {
	exits := -1
	for _, b := range a.l.Blocks {
		blk := &a.k.Blocks[b]
		last := &a.k.Instrs[blk.End-1]
		if last.Op == ir.Exit || last.Op == ir.Trap || last.Op == ir.Brx {
			return "it contains " + last.Op.String()
		}
		for _, s := range blk.Succs {
			if a.l.blocks[s] {
				continue
			}
			if exits >= 0 && exits != b {
				return "several blocks leave it"
			}
			exits = b
		}
	}
	if exits < 0 {
		return "nothing leaves it"
	}
	for _, latch := range a.latch {
		if !a.dom.dominates(exits, latch) {
			return "not every iteration passes the block that leaves it"
		}
	}
	if a.inner[exits] != a.self {
		return "it is left from an inner loop"
	}
	a.l.test.block = exits
	a.l.test.latch = len(a.latch) == 1 && a.latch[0] == exits
	return ""
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

// linearAtLatch finds the register whose value at the header, plus something
// the same in all iterations, r has at the end of the iteration.
func (a *loopAnalysis) linearAtLatch(r ir.Reg) (ir.Reg, bool) {
	pc := a.onlyDef(r)
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

// findTest finds the comparison behind the exit branch.
func (a *loopAnalysis) findTest() string {
	t := &a.l.test
	blk := &a.k.Blocks[t.block]
	bra := &a.k.Instrs[blk.End-1]
	if bra.Op != ir.Bra || bra.Guard == ir.NoReg {
		return "it is not left by a branch with a guard"
	}
	pc := a.onlyDef(bra.Guard)
	if pc < 0 || !a.before(pc, blk.End-1) {
		return "the guard that ends it is computed in several places"
	}
	in := &a.k.Instrs[pc]
	if in.Op != ir.Setp || len(in.Src) != 2 || in.Type.IsFloat() || width(in.Type) < 32 {
		return "it is not ended by one comparison of integers"
	}
	x, okx := a.linear(&in.Src[0], pc, 0)
	y, oky := a.linear(&in.Src[1], pc, 0)
	t.induct, t.limit, t.cmp, t.typ = in.Src[0], in.Src[1], in.Cmp, in.Type
	switch {
	case okx && oky && x != ir.NoReg && y == ir.NoReg:
	case okx && oky && x == ir.NoReg && y != ir.NoReg:
		t.induct, t.limit, t.cmp = in.Src[1], in.Src[0], swapped(in.Cmp)
	default:
		return "it is not ended by comparing an induction with a constant"
	}
	if t.limit.Kind != ir.OperandReg && t.limit.Kind != ir.OperandImm {
		return "its limit is not a register or a constant"
	}
	t.ahead = a.before(pc, a.onlyDef(t.induct.Reg))
	taken := a.l.blocks[a.k.BlockOf(bra.Target)] // the loop goes on when the branch is taken
	t.goesOn = taken != bra.GuardNot
	if len(in.Dst) > 1 && in.Dst[1] == bra.Guard {
		t.goesOn = !t.goesOn
	}
	return ""
}

// swapped is the comparison with its sides exchanged.
func swapped(c ir.Cmp) ir.Cmp {
	switch c {
	case ir.CmpLT:
		return ir.CmpGT
	case ir.CmpLE:
		return ir.CmpGE
	case ir.CmpGT:
		return ir.CmpLT
	case ir.CmpGE:
		return ir.CmpLE
	case ir.CmpLO:
		return ir.CmpHI
	case ir.CmpLS:
		return ir.CmpHS
	case ir.CmpHI:
		return ir.CmpLO
	case ir.CmpHS:
		return ir.CmpLS
	}
	return c
}

// variantControl looks for control flow, guards and writes that differ from
// one iteration to the next.
func (a *loopAnalysis) variantControl() string {
	variant := ir.NewBitSet(len(a.k.Regs))
	for _, r := range a.l.carried {
		variant.Add(r)
	}
	for changed := true; changed; {
		changed = false
		a.eachInstr(func(pc int, in *ir.Instr) string {
			if a.needed[pc] && (varies(in) || a.readsAny(in, variant)) {
				for _, r := range in.Dst {
					if r != ir.NoReg && !variant.Has(r) {
						variant.Add(r)
						changed = true
					}
				}
			}
			return ""
		})
	}
	exit := a.k.Blocks[a.l.test.block].End - 1
	return a.eachInstr(func(pc int, in *ir.Instr) string {
		if pc == exit || !executes(in.Op) {
			return ""
		}
		switch {
		case a.needed[pc] && writesMemory(in.Op):
			return "`" + a.k.Text(pc) + "` writes what addresses may depend on"
		case in.Guard != ir.NoReg && variant.Has(in.Guard):
			return "the guard of `" + a.k.Text(pc) + "` may differ between iterations"
		case (in.Op == ir.Bar || in.Op == ir.BarRed) && a.readsAny(in, variant):
			return "`" + a.k.Text(pc) + "` may differ between iterations"
		}
		return ""
	})
}

func (a *loopAnalysis) eachInstr(f func(pc int, in *ir.Instr) string) string {
	for _, b := range a.l.Blocks {
		blk := &a.k.Blocks[b]
		for pc := blk.Start; pc < blk.End; pc++ {
			if o := f(pc, &a.k.Instrs[pc]); o != "" {
				return o
			}
		}
	}
	return ""
}

func (a *loopAnalysis) readsAny(in *ir.Instr, set ir.BitSet) bool {
	var buf [8]ir.Reg
	for _, r := range in.AppendUses(buf[:0]) {
		if set.Has(r) {
			return true
		}
	}
	return false
}

// varies reports an instruction whose result may differ between iterations
// though its sources do not.
func varies(in *ir.Instr) bool {
	switch in.Op {
	case ir.Ld, ir.Ldu:
		return in.Space != ir.ParamSpace && in.Space != ir.Const && in.Mod&ir.ModNonCoherent == 0
	case ir.Atom:
		return true
	case ir.Mov:
		return len(in.Src) == 1 && in.Src[0].Kind == ir.OperandSpecial && isClock(in.Src[0].Special)
	}
	return in.Mod&ir.ModCarryIn != 0
}

func writesMemory(op ir.Op) bool {
	return op == ir.St || op == ir.Atom || op == ir.Red || op == ir.CpAsync
}

func sortRegs(r []ir.Reg) {
	for i := range r {
		for j := i; j > 0 && r[j] < r[j-1]; j-- {
			r[j], r[j-1] = r[j-1], r[j]
		}
	}
}
