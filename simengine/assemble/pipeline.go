package assemble

// pass is one step of the assembler and what must hold after it.
type pass struct {
	name   string
	run    func(*fn) error
	verify func(*fn) error
}

// frontEnd rewrites PTX instructions; the passes in the order they run.
var frontEnd = []pass{
	{"copy propagation", (*fn).propagateCopies, (*fn).verifyNodes},
	{"legalisation", (*fn).legalise, (*fn).verifyNodes},
	{"constant halves", (*fn).foldHalves, (*fn).verifyNodes},
	{"remainders", (*fn).shareDivisions, (*fn).verifyNodes},
	{"divisions", (*fn).splitDivisions, (*fn).verifyNodes},
	{"saturation", (*fn).saturate, (*fn).verifyNodes},
	{"shared sums", (*fn).shareSums, (*fn).verifyNodes},
	{"value numbering", (*fn).numberValues, (*fn).verifyNodes},
	{"copy sinking", (*fn).sinkCopies, (*fn).verifyNodes},
	{"shared offsets", (*fn).shareOffsets, (*fn).verifyNodes},
	{"vectorisation", (*fn).vectorise, (*fn).verifyNodes},
	{"uniformity", (*fn).findUniform, (*fn).verifyNodes},
	{"if-conversion", (*fn).ifConvert, (*fn).verifyNodes},
	{"constants", (*fn).propagateConstants, (*fn).verifyNodes},
}

// selection lowers them to machine instructions over virtual registers.
var selection = []pass{
	{"rematerialisation", (*fn).rematerialise, (*fn).verifyNodes},
	{"instruction selection", (*fn).selectInstructions, (*fn).verifyInsts},
	{"shared constants", (*fn).shareConstants, (*fn).verifyInsts},
	{"yields", (*fn).yield, (*fn).verifyInsts},
	{"convergence barriers", (*fn).bracketDivergence, (*fn).verifyInsts},
	{"liveness", (*fn).findLiveness, (*fn).verifyInsts},
	{"frugal order", (*fn).frugal, (*fn).verifyFrugal},
}

// backEnd orders them, gives them registers and emits the program.
var backEnd = []pass{
	{"schedule and registers", (*fn).assign, (*fn).verifyRegisters},
	{"scheduling after allocation", (*fn).reschedule, (*fn).verifyOrder},
	{"pairs of zeros", (*fn).pairZeros, (*fn).verifyPairs},
	{"pipe balance", (*fn).balance, (*fn).verifyOrder},
	{"emission", (*fn).emit, (*fn).verifyProgram},
}
