package ir

// group is a set of modifiers an opcode may carry.
type group uint64

const (
	gRound     group = 1 << iota // rn rz rm rp
	gIRound                      // rni rzi rmi rpi, rna of conversions
	gFtz                         // ftz
	gSat                         // sat
	gApprox                      // approx full
	gWide                        // wide hi lo
	gCmp                         // eq ne lt ...
	gBool                        // and or xor
	gSpace                       // global shared ...
	gCache                       // ca cg cs lu cv wb wt and the L1, L2 hints
	gOrder                       // weak volatile relaxed acquire release acq_rel sc
	gScope                       // cta gpu sys cluster gl
	gVec                         // v2 v4 v8
	gCC                          // cc
	gUni                         // uni
	gShfl                        // up down bfly idx
	gDir                         // l r
	gClamp                       // clamp wrap
	gVote                        // all any uni ballot
	gAtom                        // add min max ...
	gNaN                         // NaN
	gRelu                        // relu
	gSync                        // sync
	gAligned                     // aligned
	gTo                          // to
	gNC                          // nc
	gNoFtz                       // noftz
	gPrmt                        // f4e ...
	gTest                        // finite ...
	gShift                       // shiftamt
	gLevel                       // L1 L2 of prefetch
	gPopc                        // popc of bar.red
	gAsync                       // ca cg of cp.async
	gIgnore                      // modifiers without effect here
	gSatfinite                   // satfinite of conversions
	gComplete                    // noComplete of mbarrier.arrive
	gPolicy                      // eviction priorities of createpolicy alone
)

// modifier is one meaning of a modifier's spelling.
type modifier struct {
	group group
	set   func(*shape)
}

func flag(g group, m Mod) modifier { return modifier{g, func(s *shape) { s.Mod |= m }} }

func round(g group, r Round) modifier { return modifier{g, func(s *shape) { s.Round = r }} }

func compare(c Cmp) modifier { return modifier{gCmp, func(s *shape) { s.Cmp = c }} }

func mode(g group, b BoolOp) modifier { return modifier{g, func(s *shape) { s.Bool = b }} }

func space(sp Space) modifier { return modifier{gSpace, func(s *shape) { s.addSpace(sp) }} }

func cache(c CacheOp) modifier { return modifier{gCache, func(s *shape) { s.Cache = c }} }

func inScope(sc Scope) modifier { return modifier{gScope, func(s *shape) { s.Scope = sc }} }

func vector(n uint8) modifier { return modifier{gVec, func(s *shape) { s.Vec = n }} }

func atomic(a AtomOp) modifier { return modifier{gAtom, func(s *shape) { s.Atom = a }} }

func ignored(g group) modifier { return modifier{g, func(*shape) {}} }

var prefetchL2 = modifier{gLevel, func(s *shape) { s.Cache = CacheCG }}

// modifierTable lists what each spelling means, by group: ".lo" is the low
// half of a product and "lower" of a comparison.
var modifierTable = map[string][]modifier{
	"rn": {round(gRound, RN)}, "rz": {round(gRound, RZ)}, "rm": {round(gRound, RM)}, "rp": {round(gRound, RP)},
	"rni": {round(gIRound, RNI)}, "rzi": {round(gIRound, RZI)}, "rmi": {round(gIRound, RMI)},
	"rpi": {round(gIRound, RPI)}, "rna": {round(gIRound, RNA)},
	"ftz": {flag(gFtz, ModFtz)}, "sat": {flag(gSat, ModSat)},
	"approx": {flag(gApprox, ModApprox)}, "full": {flag(gApprox, ModFull)},
	"wide": {flag(gWide, ModWide)},
	"hi":   {flag(gWide, ModHi), compare(CmpHI)},
	"lo":   {flag(gWide, ModLo), compare(CmpLO)},
	"eq":   {compare(CmpEQ)}, "ne": {compare(CmpNE)}, "lt": {compare(CmpLT)}, "le": {compare(CmpLE)},
	"gt": {compare(CmpGT)}, "ge": {compare(CmpGE)}, "ls": {compare(CmpLS)}, "hs": {compare(CmpHS)},
	"equ": {compare(CmpEQU)}, "neu": {compare(CmpNEU)}, "ltu": {compare(CmpLTU)}, "leu": {compare(CmpLEU)},
	"gtu": {compare(CmpGTU)}, "geu": {compare(CmpGEU)}, "num": {compare(CmpNum)}, "nan": {compare(CmpNaN)},
	"and":    {mode(gBool, BoolAnd), atomic(AtomAnd)},
	"or":     {mode(gBool, BoolOr), atomic(AtomOr)},
	"xor":    {mode(gBool, BoolXor), atomic(AtomXor)},
	"popc":   {mode(gPopc, BoolPopc)},
	"global": {space(Global)}, "local": {space(Local)}, "const": {space(Const)},
	"shared": {space(Shared)}, "shared::cta": {space(Shared)}, "shared::cluster": {space(SharedCluster)},
	"param": {space(ParamSpace)}, "param::entry": {space(ParamSpace)}, "param::func": {space(ParamSpace)},
	"ca": {flag(gAsync, 0), cache(CacheCA)}, "cg": {flag(gAsync, ModBypassL1), cache(CacheCG)},
	"cs": {cache(CacheCS)}, "lu": {cache(CacheLU)}, "cv": {cache(CacheCV)}, "wb": {cache(CacheWB)}, "wt": {cache(CacheWT)},
	"L1::no_allocate": {cache(CacheNoAllocate)},
	"L1::evict_first": {ignored(gCache)}, "L1::evict_last": {ignored(gCache)},
	"L1::evict_normal": {ignored(gCache)}, "L1::evict_unchanged": {ignored(gCache)},
	"L2::cache_hint": {ignored(gCache | gAtom | gAsync)}, "L2::evict_first": {ignored(gCache)},
	"L2::evict_last": {prefetchL2, ignored(gCache)}, "L2::evict_normal": {prefetchL2, ignored(gCache)},
	"L2::64B": {ignored(gCache | gAsync)}, "L2::128B": {ignored(gCache | gAsync)}, "L2::256B": {ignored(gCache | gAsync)},
	"L1": {modifier{gLevel, func(s *shape) { s.Cache = CacheCA }}}, "L2": {prefetchL2},
	"weak": {ignored(gOrder)}, "volatile": {flag(gOrder, ModVolatile)}, "relaxed": {flag(gOrder, ModRelaxed)},
	"acquire": {flag(gOrder, ModAcquire)}, "release": {flag(gOrder, ModRelease)},
	"acq_rel": {flag(gOrder, ModAcquire|ModRelease)}, "sc": {flag(gOrder, 0)},
	"cta": {inScope(ScopeCTA)}, "cluster": {inScope(ScopeCluster)}, "gpu": {inScope(ScopeGPU)},
	"gl": {inScope(ScopeGPU)}, "sys": {inScope(ScopeSys)},
	"v2": {vector(2)}, "v4": {vector(4)}, "v8": {vector(8)},
	"cc": {flag(gCC, ModCarryOut)},
	"up": {mode(gShfl, ShflUp)}, "down": {mode(gShfl, ShflDown)}, "bfly": {mode(gShfl, ShflBfly)}, "idx": {mode(gShfl, ShflIdx)},
	"l": {flag(gDir, ModLeft)}, "r": {flag(gDir, ModRight)},
	"clamp": {flag(gClamp, ModClamp)}, "wrap": {flag(gClamp, ModWrap)},
	"all": {mode(gVote, BoolAll)}, "any": {mode(gVote, BoolAny)},
	"uni":    {mode(gVote, BoolUni), flag(gUni, ModUni)},
	"ballot": {mode(gVote, BoolBallot)},
	"add":    {atomic(AtomAdd)}, "min": {atomic(AtomMin)}, "max": {atomic(AtomMax)},
	"inc": {atomic(AtomInc)}, "dec": {atomic(AtomDec)}, "exch": {atomic(AtomExch)}, "cas": {atomic(AtomCAS)},
	"NaN": {flag(gNaN, ModNaN)}, "relu": {flag(gRelu, ModRelu)},
	"sync": {flag(gSync, ModSync)}, "aligned": {ignored(gAligned)},
	"to": {flag(gTo, ModTo)}, "nc": {flag(gNC, ModNonCoherent)}, "noftz": {flag(gNoFtz, ModNoFtz)},
	"f4e": {mode(gPrmt, PrmtF4E)}, "b4e": {mode(gPrmt, PrmtB4E)}, "rc8": {mode(gPrmt, PrmtRC8)},
	"ecl": {mode(gPrmt, PrmtECL)}, "ecr": {mode(gPrmt, PrmtECR)}, "rc16": {mode(gPrmt, PrmtRC16)},
	"finite": {mode(gTest, TestFinite)}, "infinite": {mode(gTest, TestInfinite)},
	"number": {mode(gTest, TestNumber)}, "notanumber": {mode(gTest, TestNotANumber)},
	"normal": {mode(gTest, TestNormal)}, "subnormal": {mode(gTest, TestSubnormal)},
	"shiftamt":  {flag(gShift, ModShiftAmt)},
	"satfinite": {flag(gSatfinite, ModSat)}, "noComplete": {ignored(gComplete)}, "L2::evict_unchanged": {ignored(gPolicy)},
	"wait": {ignored(gIgnore)}, "launch_dependents": {ignored(gIgnore)},
}

// notModelled are modifiers PTX has and this package does not.
var notModelled = map[string]bool{
	"xorsign": true, "abs": true, "satfinite": true, "mmio": true,
	"unified": true, "level::eviction_priority": true, "scaled": true, "rs": true,
	"e2m1x2": true, "e2m3x2": true, "e3m2x2": true,
	"ue8m0x2": true, "f32x2": true, "u8x4": true, "s8x4": true, "b1024": true,
	"L2::evict_unchanged": true, "tensormap": true, "async": true, "proxy": true,
}
