package assemble

// pass is one step of the assembler and what must hold after it.
type pass struct {
	name   string
	run    func(*unit) error
	verify func(*unit) error
}

// frontEnd rewrites PTX instructions; the passes in the order they run.
var frontEnd = []pass{
	onNodes("copy propagation", (*hfn).propagateCopies),
	onNodes("legalisation", (*hfn).legalise),
	onNodes("constant halves", (*hfn).foldHalves),
	onNodes("remainders", (*hfn).shareDivisions),
	onNodes("divisions", (*hfn).splitDivisions),
	onNodes("saturation", (*hfn).saturate),
	onNodes("shared sums", (*hfn).shareSums),
	onNodes("value numbering", (*hfn).numberValues),
	onNodes("copy sinking", (*hfn).sinkCopies),
	onNodes("shared offsets", (*hfn).shareOffsets),
	onNodes("vectorisation", (*hfn).vectorise),
	onNodes("uniformity", (*hfn).findUniform),
	onNodes("if-conversion", (*hfn).ifConvert),
	onNodes("constants", (*hfn).propagateConstants),
}

// onNodes is a pass over PTX instructions.
func onNodes(name string, run func(*hfn) error) pass {
	return pass{name, func(u *unit) error { return run(u.h) }, func(u *unit) error { return u.h.verifyNodes() }}
}

// selection lowers them to machine instructions over virtual registers.
var selection = []pass{
	onNodes2("rematerialisation", func(u *unit) error { return u.h.rematerialise(u.reduce) }),
	onInsts("instruction selection", (*unit).selectInstructions),
	onInsts("shared constants", func(u *unit) error { return u.m.shareConstants() }),
	onInsts("yields", func(u *unit) error { return u.h.yield(u.m) }),
	onInsts("convergence barriers", func(u *unit) error { return u.h.bracketDivergence(u.m) }),
	onInsts("liveness", func(u *unit) error { return u.m.findLiveness() }),
	{"frugal order", (*unit).frugal, func(u *unit) error { return u.m.verifyFrugal() }},
}

func onNodes2(name string, run func(*unit) error) pass {
	return pass{name, run, func(u *unit) error { return u.h.verifyNodes() }}
}

// onInsts is a pass over machine instructions.
func onInsts(name string, run func(*unit) error) pass {
	return pass{name, run, func(u *unit) error { return u.m.verifyInsts() }}
}

func (u *unit) selectInstructions() (err error) {
	u.m, err = u.h.selectInstructions(&u.work.selecting)
	return err
}

// backEnd orders them, gives them registers and emits the program.
var backEnd = []pass{
	{"schedule and registers", (*unit).assign, func(u *unit) error { return u.m.verifyRegisters(&u.work.allocating) }},
	{"scheduling after allocation", func(u *unit) error { return u.m.reschedule(&u.work.scheduling) }, func(u *unit) error { return u.m.verifyOrder() }},
	{"pairs of zeros", func(u *unit) error { return u.m.pairZeros() }, func(u *unit) error { return u.m.verifyPairs() }},
	{"pipe balance", func(u *unit) error { return u.m.balance() }, func(u *unit) error { return u.m.verifyOrder() }},
	{"emission", (*unit).emit, (*unit).verifyProgram},
}
