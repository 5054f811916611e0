package exec

import (
	"slices"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/loopsample"

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
	retry          // the warp waits before the instruction
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
	f32           alu.Func32
	f64           alu.Func64

	x *extra // what the other kinds need
}

// extra is the part of a compiled instruction that the common kinds lack.
type extra struct {
	dst    []slot
	src    []slot
	sext   uint8 // sources to sign-extend from 32 bits
	cmp32  alu.Compare32
	cmp64  alu.Compare64
	bool   ir.BoolOp
	not    uint8 // predicate sources to invert, by position
	access *access
	run    func(*Runner, *warp, *instr, uint32) signal
	atom   alu.AtomicFunc
	imm    uint64
	matrix *matrix // Mma
	async  *asyncOp
	group  *groupProduct // Wgmma
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
	yields     bool // ir.Kernel.Yields
	leaves     bool // lanes that leave such a loop here go on where others of it may come later
	joins      bool // it has an instruction that lanes of a warp execute together
	barrier    bool // it has a barrier of the CTA
	products   bool // it has warpgroup MMAs, in Full mode
}

// Program is a kernel compiled for one mode. It is immutable and may be
// shared between goroutines.
type Program struct {
	Kernel *ir.Kernel
	Mode   Mode
	// Loops are the natural loops, outermost first within a nest.
	Loops []loopsample.Loop

	uniform          ctaUniformity
	warpsIndependent bool   // the path of a warp does not depend on what other warps of its CTA do
	needed           []bool // by instruction: its result is computed
	code             []instr
	blocks           []block

	n32, n64, npred int32 // registers of one warp, constants and specials included
	consts32        []constant32
	consts64        []constant64
	specials        []specialSlot
	unwritten       []slot     // what may be read before it is written
	accesses        int        // number of memory instructions
	mapUses         int        // number of instructions that use tensor maps
	origins         []uint64   // by access.index: the parameters and variables that it may point into; see bounds.go
	families        int        // most families of a block
	dynamicShared   int        // offset of the dynamic shared array
	granule         int        // finest shared access, bytes: 1, 2 or 4
	globalGranule   int        // finest access to device memory, as much
	writers         []int      // accesses, by access.index, that may write device memory
	rewritable      bool       // a CTA leaves device memory as it was
	distinct        bool       // the slice relies on pointer parameters being distinct
	blocking        bool       // waits for mbarriers and clusters block
	tracks          bool       // bulk copies or warpgroup MMAs are in flight, in Full mode
	waits           bool       // warps wait for each other, or for other CTAs, beside at barriers of the CTA
	samplers        []*sampler // by loop; nil for one that cannot be sampled
	headOf          []int32    // by block: the loop it heads, -1
	exits           []bool     // by block: a lane that comes there has nothing left to do but exit
	slow            []int32    // the operations whose slow paths are counted
	matched         []int32    // those whose lanes' values are
	slots           []slot     // by register of executed
	executed        *ir.Kernel // Kernel, or with registers for what it keeps in local memory
	flows           flowTable
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

// CanEstimate reports whether the program has a loop that can be sampled by Options.Estimate only.
func (p *Program) CanEstimate() bool {
	return slices.ContainsFunc(p.Loops, func(l loopsample.Loop) bool { return l.CanEstimate() })
}
