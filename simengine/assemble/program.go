// Package assemble models the assembler (ptxas): it lowers a PTX kernel to machine instructions,
// if-converts, schedules, allocates physical registers under a cap, and spills to local memory what
// does not fit. The timing model issues its output, and occupancy is computed from its register
// count.
//
// It models the assembler's decisions, not its encodings: an Instr says which pipe it uses, what it
// reads and writes, and which PTX instruction it came from. It cannot be executed.
//
// The stages are packages, each importing only those above it, sched and
// regalloc not each other; passes.go lists their passes in
// order:
//
//	rules          rules that imitate ptxas and can be left out one by one
//	target, vreg   what a compute capability has; virtual registers
//	hir, hir/opt   PTX instructions, and passes that rewrite them
//	mir            machine instructions over virtual registers; mir/peephole
//	isel           instruction selection, from hir to mir
//	converge       convergence barriers and yields
//	sched          scheduling
//	regalloc       register allocation and spilling
//
// Evidence. Many rules imitate what ptxas was seen to do, and say what they are based on. That is a microbenchmark
// (deploy/calibrate), a ptxas corpus (machine code of many programs, counted), or kernels of the validation sets
// (machine code or measured times of the ones named).
package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/ir"
)

// Program is the machine code of a kernel for one target and register cap. It is immutable and may
// be shared between goroutines.
type Program struct {
	Kernel *ir.Kernel
	Blocks []Block // parallel to Kernel.Blocks
	// Registers per thread, as launch__registers_per_thread counts them.
	Registers int
	// SpillBytes of local memory a thread hold spilled registers; LocalBytes adds the PTX's own
	// local arrays.
	SpillBytes, LocalBytes int
	// SpillStores and SpillLoads count spill instructions in the code.
	SpillStores, SpillLoads int
	CodeBytes               int // size of the code
	// Joined are the PTX loads and stores, ascending, whose bytes the machine instruction of
	// another one moves. The trace has an access for each; the machine makes none.
	Joined []int32
	// Wide are the loads and stores, by ascending PTX instruction, that others were joined to, with
	// the bytes that each moves a lane. They are aligned to that number, and the PTX instruction's
	// own bytes are part of theirs.
	Wide []hir.WideAccess
	// Elected are the PTX reductions into memory, ascending, that a warp does in registers first.
	// One lane makes the request.
	Elected []int32
	// Counted are the PTX atomics, ascending, that add one to words of shared memory. All lanes of
	// a word are served at a time.
	Counted []int32
	// Swapped are the PTX atomics, ascending, that are compare-and-swap loops on words of shared
	// memory.
	Swapped []int32
}

// IsElected reports whether one lane makes the request of PTX instruction pc for its warp.
func (p *Program) IsElected(pc int32) bool { return among(p.Elected, pc) }

// IsCounted reports whether PTX instruction pc is an atomic whose lanes of one word do not take
// turns.
func (p *Program) IsCounted(pc int32) bool { return among(p.Counted, pc) }

// IsSwapped reports whether PTX instruction pc is an atomic that became a compare-and-swap loop.
func (p *Program) IsSwapped(pc int32) bool { return among(p.Swapped, pc) }

// among reports whether an ascending list, most often empty, has PTX instruction pc.
func among(list []int32, pc int32) bool {
	if len(list) == 0 {
		return false
	}
	_, found := slices.BinarySearch(list, pc)
	return found
}

// holds reports whether block b has first instructions of block c.
func (p *Program) holds(b, c int) bool {
	h := p.Blocks[b].Holds
	return h != 0 && (h == c || p.Blocks[c].Merged == h)
}

// IsJoined reports whether PTX instruction pc is a load or store that another one makes.
func (p *Program) IsJoined(pc int32) bool { return among(p.Joined, pc) }

// Equal reports whether two programs are the same code of the same kernel.
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
	// Merged is the block whose Instrs carry this block's code, since it was if-converted into it
	// or always follows it; -1: none. A merged block has no Instrs of its own. Its instructions are
	// guarded and issue whenever the carrier executes. Its accesses appear in the trace under this
	// block's index, if any lane took it. A block that only exits has no Instrs either: every block
	// before it ends in an Exit of its own.
	Merged int
	// Holds is a block that executes whenever this one does, soon after it, and whose first
	// instructions are among this one's; 0: none. Their accesses appear in the trace under that
	// block's index.
	Holds int
}

// Reg is a physical register: 0 to 254 general, predicates from PredBase, uniform registers from
// UniformBase, NoReg none.
type Reg int16

// Register numbering.
const (
	NoReg    Reg = -1
	PredBase Reg = 256
	// UniformBase is the first uniform register; uniform predicates follow the
	// seven predicates of a thread.
	UniformBase Reg = 272
)

// RegSpan is Count consecutive 32-bit registers from First. Count 0 means no operand.
type RegSpan struct {
	First Reg
	Count uint8
}

// Instr is a machine instruction.
type Instr struct {
	Class mir.Class
	// Source is the PTX instruction that it came from, -1 for one that the assembler made (spill
	// code, convergence barriers). For Load, Store, Atomic, AsyncCopy and indexed LDC with a Source
	// the trace has an access with that PC whenever a lane made it.
	Source int32
	Space  ir.Space // of memory instructions; Local without a Source is a spill
	Width  uint8    // bytes a lane accesses
	// Guarded: its predicate may mask lanes off.
	Guarded bool
	// Calls: a branch that calls the routine of its Source's slow path (see SlowPath) where a lane
	// needs it.
	Calls bool
	Dst   [2]RegSpan
	Src   [4]RegSpan
	// Spill is the place of a spill access in the thread's spill area, in words of 4 bytes; -1
	// elsewhere.
	Spill int16
	// Carried is the block that it belongs to if that was merged into another (see Block.Merged),
	// else -1.
	Carried int32
}
