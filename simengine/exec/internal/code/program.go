// Package code is a kernel compiled for execution: instructions over numbered register files, by basic block, and what
// the interpreter has to know of the kernel. Compile makes it of a kernel. In Slice mode it has the instructions alone that
// addresses and branches depend on. Package exec runs it.
package code

import (
	"slices"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/loopsample"
	"github.com/warptune/warptune/simengine/exec/mma"

	"github.com/warptune/warptune/simengine/ir"
)

// Kind says how the interpreter runs an instruction.
type Kind uint8

const (
	kindInvalid Kind = iota
	Kind32           // F32 on registers of 32 bits
	Kind64           // F64 on registers of 64 bits
	KindWiden        // d64 = a32, extended
	KindMulWide      // d64 = a32 * b32 + c64
	KindShift64      // F64 with a 32-bit b
	KindMixed        // F64 with sources extended and the result cut as needed
	KindSetp
	KindPred
	KindSelp
	KindMemory
	KindCall // Extra.Call
)

// File is a register file: which kind of storage a register lives in.
type File uint8

const (
	FileNone File = iota
	File32
	File64
	FilePred
)

// Slot is a register after allocation.
type Slot struct {
	File  File
	Index int32
}

var noSlot = Slot{Index: -1}

// Instr is one compiled instruction.
type Instr struct {
	Kind     Kind
	Signed   bool // KindWiden, KindMulWide: the sources are signed
	HasGuard bool
	GuardNot bool
	Guard    int32 // predicate slot
	PC       int32 // index in ir.Kernel.Instrs

	D, A, B, C, E int32 // slots, in the files the kind implies
	F32           alu.Func32
	F64           alu.Func64

	X *Extra // what the other kinds need
}

// Extra is the part of a compiled instruction that the common kinds lack.
type Extra struct {
	Dst     []Slot
	Src     []Slot
	Sext    uint8 // sources to sign-extend from 32 bits
	Cmp32   alu.Compare32
	Cmp64   alu.Compare64
	BoolOp  ir.BoolOp
	Not     uint8 // predicate sources to invert, by position
	Access  *Access
	Call    Call
	Atom    alu.AtomicFunc
	Imm     uint64
	Matrix  *mma.MMA // Mma
	Async   *AsyncOp
	Group   *mma.WarpgroupMMA // Wgmma
	Texture *TextureOp
}

// reservedShared is the shared memory that the system keeps for itself in each CTA, bytes (compute capability 8.0 and
// later), where a kernel asks where it is: cooperative groups of several warps exchange what they reduce there.
const reservedShared = 1 << 10

// ReservedShared is the system's shared memory that the kernel may reach.
func (p *Program) ReservedShared() int {
	for _, s := range p.Specials {
		switch s.Reg {
		case ir.ReservedSmemBegin, ir.ReservedSmemEnd, ir.ReservedSmemCap, ir.ReservedSmem0, ir.ReservedSmem1:
			return reservedShared
		}
	}
	return 0
}

// Terminator is how a block ends.
type Terminator uint8

const (
	FallThrough Terminator = iota
	Branch
	IndexedBranch
	Exit
)

// Block is one compiled basic block: code[start:end], then its terminator.
type Block struct {
	Start, End     int32
	Size           int32 // instructions of the block in the scope that leaves out none
	Terminator     Terminator
	HasGuard       bool
	GuardNot       bool
	Guard          int32 // predicate slot of the terminator
	Index          int32 // IndexedBranch: slot of the index
	PC             int32 // of the terminator
	Target         int32 // block branched to
	Fall           int32 // block fallen through to, -1 for none
	IPDom          int32
	Targets        []int32
	Yields         bool // ir.Kernel.Yields
	LeavesYielding bool // lanes that leave such a loop here go on where others of it may come later
	Joins          bool // it has an instruction that lanes of a warp execute together
	Barrier        bool // it has a barrier of the CTA
	Wgmma          bool // it has warpgroup MMAs, in Full mode
	Spins          bool // ir.Kernel.Spins
	Awaits         bool // ir.Kernel.SharedSpins
	Tells          bool // in Slice mode: it may write what warps await so
}

// Program is a kernel compiled for one mode. It is immutable and may be
// shared between goroutines.
type Program struct {
	Kernel *ir.Kernel
	Mode   Mode
	// Loops are the natural loops, outermost first within a nest.
	Loops []loopsample.Loop

	uniform     ctaUniformity
	independent bool   // the path of a warp does not depend on what other warps of its CTA do
	onlyMeet    bool   // nor but at barriers of all
	Needed      []bool // by instruction: its result is computed
	Code        []Instr
	Blocks      []Block

	N32, N64, NPred int32 // registers of one warp, constants and specials included
	Constants32     []constant32
	Constants64     []constant64
	Specials        []SpecialSlot
	Unwritten       []Slot     // what may be read before it is written
	Accesses        int        // number of memory instructions
	MapUses         int        // number of instructions that use tensor maps
	Origins         []uint64   // by access.index: the parameters and variables that it may point into; see bounds.go
	Families        int        // most families of a block
	DynamicShared   int        // offset of the dynamic shared array
	Granule         int        // finest shared access, bytes: 1, 2 or 4
	CopyGranule     int        // smallest cp.async, bytes; 0: none
	GlobalGranule   int        // finest access to device memory, as much
	Writers         []int      // accesses, by access.index, that may write device memory
	Rewritable      bool       // a CTA leaves device memory as it was
	Unmultiplied    []int      // warpgroup MMAs of the slice that are not executed, by instruction
	Distinct        bool       // the slice relies on pointer parameters being distinct
	Blocking        bool       // waits for mbarriers and clusters block
	Tracks          bool       // bulk copies or warpgroup MMAs are in flight, in Full mode
	Spins           bool       // threads wait until others, maybe of other CTAs, have written
	SharedSpins     bool       // the same by words of shared memory
	Waits           bool       // warps wait for each other, or for other CTAs, beside at barriers of the CTA
	Samplers        []*Sampler // by loop; nil for one that cannot be sampled
	LoopHeadedBy    []int32    // by block: the loop it heads, -1
	Exits           []bool     // by block: a lane that comes there has nothing left to do but exit
	SlowPaths       []int32    // the operations whose slow paths are counted
	Matched         []int32    // those whose lanes' values are
	Slots           []Slot     // by register of executed
	Executed        *ir.Kernel // Kernel, or with registers for what it keeps in local memory
	flows           flowTable
	scopes          [numScopes]scoped
}

type constant32 struct {
	Index int32
	Value uint32
}

type constant64 struct {
	Index int32
	Value uint64
}

type SpecialSlot struct {
	Slot Slot
	Reg  ir.Special
}

// CanEstimate reports whether the program has a loop that can be sampled by Options.Estimate only.
func (p *Program) CanEstimate() bool {
	return slices.ContainsFunc(p.Loops, func(l loopsample.Loop) bool { return l.CanEstimate() })
}

// FileBytes is the size of the register files of one warp.
func (p *Program) FileBytes() int {
	return int(p.N32)*arch.WarpSize*4 + int(p.N64)*arch.WarpSize*8
}

// Mode says how much of a kernel is executed. The zero value is invalid.
type Mode uint8

// The modes; see the package comment.
const (
	ModeInvalid Mode = iota
	Full
	Slice
)

// String names the mode.
func (m Mode) String() string {
	switch m {
	case Full:
		return "full"
	case Slice:
		return "slice"
	}
	return "invalid"
}
