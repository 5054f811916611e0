// Package assemble does what the real assembler (ptxas) would do to a kernel:
// lower PTX to machine instructions, if-convert, schedule, allocate physical
// registers under a cap, and spill to local memory what does not fit. Its
// output is what the timing model issues, and its register count is the one
// occupancy is computed from.
//
// It models the assembler's decisions, not its encodings: a machine Instr says
// which pipe it uses, what it reads and writes, and which PTX instruction it
// came from; it carries no operation that could be executed.
package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/ir"
)

// Program is a kernel as the assembler would emit it for one target and cap.
// It is immutable and may be shared between goroutines.
type Program struct {
	Kernel *ir.Kernel
	Blocks []Block // parallel to Kernel.Blocks
	// Registers per thread, as launch__registers_per_thread counts them.
	Registers int
	// SpillBytes is the number of bytes of local memory one thread needs for
	// spilled registers; LocalBytes adds the PTX's own local arrays.
	SpillBytes, LocalBytes int
	// SpillStores and SpillLoads count static spill instructions.
	SpillStores, SpillLoads int
	CodeBytes               int // size of the instruction stream
	// Joined are the PTX loads and stores, ascending, that have no machine
	// instruction since one with another Source moves their bytes too. The trace
	// records an Access for each; the machine makes none.
	Joined []int32
	// Wide are the loads and stores that others were joined to, by PTX instruction
	// ascending, with the bytes of a lane that each moves. They lie at a multiple
	// of that number, which the PTX instruction's own bytes are part of.
	Wide []hir.WideAccess
	// Elected are the PTX reductions into memory, ascending, that the lanes of a warp
	// do in registers first, so that one lane of it makes the request.
	Elected []int32
	// Counted are the PTX atomics, ascending, that add one to words of shared memory:
	// a word takes as many lanes at a time as count in it.
	Counted []int32
	// Swapped are the PTX atomics, ascending, that load words of shared memory and swap
	// them, again until no other lane came between.
	Swapped []int32
}

// IsElected says whether one lane makes the request of a PTX instruction for all.
func (p *Program) IsElected(pc int32) bool { return among(p.Elected, pc) }

// IsCounted says whether lanes that share a word of a PTX atomic take no turns.
func (p *Program) IsCounted(pc int32) bool { return among(p.Counted, pc) }

// IsSwapped says whether lanes that share a word of a PTX atomic each go through a loop
// that loads it and swaps it.
func (p *Program) IsSwapped(pc int32) bool { return among(p.Swapped, pc) }

// among says whether an ascending list, most often empty, has a PTX instruction.
func among(list []int32, pc int32) bool {
	if len(list) == 0 {
		return false
	}
	_, found := slices.BinarySearch(list, pc)
	return found
}

// holds says whether block b has first instructions of block c.
func (p *Program) holds(b, c int) bool {
	h := p.Blocks[b].Holds
	return h != 0 && (h == c || p.Blocks[c].Merged == h)
}

// IsJoined says whether the load or store of a PTX instruction is part of another's.
func (p *Program) IsJoined(pc int32) bool { return among(p.Joined, pc) }

// Equal says whether two programs are the same code of the same kernel.
func (p *Program) Equal(q *Program) bool {
	return p.Kernel == q.Kernel && p.Registers == q.Registers && p.SpillBytes == q.SpillBytes && p.LocalBytes == q.LocalBytes &&
		p.SpillStores == q.SpillStores && p.SpillLoads == q.SpillLoads && p.CodeBytes == q.CodeBytes && slices.Equal(p.Joined, q.Joined) && slices.Equal(p.Wide, q.Wide) && slices.Equal(p.Elected, q.Elected) && slices.Equal(p.Counted, q.Counted) && slices.Equal(p.Swapped, q.Swapped) &&
		slices.EqualFunc(p.Blocks, q.Blocks, func(a, b Block) bool {
			return a.Merged == b.Merged && a.Holds == b.Holds && slices.Equal(a.Instrs, b.Instrs)
		})
}

// Block is the machine code of one basic block, in issue order.
type Block struct {
	Instrs []Instr
	// Merged is the index of the block whose Instrs carry this block's code
	// since it was if-converted into it, or always follows it once its arms
	// were; -1 when it stands alone. A block that only exits has no Instrs
	// either: every block before it ends in an Exit of its own. A merged
	// block has no Instrs of its own; its instructions are guarded, issue
	// whenever the carrier executes, and its memory accesses appear in the
	// trace (if any lane took it) under this block's index.
	Merged int
	// Holds is the index of a block that is executed whenever this one is, soon after it, and whose first
	// instructions are among this one's; 0: none. Their memory accesses appear in the trace under that block's index.
	Holds int
}

// Reg is a physical register: 0 to 254 general, PredBase and up predicates,
// UniformBase and up uniform registers, NoReg none.
type Reg int16

// Register numbering.
const (
	NoReg    Reg = -1
	PredBase Reg = 256
	// UniformBase is the first uniform register; uniform predicates follow the
	// seven predicates of a thread.
	UniformBase Reg = 272
)

// RegSpan is Count consecutive 32-bit registers from First (vectors and
// 64-bit values); Count 0 means no operand.
type RegSpan struct {
	First Reg
	Count uint8
}

// Instr is one machine instruction.
type Instr struct {
	Class mir.Class
	// Source is the ir instruction it came from, -1 for one the assembler made
	// (spill code, convergence barriers). For Load, Store, Atomic, AsyncCopy
	// and indexed LDC with Source >= 0 the trace has an Access with PC ==
	// Source whenever a lane performed it.
	Source int32
	Space  ir.Space // memory classes; Local with Source == -1 is a spill
	Width  uint8    // bytes per lane of a memory access
	// Guarded: some lanes may be masked off by its predicate.
	Guarded bool
	// Calls: the branch calls the routine of its Source's slow path (see SlowPath)
	// where a lane needs it.
	Calls bool
	Dst   [2]RegSpan
	Src   [4]RegSpan
	// Spill is the 4-byte slot of a spill access, in words from the start of
	// the thread's spill area; -1 elsewhere.
	Spill int16
	// Carried is the block this instruction belongs to when the block was
	// merged into another (see Block.Merged), -1 otherwise.
	Carried int32
}
