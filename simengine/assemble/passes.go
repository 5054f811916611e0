package assemble

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/hir/opt"
	"github.com/warptune/warptune/simengine/assemble/isel"
	"github.com/warptune/warptune/simengine/assemble/mir/peephole"
	"github.com/warptune/warptune/simengine/assemble/regalloc"
	"github.com/warptune/warptune/simengine/assemble/sched"
)

// pass is one step of the assembler and what must hold after it.
type pass struct {
	name   string
	run    func(*unit) error
	verify func(*unit) error
}

// frontEnd rewrites PTX instructions; the passes in the order they run.
var frontEnd = []pass{
	onNodes("copy propagation", opt.PropagateCopies),
	onNodes("legalisation", opt.Legalise),
	onNodes("constant halves", opt.FoldHalfConstants),
	onNodes("remainders", opt.RemainderFromQuotient),
	onNodes("divisions", opt.ShareReciprocals),
	onNodes("saturation", opt.FoldSaturation),
	onNodes("shared sums", opt.ShareAddresses),
	onNodes("value numbering", opt.NumberValues),
	onNodes("copy sinking", opt.SinkCopies),
	onNodes("shared offsets", opt.FoldAddresses),
	onNodes("vectorisation", opt.Vectorise),
	onNodes("uniformity", (*hir.Func).FindUniform),
	onNodes("if-conversion", opt.IfConvert),
	onNodes("constants", opt.PropagateConstants),
}

// onNodes is a pass over PTX instructions.
func onNodes(name string, run func(*hir.Func) error) pass {
	return pass{name, func(u *unit) error { return run(u.hir) }, func(u *unit) error { return u.hir.Verify() }}
}

// selection lowers them to machine instructions over virtual registers.
var selection = []pass{
	onNodes2("rematerialisation", func(u *unit) error { return opt.Rematerialise(u.hir, u.reduce) }),
	onInsts("instruction selection", (*unit).selectInstructions),
	onInsts("shared constants", func(u *unit) error { return peephole.ShareConstants(u.mir) }),
	onInsts("yields", func(u *unit) error { return isel.InsertYields(u.hir, u.mir) }),
	onInsts("convergence barriers", func(u *unit) error { return isel.InsertBarriers(u.hir, u.mir) }),
	onInsts("liveness", func(u *unit) error { return u.mir.FindLiveness() }),
	{"frugal order", (*unit).frugal, func(u *unit) error { return u.mir.VerifyReordered() }},
}

func onNodes2(name string, run func(*unit) error) pass {
	return pass{name, run, func(u *unit) error { return u.hir.Verify() }}
}

// onInsts is a pass over machine instructions.
func onInsts(name string, run func(*unit) error) pass {
	return pass{name, run, func(u *unit) error { return u.mir.VerifyInsts() }}
}

func (u *unit) selectInstructions() (err error) {
	u.mir, err = isel.Select(u.hir, &u.scratch.selecting)
	return err
}

// backEnd orders them, gives them registers and emits the program.
var backEnd = []pass{
	{"schedule and registers", (*unit).assign, func(u *unit) error { return regalloc.VerifyRegisters(u.mir, &u.scratch.allocating) }},
	{"scheduling after allocation", func(u *unit) error { return sched.Reschedule(u.mir, &u.scratch.scheduling) }, func(u *unit) error { return u.mir.VerifyOrder() }},
	{"pairs of zeros", func(u *unit) error { return peephole.PairZeros(u.mir) }, func(u *unit) error { return u.mir.VerifyRemoved() }},
	{"pipe balance", func(u *unit) error { return peephole.BalancePipes(u.mir) }, func(u *unit) error { return u.mir.VerifyOrder() }},
	{"emission", (*unit).emit, (*unit).verifyProgram},
}
