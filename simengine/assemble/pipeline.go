package assemble

// pass is one step of the assembler and what must hold after it.
type pass struct {
	name   string
	run    func(*fn) error
	verify func(*fn) error
}

// pipeline is the assembler: passes in the order they run.
var pipeline = []pass{
	{"copy propagation", (*fn).propagateCopies, (*fn).verifyNodes},
	{"legalisation", (*fn).legalise, (*fn).verifyNodes},
	{"value numbering", (*fn).numberValues, (*fn).verifyNodes},
	{"copy sinking", (*fn).sinkCopies, (*fn).verifyNodes},
	{"uniformity", (*fn).findUniform, (*fn).verifyNodes},
	{"if-conversion", (*fn).ifConvert, (*fn).verifyNodes},
	{"instruction selection", (*fn).selectInstructions, (*fn).verifyInsts},
	{"convergence barriers", (*fn).bracketDivergence, (*fn).verifyInsts},
	{"schedule and registers", (*fn).assign, (*fn).verifyRegisters},
	{"emission", (*fn).emit, (*fn).verifyProgram},
}
