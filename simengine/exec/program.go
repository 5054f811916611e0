package exec

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
)

// kind says how the interpreter runs an instruction.
type kind uint8

const (
	kindInvalid kind = iota
	kind32           // f32 on registers of 32 bits
	kind64           // f64 on registers of 64 bits
	kindWiden        // d64 = a32, extended
	kindMulWide      // d64 = a32 * b32 + c64
	kindShift64      // f64 with a 32-bit b
	kindMixed        // f64 with sources extended and the result cut as needed
	kindSetp
	kindPred
	kindSelp
	kindMemory
	kindCall // run
)

// file is a register file: which kind of storage a register lives in.
type file uint8

const (
	fileNone file = iota
	file32
	file64
	filePred
)

// slot is a register after allocation.
type slot struct {
	file  file
	index int32
}

var noSlot = slot{index: -1}

// signal is what an instruction asks of the interpreter.
type signal uint8

const (
	next    signal = iota
	suspend        // the warp waits at a barrier
	faulted        // Runner.fault says why
)

// instr is one compiled instruction.
type instr struct {
	kind     kind
	signed   bool // kindWiden, kindMulWide: the sources are signed
	hasGuard bool
	guardNot bool
	guard    int32 // predicate slot
	pc       int32 // index in ir.Kernel.Instrs

	d, a, b, c, e int32 // slots, in the files the kind implies
	f32           fn32
	f64           fn64

	x *extra // what the other kinds need
}

// extra is the part of a compiled instruction that the common kinds lack.
type extra struct {
	dst    []slot
	src    []slot
	sext   uint8 // sources to sign-extend from 32 bits
	cmp32  cmp32
	cmp64  cmp64
	bool   ir.BoolOp
	not    uint8 // predicate sources to invert, by position
	access *access
	run    func(*Runner, *warp, *instr, uint32) signal
	atom   atomFunc
	imm    uint64
}

// terminator is how a block ends.
type terminator uint8

const (
	fallThrough terminator = iota
	branch
	indexedBranch
	exit
)

// block is one compiled basic block: code[start:end], then its terminator.
type block struct {
	start, end int32
	term       terminator
	hasGuard   bool
	guardNot   bool
	guard      int32 // predicate slot of the terminator
	index      int32 // indexedBranch: slot of the index
	pc         int32 // of the terminator
	target     int32 // block branched to
	fall       int32 // block fallen through to, -1 for none
	ipdom      int32
	targets    []int32
}

// Program is a kernel compiled for one mode. It is immutable and may be
// shared between goroutines.
type Program struct {
	Kernel *ir.Kernel
	Mode   Mode
	// Loops are the natural loops, outermost first within a nest.
	Loops []Loop

	code   []instr
	blocks []block

	n32, n64, npred int32 // registers of one warp, constants and specials included
	consts32        []constant32
	consts64        []constant64
	specials        []specialSlot
	accesses        int        // number of memory instructions
	dynamicShared   int        // offset of the dynamic shared array
	granule         int        // finest shared access, bytes: 1 or 4
	rewritable      bool       // a CTA leaves device memory as it was
	samplers        []*sampler // by loop; nil for one that cannot be sampled
	headOf          []int32    // by block: the loop it heads, -1
}

type constant32 struct {
	index int32
	value uint32
}

type constant64 struct {
	index int32
	value uint64
}

type specialSlot struct {
	slot slot
	reg  ir.Special
}

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

// Compile prepares a kernel for execution in one mode. It fails with an
// UnsupportedError for an instruction that is not modelled; in Slice mode
// only instructions that addresses or control flow depend on must be.
func Compile(k *ir.Kernel, mode Mode) (*Program, error) {
	if mode != Full && mode != Slice {
		return nil, fmt.Errorf("compile %s: mode %d: want Full or Slice", k.Name, mode)
	}
	c := &compiler{k: k, p: &Program{Kernel: k, Mode: mode}}
	c.needed = make([]bool, len(k.Instrs))
	if mode == Slice {
		c.needed = ir.SliceAddress(k)
	} else {
		for i := range c.needed {
			c.needed[i] = true
		}
	}
	c.p.Loops, c.dom = findLoops(k)
	c.analyse()
	c.allocate()
	c.samplers()
	c.layout()
	for b := range k.Blocks {
		if err := c.block(b); err != nil {
			return nil, err
		}
	}
	c.finish()
	return c.p, nil
}

// compiler is the state of one Compile.
type compiler struct {
	k      *ir.Kernel
	p      *Program
	needed []bool
	dom    *dominance
	slots  []slot // by ir.Reg

	shared32 map[uint32]int32
	shared64 map[uint64]int32
	special  map[ir.Special]slot
	blockOf  map[int]int32 // block that starts at an instruction index
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
	c.p.granule = 4
	c.p.rewritable = true
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
	for pc := kb.Start; pc < end; pc++ {
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

func isTerminator(op ir.Op) bool { return op == ir.Bra || op == ir.Brx || op == ir.Exit }

func (c *compiler) terminator(b *block, in *ir.Instr) error {
	pc := int(b.pc)
	if in.Guard != ir.NoReg {
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
