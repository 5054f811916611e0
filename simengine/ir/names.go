package ir

import "strconv"

// enum names: index i of a table is the PTX spelling of value i.

var typeNames = [...]string{
	Pred: "pred", B8: "b8", B16: "b16", B32: "b32", B64: "b64", B128: "b128",
	U8: "u8", U16: "u16", U32: "u32", U64: "u64", S8: "s8", S16: "s16", S32: "s32", S64: "s64",
	F16: "f16", F16x2: "f16x2", BF16: "bf16", BF16x2: "bf16x2", F32: "f32", F64: "f64",
	U16x2: "u16x2", S16x2: "s16x2", E4M3: "e4m3", E5M2: "e5m2", TF32: "tf32",
	E4M3x2: "e4m3x2", E5M2x2: "e5m2x2",
}

var opNames = [NumOps]string{
	Mov: "mov", Ld: "ld", Ldu: "ldu", St: "st", Atom: "atom", Red: "red", CpAsync: "cp.async",
	CpAsyncCommit: "cp.async.commit_group", CpAsyncWait: "cp.async.wait_group",
	Prefetch: "prefetch", Cvt: "cvt", Cvta: "cvta", Isspacep: "isspacep", Shfl: "shfl", Prmt: "prmt", Mapa: "mapa", Movmatrix: "movmatrix",
	Tex: "tex", Txq: "txq", Suld: "suld.b", Sust: "sust.b",
	Add: "add", Sub: "sub", Mul: "mul", Mad: "mad", Fma: "fma", Mul24: "mul24", Mad24: "mad24",
	Sad: "sad", Vabsdiff4: "vabsdiff4.u32.u32", Div: "div", Rem: "rem", Abs: "abs", Neg: "neg", Min: "min", Max: "max",
	AddC: "addc", SubC: "subc", MadC: "madc", Dp4a: "dp4a", Dp2a: "dp2a", Mma: "mma", Rcp: "rcp", Sqrt: "sqrt",
	Rsqrt: "rsqrt", Sin: "sin", Cos: "cos", Lg2: "lg2", Ex2: "ex2", Tanh: "tanh",
	Copysign: "copysign", Testp: "testp",
	And: "and", Or: "or", Xor: "xor", Not: "not", CNot: "cnot", Lop3: "lop3", Shl: "shl", Shr: "shr",
	Shf: "shf", Bfe: "bfe", Bfi: "bfi", Bfind: "bfind", Brev: "brev", Clz: "clz", Popc: "popc",
	Fns: "fns", Szext: "szext", Bmsk: "bmsk",
	Setp: "setp", Set: "set", Selp: "selp", Slct: "slct",
	Bra: "bra", Brx: "brx.idx", Exit: "exit", Trap: "trap", Nop: "nop",
	Bar: "bar", BarRed: "bar.red", BarWarp: "bar.warp", Membar: "membar", Vote: "vote",
	Match: "match", Activemask: "activemask", Redux: "redux", Elect: "elect", Nanosleep: "nanosleep",
	Wgmma: "wgmma.mma_async", WgmmaFence: "wgmma.fence", WgmmaCommit: "wgmma.commit_group", WgmmaWait: "wgmma.wait_group",
	MbarInit: "mbarrier.init", MbarInval: "mbarrier.inval", MbarArrive: "mbarrier.arrive", MbarExpect: "mbarrier.expect_tx",
	MbarWait: "mbarrier.test_wait", CpAsyncArrive: "cp.async.mbarrier.arrive",
	BulkCopy: "cp.async.bulk", BulkPrefetch: "cp.async.bulk.prefetch", BulkCommit: "cp.async.bulk.commit_group", BulkWait: "cp.async.bulk.wait_group",
	FenceProxy: "fence.proxy", TensormapSet: "tensormap.replace", TensormapCopy: "tensormap.cp_fenceproxy",
	Setmaxnreg: "setmaxnreg", ClusterBarrier: "barrier.cluster", GetCTARank: "getctarank", CreatePolicy: "createpolicy",
}

var spaceNames = [...]string{
	Global: "global", Shared: "shared", Local: "local", Const: "const", ParamSpace: "param", RegSpace: "reg", SharedCluster: "shared::cluster",
}

var scopeNames = [...]string{ScopeCTA: "cta", ScopeCluster: "cluster", ScopeGPU: "gpu", ScopeSys: "sys"}

var roundNames = [...]string{
	RN: "rn", RZ: "rz", RM: "rm", RP: "rp", RNI: "rni", RZI: "rzi", RMI: "rmi", RPI: "rpi", RNA: "rna",
}

var cmpNames = [...]string{
	CmpEQ: "eq", CmpNE: "ne", CmpLT: "lt", CmpLE: "le", CmpGT: "gt", CmpGE: "ge",
	CmpLO: "lo", CmpLS: "ls", CmpHI: "hi", CmpHS: "hs", CmpEQU: "equ", CmpNEU: "neu",
	CmpLTU: "ltu", CmpLEU: "leu", CmpGTU: "gtu", CmpGEU: "geu", CmpNum: "num", CmpNaN: "nan",
}

var boolNames = [...]string{
	BoolAnd: "and", BoolOr: "or", BoolXor: "xor", BoolPopc: "popc",
	BoolAll: "all", BoolAny: "any", BoolUni: "uni", BoolBallot: "ballot",
	ShflUp: "up", ShflDown: "down", ShflBfly: "bfly", ShflIdx: "idx",
	PrmtF4E: "f4e", PrmtB4E: "b4e", PrmtRC8: "rc8", PrmtECL: "ecl", PrmtECR: "ecr", PrmtRC16: "rc16",
	TestFinite: "finite", TestInfinite: "infinite", TestNumber: "number",
	TestNotANumber: "notanumber", TestNormal: "normal", TestSubnormal: "subnormal",
}

var atomNames = [...]string{
	AtomAdd: "add", AtomMin: "min", AtomMax: "max", AtomInc: "inc", AtomDec: "dec",
	AtomAnd: "and", AtomOr: "or", AtomXor: "xor", AtomExch: "exch", AtomCAS: "cas",
}

var cacheNames = [...]string{
	CacheCA: "ca", CacheCG: "cg", CacheCS: "cs", CacheLU: "lu", CacheCV: "cv",
	CacheWB: "wb", CacheWT: "wt", CacheNoAllocate: "L1::no_allocate",
}

var specialNames = [...]string{
	TidX: "%tid.x", TidY: "%tid.y", TidZ: "%tid.z",
	NTidX: "%ntid.x", NTidY: "%ntid.y", NTidZ: "%ntid.z",
	CTAIdX: "%ctaid.x", CTAIdY: "%ctaid.y", CTAIdZ: "%ctaid.z",
	NCTAIdX: "%nctaid.x", NCTAIdY: "%nctaid.y", NCTAIdZ: "%nctaid.z",
	LaneID: "%laneid", WarpID: "%warpid", NWarpID: "%nwarpid", SMID: "%smid", NSMID: "%nsmid",
	GridID: "%gridid", Clock: "%clock", ClockHi: "%clock_hi", Clock64: "%clock64",
	GlobalTimer: "%globaltimer", LaneMaskEQ: "%lanemask_eq", LaneMaskLE: "%lanemask_le",
	LaneMaskLT: "%lanemask_lt", LaneMaskGE: "%lanemask_ge", LaneMaskGT: "%lanemask_gt",
	DynamicSmemSize: "%dynamic_smem_size", TotalSmemSize: "%total_smem_size",
	ClusterIdX: "%clusterid.x", ClusterIdY: "%clusterid.y", ClusterIdZ: "%clusterid.z",
	NClusterIdX: "%nclusterid.x", NClusterIdY: "%nclusterid.y", NClusterIdZ: "%nclusterid.z",
	ClusterCTAIdX: "%cluster_ctaid.x", ClusterCTAIdY: "%cluster_ctaid.y", ClusterCTAIdZ: "%cluster_ctaid.z",
	ClusterNCTAIdX: "%cluster_nctaid.x", ClusterNCTAIdY: "%cluster_nctaid.y", ClusterNCTAIdZ: "%cluster_nctaid.z",
	ClusterCTARank: "%cluster_ctarank", ClusterNCTARank: "%cluster_nctarank", IsExplicitCluster: "%is_explicit_cluster",
	EnvReg1: "%envreg1", EnvReg2: "%envreg2",
	ReservedSmemBegin: "%reserved_smem_offset_begin", ReservedSmemEnd: "%reserved_smem_offset_end", ReservedSmemCap: "%reserved_smem_offset_cap",
	ReservedSmem0: "%reserved_smem_offset_0", ReservedSmem1: "%reserved_smem_offset_1",
}

// modNames lists the flags that appear in an opcode under one spelling
// whatever the opcode; Instr spells the others (ModCarryIn, ModTo, ...).
var modNames = [...]struct {
	mod  Mod
	name string
}{
	{ModWide, "wide"}, {ModHi, "hi"}, {ModLo, "lo"}, {ModApprox, "approx"}, {ModFull, "full"},
	{ModVolatile, "volatile"}, {ModRelaxed, "relaxed"}, {ModAcquire, "acquire"}, {ModRelease, "release"},
	{ModNonCoherent, "nc"}, {ModUni, "uni"}, {ModLeft, "l"}, {ModRight, "r"}, {ModClamp, "clamp"},
	{ModWrap, "wrap"}, {ModCarryIn, "carryin"}, {ModCarryOut, "cc"}, {ModSync, "sync"}, {ModTo, "to"},
	{ModArrive, "arrive"}, {ModShiftAmt, "shiftamt"}, {ModAll, "all"}, {ModBypassL1, "cg"},
	{ModNaN, "NaN"}, {ModRelu, "relu"}, {ModFtz, "ftz"}, {ModSat, "sat"}, {ModNoFtz, "noftz"},
	{ModMatrix, "m8n8"}, {ModTrans, "trans"},
}

// name looks v up in a table; "" and what is outside give kind(v).
func name(table []string, v int, kind string) string {
	if v >= 0 && v < len(table) && table[v] != "" {
		return table[v]
	}
	return kind + "(" + strconv.Itoa(v) + ")"
}

// String is the PTX spelling without the dot, e.g. "f32".
func (t Type) String() string { return name(typeNames[:], int(t), "type") }

// String is the PTX spelling, e.g. "cp.async".
func (o Op) String() string { return name(opNames[:], int(o), "op") }

// String is the PTX spelling without the dot; Generic is "generic".
func (s Space) String() string {
	if s == Generic {
		return "generic"
	}
	return name(spaceNames[:], int(s), "space")
}

// String is the PTX spelling without the dot, e.g. "gpu".
func (s Scope) String() string { return name(scopeNames[:], int(s), "scope") }

// String is the PTX spelling without the dot, e.g. "rn".
func (r Round) String() string { return name(roundNames[:], int(r), "round") }

// String is the PTX spelling without the dot, e.g. "ltu".
func (c Cmp) String() string { return name(cmpNames[:], int(c), "cmp") }

// String is the PTX spelling without the dot, e.g. "and" or "bfly".
func (b BoolOp) String() string { return name(boolNames[:], int(b), "bool") }

// String is the PTX spelling without the dot, e.g. "cas".
func (a AtomOp) String() string { return name(atomNames[:], int(a), "atom") }

// String is the PTX spelling without the dot, e.g. "cg".
func (c CacheOp) String() string { return name(cacheNames[:], int(c), "cache") }

// IsClock reports whether a special register counts time: two reads of it differ.
func (s Special) IsClock() bool {
	return s == Clock || s == Clock64 || s == ClockHi || s == GlobalTimer
}

// String is the PTX spelling, e.g. "%tid.x".
func (s Special) String() string { return name(specialNames[:], int(s), "special") }

// Valid reports whether there is such a special register.
func (s Special) Valid() bool { return s != SpecialNone && int(s) < len(specialNames) }

// String lists the flags, separated by dots.
func (m Mod) String() string {
	s := ""
	for _, e := range modNames {
		if m&e.mod != 0 {
			if s != "" {
				s += "."
			}
			s += e.name
		}
	}
	return s
}
