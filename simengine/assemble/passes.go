package assemble

import (
	"github.com/warptune/warptune/simengine/assemble/converge"
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/hir/opt"
	"github.com/warptune/warptune/simengine/assemble/isel"
	"github.com/warptune/warptune/simengine/assemble/mir/peephole"
	"github.com/warptune/warptune/simengine/assemble/sched"
)

// The passes of the assembler, in the order they run.
//
//	PTX instructions     front end   once a kernel and target
//	   (hir, hir/opt)
//	        |
//	        v            selection   once for each limit of rematerialisation that is tried
//	machine instructions             (rematchoice.go)
//	over virtual registers
//	   (isel, mir)
//	        |
//	        v            back end    once a register cap
//	   program
//	   (sched, regalloc, mir/peephole)
//
// What does not depend on the register cap comes before what does, so that assemblies of one kernel
// under several caps share it.

// pass is one step of the assembler and the check of what must hold after it.
type pass struct {
	name   string
	run    func(*unit) error
	verify func(*unit) error
}

// frontEnd rewrites PTX instructions.
var frontEnd = []pass{
	// Before webs: what a load under a mask that is always true had before is a value of its own.
	onNodes("constant guards", opt.FoldGuards),
	// Before all others: it follows the blocks of the kernel, and gives the other passes values with one
	// definition.
	onNodes("webs", opt.SplitWebs),
	// Now that a register has few definitions; they are one where a guarded load has initial values.
	onNodes("initial values", opt.JoinInitials),
	// Before all others but webs: they look at definitions, and should find the computation, not a copy.
	onNodes("copy propagation", opt.PropagateCopies),
	// After copies are gone, which it looks through.
	onNodes("predicates", opt.FoldPredicates),
	// Before value numbering, which then shares the parts that operations are split into.
	onNodes("legalisation", opt.Legalise),
	// Before value numbering, which then shares the constants; after copies of them are gone.
	onNodes("half-precision constants", opt.FoldHalfConstants),
	// Before reciprocals are shared: a remainder with a quotient at hand needs none.
	// Before value numbering, which removes all but the first reciprocal of a divisor.
	onNodes("common reciprocals", opt.ShareReciprocals),
	// While an addition has its original reader: value numbering may give it more.
	onNodes("saturation", opt.FoldSaturation),
	// Before value numbering, so that equal additions of what remains are shared as well.
	onNodes("value numbering", opt.NumberValues),
	// After value numbering, which needs values with one definition; this makes variables of some.
	onNodes("copy sinking", opt.SinkCopies),
	// Before vectorisation, which joins accesses with the same base register.
	onNodes("constant offsets", opt.FoldAddresses),
	// Before if-conversion, whose limit counts the instructions of an arm after accesses are joined.
	onNodes("vectorisation", opt.Vectorise),
	// Before if-conversion, which hands the divergence of branches on to the blocks it makes, and
	// before selection, which chooses register files by it.
	onNodes("uniformity", (*hir.Func).FindUniform),
	onNodes("wide bases", opt.ShareWideBases),
	onNodes("if-conversion", opt.IfConvert),
	// Last: blocks are as large now as they get, and it looks at one block at a time.
	onNodes("constant propagation", opt.PropagateConstants),
}

// selection lowers PTX instructions to machine instructions over virtual registers.
var selection = []pass{
	// Depends on whether the program finds registers; before selection, which fixes the fences.
	{"serialisation", func(u *unit) error { u.serialise(); return nil }, verifyNodes},
	// Before rematerialisation, which repeats what still crosses blocks.
	onNodes("wide values", opt.SinkWide),
	// The first pass that depends on how scarce registers are in general, and the last over PTX instructions:
	// selection folds the copies it makes into their readers.
	{"rematerialisation", func(u *unit) error { u.same = opt.Rematerialise(u.hir, u.remat); return nil }, verifyNodes},
	onInsts("instruction selection", func(u *unit) (err error) {
		u.mir, err = isel.Select(u.hir, &u.scratch.selecting)
		return err
	}),
	// Selection loads each constant where it is used.
	onInsts("common constants", func(u *unit) error { return peephole.ShareConstants(u.mir) }),
	// Before convergence barriers: where lanes meet at a loop head, BSYNC stands in front of YIELD.
	onInsts("yields", func(u *unit) error { return converge.InsertYields(u.hir, u.mir) }),
	onInsts("convergence barriers", func(u *unit) error { return converge.InsertBarriers(u.hir, u.mir) }),
	// All instructions of the program are there now.
	onInsts("liveness", func(u *unit) error { return u.mir.FindLiveness() }),
	// Its pressure decides the budget of registers (driver.go).
	{"fewest registers", (*unit).fewestRegisters, func(u *unit) error { return u.mir.VerifyReordered() }},
}

// backEnd orders machine instructions, gives them registers and emits the program.
var backEnd = []pass{
	// One pass, since an order that finds no registers is tried again with less freedom (fit.go).
	{"scheduling and register allocation", (*unit).allocate, (*unit).verifyRegisters},
	// Now that registers are given, reuse of one orders instructions too.
	{"scheduling after allocation", func(u *unit) error { return sched.Reschedule(u.mir, &u.scratch.scheduling) }, verifyOrder},
	// Needs registers: only those of an aligned pair can be zeroed together.
	{"pairs of zeros", func(u *unit) error { return peephole.PairZeros(u.mir) }, func(u *unit) error { return u.mir.VerifyRemoved() }},
	// Last, since it counts the instructions of both pipes in the finished program.
	{"pipe balance", func(u *unit) error { return peephole.BalancePipes(u.mir) }, verifyOrder},
	{"emission", (*unit).emit, (*unit).verifyProgram},
}

// onNodes is a pass over PTX instructions.
func onNodes(name string, run func(*hir.Func) error) pass {
	return pass{name, func(u *unit) error { return run(u.hir) }, verifyNodes}
}

// onInsts is a pass over machine instructions.
func onInsts(name string, run func(*unit) error) pass {
	return pass{name, run, func(u *unit) error { return u.mir.VerifyInsts() }}
}

func verifyNodes(u *unit) error { return u.hir.Verify() }

func verifyOrder(u *unit) error { return u.mir.VerifyOrder() }
