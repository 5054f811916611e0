package code

import (
	"fmt"
	"slices"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/loopsample"
	"github.com/warptune/warptune/simengine/exec/mma"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/alias"
	"github.com/warptune/warptune/simengine/ir/slice"
	"github.com/warptune/warptune/simengine/ir/sroa"
)

// UnsupportedError is an instruction that the interpreter does not model.
type UnsupportedError struct {
	Instr string // as PTX text
	PC    int
	Fault *fault.Fault
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
		c.needed, c.p.Distinct = slice.Distinct(c.k)
	} else {
		c.needed = all(k)
	}
	c.p.Needed = c.needed
	c.yields, c.spins, c.awaits = k.Yields(), k.Spins(), k.SharedSpins()
	c.ends = k.EndsOfWaits()
	c.p.Spins, c.p.SharedSpins = c.spins != nil, c.awaits != nil
	c.findLoops()
	c.straighten()
	c.allocate()
	c.samplers()
	c.layout()
	c.pointers = alias.New(c.k)
	c.findWaits()
	for b := range k.Blocks {
		if err := c.block(b); err != nil {
			return nil, err
		}
	}
	c.finish()
	c.p.Slots, c.p.Executed = c.Slots, c.k
	c.p.uniform, c.p.Exits = c.findUniformity(), exitBlocks(k)
	c.p.independent, c.p.onlyMeet = c.warpsApart()
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
		Opaque: func(op ir.Op) bool { return calls[op] != 0 },
		Async:  c.k.Specific() || slices.ContainsFunc(c.k.Instrs, func(in ir.Instr) bool { return in.Op.Async() }),
	})
}

// straighten leaves conditions of detours out of the slice of a kernel for one architecture alone, where its loops can
// be sampled then and cannot be with them, or where a quarter of the slice is there for these conditions. Then no loop is
// sampled that could not be with them.
func (c *compiler) straighten() {
	if c.p.Mode != Slice || !c.k.Specific() || !c.obstructed() {
		return
	}
	needed, loops := c.needed, c.p.Loops
	if c.needed = slice.Straight(c.k, true); slices.Equal(c.needed, needed) {
		return
	}
	if c.findLoops(); c.obstructed() {
		if 4*count(c.needed) > 3*count(needed) {
			c.needed, c.p.Loops = needed, loops
			return
		}
		for i := range loops {
			if l := &c.p.Loops[i]; l.CanSample() {
				l.Obstacle = loops[i].Obstacle
			}
		}
	}
	c.p.Needed, c.p.Distinct = c.needed, !slices.Equal(c.needed, slice.Straight(c.k, false))
}

// obstructed reports whether a loop cannot be sampled.
func (c *compiler) obstructed() bool {
	return slices.ContainsFunc(c.p.Loops, func(l loopsample.Loop) bool { return !l.CanSample() })
}

func count(marked []bool) (n int) {
	for _, m := range marked {
		if m {
			n++
		}
	}
	return n
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
	c := &compiler{k: k, p: &Program{Kernel: k, Mode: Full}, needed: all(k), Slots: make([]Slot, len(k.Regs)), pointers: alias.New(k)}
	for r := range c.Slots { // which one does not matter, nothing is executed
		c.Slots[r] = Slot{File: fileOf(k.Regs[r].Type)}
	}
	c.layout()
	for pc := range k.Instrs {
		if p.Needed[pc] || isTerminator(k.Instrs[pc].Op) {
			continue
		}
		if err := c.instr(pc); err != nil {
			return err
		}
		c.p.Code = c.p.Code[:0]
	}
	return nil
}

// compiler is the state of one Compile.
type compiler struct {
	k      *ir.Kernel
	p      *Program
	needed []bool
	Slots  []Slot // by ir.Reg

	shared32 map[uint32]int32
	shared64 map[uint64]int32
	special  map[ir.Special]Slot
	blockOf  map[int]int32 // block that starts at an instruction index

	families families // of the block being compiled
	// unwritten are the registers that may be read before they are written.
	unwritten ir.BitSet
	counting  bool         // of slow paths and of values that match
	yields    []bool       // ir.Kernel.Yields
	spins     []bool       // ir.Kernel.Spins
	awaits    []bool       // ir.Kernel.SharedSpins
	ends      map[int]bool // ir.Kernel.EndsOfWaits

	fragments map[shape]*mma.Fragment // see fragment

	operand Extra // scratch of instructions that keep none
	key     []byte

	pointers *alias.Pointers
}

// layout fixes what depends on the kernel alone.
func (c *compiler) layout() {
	c.shared32, c.shared64 = map[uint32]int32{}, map[uint64]int32{}
	c.special, c.blockOf = map[ir.Special]Slot{}, map[int]int32{}
	for i, b := range c.k.Blocks {
		c.blockOf[b.Start] = int32(i)
	}
	c.p.DynamicShared = (c.k.SharedBytes + 15) &^ 15
	if d := c.k.DynamicShared; d >= 0 && d < len(c.k.Vars) && c.k.Vars[d].Offset > 0 {
		c.p.DynamicShared = c.k.Vars[d].Offset
	}
	c.p.LoopHeadedBy = make([]int32, len(c.k.Blocks))
	for i := range c.p.LoopHeadedBy {
		c.p.LoopHeadedBy[i] = -1
	}
	for i := range c.p.Loops {
		c.p.LoopHeadedBy[c.p.Loops[i].Head] = int32(i)
	}
	c.p.Granule, c.p.GlobalGranule = 4, 4
	c.p.Rewritable = true
}

func isTerminator(op ir.Op) bool { return op == ir.Bra || op == ir.Brx || op == ir.Exit }

// finish fixes the size of the register files.
func (c *compiler) finish() {
	for v, i := range c.shared32 {
		c.p.Constants32 = append(c.p.Constants32, constant32{i, v})
	}
	for v, i := range c.shared64 {
		c.p.Constants64 = append(c.p.Constants64, constant64{i, v})
	}
	for reg, s := range c.special {
		c.p.Specials = append(c.p.Specials, SpecialSlot{s, reg})
	}
	// Slot 0 of each file always exists: unused operands point there.
	c.p.N32, c.p.N64, c.p.NPred = max(c.p.N32, 1), max(c.p.N64, 1), max(c.p.NPred, 1)
}

// unsupported is the error for instruction pc.
func (c *compiler) unsupported(pc int, detail string) error {
	f := &fault.Fault{Kind: fault.Unsupported, PC: pc, Thread: -1, CTA: -1, Detail: detail}
	if pc >= 0 && pc < len(c.k.Instrs) {
		f.Pos, f.Instr = c.k.Instrs[pc].Pos, c.k.Text(pc)
	}
	return &UnsupportedError{Instr: f.Instr, PC: pc, Fault: f}
}

// block compiles one basic block.
func (c *compiler) block(i int) error {
	kb := &c.k.Blocks[i]
	b := Block{Start: int32(len(c.p.Code)), Fall: -1, Target: -1, IPDom: int32(kb.IPDom), PC: int32(kb.End - 1)}
	end := kb.End
	if end > kb.Start && isTerminator(c.k.Instrs[end-1].Op) {
		end--
		if err := c.terminator(&b, &c.k.Instrs[end]); err != nil {
			return err
		}
	}
	if b.Spins = c.spins != nil && c.spins[i]; b.Spins && c.p.Mode == Slice { // it waits no longer: see ir.Kernel.Spins
		b.Terminator, b.HasGuard, b.Target = FallThrough, false, -1
	}
	if taken, ends := c.ends[kb.End-1]; ends && !taken && c.p.Mode == Slice { // see ir.Kernel.EndsOfWaits
		b.Terminator, b.HasGuard, b.Target = FallThrough, false, -1
	}
	if b.Terminator == FallThrough || b.HasGuard {
		b.Fall = int32(i + 1)
		if b.Awaits = c.awaits != nil && c.awaits[i]; b.Awaits && c.k.SpinsAgain(i) {
			b.Fall = int32(i)
		}
		if i+1 >= len(c.k.Blocks) {
			if end == kb.Start || c.k.Instrs[end-1].Op != ir.Trap {
				return c.unsupported(kb.End-1, "control runs past the end of the kernel")
			}
			b.Fall = -1
		}
	}
	b.Yields, b.LeavesYielding = c.yields[i], c.leavesYielding(i)
	c.families = families{open: map[familyKey]int{}}
	for pc := kb.Start; pc < end; pc++ {
		op := c.k.Instrs[pc].Op
		b.Joins = b.Joins || c.k.Instrs[pc].Together()
		b.Wgmma = b.Wgmma || op == ir.Wgmma && c.p.Mode == Full
		b.Barrier = b.Barrier || op == ir.Bar || op == ir.BarRed
		b.Tells = b.Tells || c.awaits != nil && c.p.Mode == Slice && op.WritesMemory() && !b.Awaits
		if isTerminator(c.k.Instrs[pc].Op) {
			return c.unsupported(pc, "branch inside a basic block")
		}
		if err := c.instr(pc); err != nil {
			return err
		}
	}
	b.End = int32(len(c.p.Code))
	b.Size = b.End - b.Start
	c.p.Blocks = append(c.p.Blocks, b)
	return nil
}

func (c *compiler) terminator(b *Block, in *ir.Instr) error {
	pc := int(b.PC)
	if in.Guard != ir.NoReg && (c.needed[pc] || in.Op != ir.Bra) { // a branch that is not needed is taken
		b.HasGuard, b.GuardNot, b.Guard = true, in.GuardNot, c.Slots[in.Guard].Index
	}
	switch in.Op {
	case ir.Exit:
		b.Terminator = Exit
	case ir.Bra:
		b.Terminator = Branch
		t, ok := c.blockOf[in.Target]
		if !ok {
			return c.unsupported(pc, "branch to the middle of a block")
		}
		b.Target = t
	case ir.Brx:
		b.Terminator = IndexedBranch
		s, err := c.source(pc, &in.Src[0], ir.U32)
		if err != nil {
			return err
		}
		b.Index = s.Index
		for _, target := range in.Targets {
			t, ok := c.blockOf[target]
			if !ok {
				return c.unsupported(pc, "branch to the middle of a block")
			}
			b.Targets = append(b.Targets, t)
		}
	}
	return nil
}
