package mir

// Classes of machine instructions: the vocabulary shared with the timing model.

// Class is the pipe and behaviour of a machine instruction.
type Class uint8

// Classes. The zero value is invalid.
const (
	ClassInvalid      Class = iota
	ALU                     // integer add, logic, shift, compare, select, min/max, lop3, prmt
	FMA                     // fp32 add, mul, fma
	FMAHeavy                // imad and other 32-bit integer multiply-adds (heavy half of the FMA pipe)
	IMADWide                // imad.wide, 64-bit result
	IMADHigh                // imad.hi, upper word of a 64-bit result
	FP64                    // fp64 arithmetic
	Half                    // packed fp16 and bf16
	Tensor                  // MMA whose operand A takes four registers
	TensorShort             // MMA whose operand A takes one or two registers
	TensorSingle            // as Tensor, with fp32 accumulators
	TensorSingleShort       // as TensorShort, with fp32 accumulators
	TensorDouble            // MMA of doubles
	MUFU                    // transcendental unit: rcp, rsqrt, sin, cos, lg2, ex2
	XU                      // other instructions at transcendental-unit rate: conversions, popc, flo, brev
	Uniform                 // uniform datapath
	S2R                     // read of a special register
	LDC                     // indexed load through the constant cache
	Load                    // ld from Space
	Store                   // st to Space
	Atomic                  // atom and red
	AsyncCopy               // cp.async (LDGSTS)
	Shuffle                 // shfl
	Vote                    // vote, redux
	Match                   // match; takes as long as the lanes hold different values
	Barrier                 // bar.sync
	Fence                   // membar
	Branch                  // bra, convergence barriers
	Exit
	Control // depbar (cp.async.wait), nanosleep, other control without result
	Yield   // lets other lanes of the warp go first
	Wgmma   // warpgroup MMA (HGMMA, QGMMA, IGMMA)
	// WgmmaPart stands for more accumulators of the Wgmma before it: it holds registers, and takes
	// neither room nor time.
	WgmmaPart
	Bulk           // starts a bulk copy (UBLKCP, UTMALDG, UTMASTG, ...)
	Mbarrier       // operation on an mbarrier without a wait (SYNCS)
	MbarWait       // wait for a phase of an mbarrier (SYNCS.PHASECHK.TRYWAIT)
	ClusterBarrier // arrival at the barrier of a cluster, or wait for it (UCGABAR)
	NumClasses
)

var classNames = [NumClasses]string{
	ALU: "alu", FMA: "fma", FMAHeavy: "fmaheavy", IMADWide: "imadwide", IMADHigh: "imadhigh", FP64: "fp64", Half: "half", Tensor: "tensor", TensorShort: "tensorshort", TensorSingle: "tensorsingle", TensorSingleShort: "tensorsingleshort", TensorDouble: "tensordouble", MUFU: "mufu", XU: "xu",
	Uniform: "uniform", S2R: "s2r", LDC: "ldc", Load: "load", Store: "store", Atomic: "atomic", AsyncCopy: "asynccopy",
	Shuffle: "shuffle", Vote: "vote", Match: "match", Barrier: "barrier", Fence: "fence", Branch: "branch", Exit: "exit", Control: "control", Yield: "yield",
	Wgmma: "wgmma", WgmmaPart: "wgmmapart", Bulk: "bulk", Mbarrier: "mbarrier", MbarWait: "mbarwait", ClusterBarrier: "clusterbarrier",
}

// String names the class in lower case.
func (c Class) String() string {
	if c < NumClasses && classNames[c] != "" {
		return classNames[c]
	}
	return "invalid"
}
