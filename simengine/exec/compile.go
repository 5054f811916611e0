package exec

import (
	"fmt"
	"slices"

	"github.com/warptune/warptune/simengine/exec/loopsample"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/sroa"
)

// UnsupportedError is an instruction that the interpreter does not model.
type UnsupportedError struct {
	Instr string // as PTX text
	PC    int
	Fault *Fault
}

// Error is one line naming the instruction and its place.
func (e *UnsupportedError) Error() string { return e.Fault.Error() }

// Unwrap gives the fault.
func (e *UnsupportedError) Unwrap() error { return e.Fault }

// Compile prepares a kernel for execution in one mode. It fails with an *UnsupportedError for an
// instruction that is not modelled. In Slice mode only the instructions that addresses or control
// flow depend on must be modelled, and pointer parameters are taken to point to distinct buffers;
// where that matters, Runner.Run refuses a launch in which two are equal.
func Compile(k *ir.Kernel, mode Mode) (*Program, error) { return compile(k, mode, false) }

// compile is Compile. counting is set for a program that counts slow paths and matches.
func compile(k *ir.Kernel, mode Mode, counting bool) (*Program, error) {
	if mode != Full && mode != Slice {
		return nil, fmt.Errorf("compile %s: mode %d: want Full or Slice", k.Name, mode)
	}
	c := &compiler{k: k, p: &Program{Kernel: k, Mode: mode}, counting: counting}
	if mode == Slice {
		c.k = sroa.Mirror(k)
		c.needed = ir.SliceDistinct(c.k)
		c.p.distinct = !slices.Equal(c.needed, ir.SliceAddress(c.k))
	} else {
		c.needed = all(k)
	}
	c.p.needed = c.needed
	c.yields = k.Yields()
	c.findLoops()
	c.straighten()
	c.allocate()
	c.samplers()
	c.layout()
	c.pointers = c.k.Pointers()
	c.findWaits()
	for b := range k.Blocks {
		if err := c.block(b); err != nil {
			return nil, err
		}
	}
	c.finish()
	c.p.slots, c.p.executed = c.slots, c.k
	c.p.uniform, c.p.warpsIndependent, c.p.exits = c.findUniformity(), c.warpsIndependent(), exitBlocks(k)
	return c.p, nil
}

// findLoops finds the loops and, in Slice mode, which of them can be sampled.
func (c *compiler) findLoops() {
	if c.p.Mode != Slice {
		c.p.Loops = loopsample.Find(c.p.Kernel, nil)
		return
	}
	c.p.Loops = loopsample.Find(c.k, &loopsample.Slice{
		Kernel: c.k, Needed: c.needed, Yields: c.yields,
		LiveIn: func() []ir.BitSet { in, _ := c.liveness(); return in },
		Opaque: func(op ir.Op) bool { return calls[op] != nil },
		Async:  c.k.Specific() || slices.ContainsFunc(c.k.Instrs, func(in ir.Instr) bool { return in.Op.Async() }),
	})
}

// straighten leaves conditions of detours out of the slice of a kernel for one architecture alone, where its loops can
// be sampled then and cannot be with them.
func (c *compiler) straighten() {
	if c.p.Mode != Slice || !c.k.Specific() || !c.obstructed() {
		return
	}
	needed, loops := c.needed, c.p.Loops
	if c.needed = ir.SliceStraight(c.k, true); slices.Equal(c.needed, needed) {
		return
	}
	if c.findLoops(); c.obstructed() {
		c.needed, c.p.Loops = needed, loops
		return
	}
	c.p.needed, c.p.distinct = c.needed, !slices.Equal(c.needed, ir.SliceStraight(c.k, false))
}

// obstructed reports whether a loop cannot be sampled.
func (c *compiler) obstructed() bool {
	return slices.ContainsFunc(c.p.Loops, func(l loopsample.Loop) bool { return !l.CanSample() })
}

// all marks every instruction of a kernel.
func all(k *ir.Kernel) []bool {
	needed := make([]bool, len(k.Instrs))
	for i := range needed {
		needed[i] = true
	}
	return needed
}

// Complete reports, by a nil error, whether the kernel could be compiled for Full mode too. The
// error is the one that Compile would return, for an instruction that the slice leaves out.
func (p *Program) Complete() error {
	k := p.Kernel
	c := &compiler{k: k, p: &Program{Kernel: k, Mode: Full}, needed: all(k), slots: make([]slot, len(k.Regs)), pointers: k.Pointers()}
	for r := range c.slots { // which one does not matter, nothing is executed
		c.slots[r] = slot{file: fileOf(k.Regs[r].Type)}
	}
	c.layout()
	for pc := range k.Instrs {
		if p.needed[pc] || isTerminator(k.Instrs[pc].Op) {
			continue
		}
		if err := c.instr(pc); err != nil {
			return err
		}
		c.p.code = c.p.code[:0]
	}
	return nil
}

// compiler is the state of one Compile.
type compiler struct {
	k      *ir.Kernel
	p      *Program
	needed []bool
	slots  []slot // by ir.Reg

	shared32 map[uint32]int32
	shared64 map[uint64]int32
	special  map[ir.Special]slot
	blockOf  map[int]int32 // block that starts at an instruction index

	families families // of the block being compiled
	// unwritten are the registers that may be read before they are written.
	unwritten ir.BitSet
	counting  bool   // of slow paths and of values that match
	yields    []bool // ir.Kernel.Yields

	operand extra // scratch of instructions that keep none
	key     []byte

	pointers *ir.Pointers
}

// layout fixes what depends on the kernel alone.
func (c *compiler) layout() {
	c.shared32, c.shared64 = map[uint32]int32{}, map[uint64]int32{}
	c.special, c.blockOf = map[ir.Special]slot{}, map[int]int32{}
	for i, b := range c.k.Blocks {
		c.blockOf[b.Start] = int32(i)
	}
	c.p.dynamicShared = (c.k.SharedBytes + 15) &^ 15
	if d := c.k.DynamicShared; d >= 0 && d < len(c.k.Vars) && c.k.Vars[d].Offset > 0 {
		c.p.dynamicShared = c.k.Vars[d].Offset
	}
	c.p.headOf = make([]int32, len(c.k.Blocks))
	for i := range c.p.headOf {
		c.p.headOf[i] = -1
	}
	for i := range c.p.Loops {
		c.p.headOf[c.p.Loops[i].Head] = int32(i)
	}
	c.p.granule, c.p.globalGranule = 4, 4
	c.p.rewritable = true
}

func isTerminator(op ir.Op) bool { return op == ir.Bra || op == ir.Brx || op == ir.Exit }

// finish fixes the size of the register files.
func (c *compiler) finish() {
	for v, i := range c.shared32 {
		c.p.consts32 = append(c.p.consts32, constant32{i, v})
	}
	for v, i := range c.shared64 {
		c.p.consts64 = append(c.p.consts64, constant64{i, v})
	}
	for reg, s := range c.special {
		c.p.specials = append(c.p.specials, specialSlot{s, reg})
	}
	// Slot 0 of each file always exists: unused operands point there.
	c.p.n32, c.p.n64, c.p.npred = max(c.p.n32, 1), max(c.p.n64, 1), max(c.p.npred, 1)
}

// unsupported is the error for instruction pc.
func (c *compiler) unsupported(pc int, detail string) error {
	f := &Fault{Kind: Unsupported, PC: pc, Thread: -1, CTA: -1, Detail: detail}
	if pc >= 0 && pc < len(c.k.Instrs) {
		f.Pos, f.Instr = c.k.Instrs[pc].Pos, c.k.Text(pc)
	}
	return &UnsupportedError{Instr: f.Instr, PC: pc, Fault: f}
}

// block compiles one basic block.
func (c *compiler) block(i int) error {
	kb := &c.k.Blocks[i]
	b := block{start: int32(len(c.p.code)), fall: -1, target: -1, ipdom: int32(kb.IPDom), pc: int32(kb.End - 1)}
	end := kb.End
	if end > kb.Start && isTerminator(c.k.Instrs[end-1].Op) {
		end--
		if err := c.terminator(&b, &c.k.Instrs[end]); err != nil {
			return err
		}
	}
	if b.term == fallThrough || b.hasGuard {
		b.fall = int32(i + 1)
		if i+1 >= len(c.k.Blocks) {
			if end == kb.Start || c.k.Instrs[end-1].Op != ir.Trap {
				return c.unsupported(kb.End-1, "control runs past the end of the kernel")
			}
			b.fall = -1
		}
	}
	b.yields, b.leaves = c.yields[i], c.leavesYielding(i)
	c.families = families{open: map[familyKey]int{}}
	for pc := kb.Start; pc < end; pc++ {
		op := c.k.Instrs[pc].Op
		b.joins = b.joins || c.k.Instrs[pc].Together()
		b.products = b.products || op == ir.Wgmma && c.p.Mode == Full
		b.barrier = b.barrier || op == ir.Bar || op == ir.BarRed
		if isTerminator(c.k.Instrs[pc].Op) {
			return c.unsupported(pc, "branch inside a basic block")
		}
		if err := c.instr(pc); err != nil {
			return err
		}
	}
	b.end = int32(len(c.p.code))
	c.p.blocks = append(c.p.blocks, b)
	return nil
}

func (c *compiler) terminator(b *block, in *ir.Instr) error {
	pc := int(b.pc)
	if in.Guard != ir.NoReg && (c.needed[pc] || in.Op != ir.Bra) { // a branch that is not needed is taken
		b.hasGuard, b.guardNot, b.guard = true, in.GuardNot, c.slots[in.Guard].index
	}
	switch in.Op {
	case ir.Exit:
		b.term = exit
	case ir.Bra:
		b.term = branch
		t, ok := c.blockOf[in.Target]
		if !ok {
			return c.unsupported(pc, "branch to the middle of a block")
		}
		b.target = t
	case ir.Brx:
		b.term = indexedBranch
		s, err := c.source(pc, &in.Src[0], ir.U32)
		if err != nil {
			return err
		}
		b.index = s.index
		for _, target := range in.Targets {
			t, ok := c.blockOf[target]
			if !ok {
				return c.unsupported(pc, "branch to the middle of a block")
			}
			b.targets = append(b.targets, t)
		}
	}
	return nil
}
