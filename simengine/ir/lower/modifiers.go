package lower

import "github.com/warptune/warptune/simengine/ir"

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
	gXorSign                     // xorsign
	gAbs                         // abs, with xorsign
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

func flag(g group, m ir.Mod) modifier { return modifier{g, func(s *shape) { s.Mod |= m }} }

func round(g group, r ir.Round) modifier { return modifier{g, func(s *shape) { s.Round = r }} }

func compare(c ir.Cmp) modifier { return modifier{gCmp, func(s *shape) { s.Cmp = c }} }

func mode(g group, b ir.BoolOp) modifier { return modifier{g, func(s *shape) { s.Bool = b }} }

func space(sp ir.Space) modifier { return modifier{gSpace, func(s *shape) { s.addSpace(sp) }} }

func cache(c ir.CacheOp) modifier { return modifier{gCache, func(s *shape) { s.Cache = c }} }

func inScope(sc ir.Scope) modifier { return modifier{gScope, func(s *shape) { s.Scope = sc }} }

func vector(n uint8) modifier { return modifier{gVec, func(s *shape) { s.Vec = n }} }

func atomic(a ir.AtomOp) modifier { return modifier{gAtom, func(s *shape) { s.Atom = a }} }

func ignored(g group) modifier { return modifier{g, func(*shape) {}} }

var prefetchL2 = modifier{gLevel, func(s *shape) { s.Cache = ir.CacheCG }}

// modifierTable lists what each spelling means, by group: ".lo" is the low
// half of a product and "lower" of a comparison.
var modifierTable = map[string][]modifier{
	"rn": {round(gRound, ir.RN)}, "rz": {round(gRound, ir.RZ)}, "rm": {round(gRound, ir.RM)}, "rp": {round(gRound, ir.RP)},
	"rni": {round(gIRound, ir.RNI)}, "rzi": {round(gIRound, ir.RZI)}, "rmi": {round(gIRound, ir.RMI)},
	"rpi": {round(gIRound, ir.RPI)}, "rna": {round(gIRound, ir.RNA)},
	"ftz": {flag(gFtz, ir.ModFtz)}, "sat": {flag(gSat, ir.ModSat)},
	"approx": {flag(gApprox, ir.ModApprox)}, "full": {flag(gApprox, ir.ModFull)},
	"wide": {flag(gWide, ir.ModWide)},
	"hi":   {flag(gWide, ir.ModHi), compare(ir.CmpHI)},
	"lo":   {flag(gWide, ir.ModLo), compare(ir.CmpLO)},
	"eq":   {compare(ir.CmpEQ)}, "ne": {compare(ir.CmpNE)}, "lt": {compare(ir.CmpLT)}, "le": {compare(ir.CmpLE)},
	"gt": {compare(ir.CmpGT)}, "ge": {compare(ir.CmpGE)}, "ls": {compare(ir.CmpLS)}, "hs": {compare(ir.CmpHS)},
	"equ": {compare(ir.CmpEQU)}, "neu": {compare(ir.CmpNEU)}, "ltu": {compare(ir.CmpLTU)}, "leu": {compare(ir.CmpLEU)},
	"gtu": {compare(ir.CmpGTU)}, "geu": {compare(ir.CmpGEU)}, "num": {compare(ir.CmpNum)}, "nan": {compare(ir.CmpNaN)},
	"and":    {mode(gBool, ir.BoolAnd), atomic(ir.AtomAnd)},
	"or":     {mode(gBool, ir.BoolOr), atomic(ir.AtomOr)},
	"xor":    {mode(gBool, ir.BoolXor), atomic(ir.AtomXor)},
	"popc":   {mode(gPopc, ir.BoolPopc)},
	"global": {space(ir.Global)}, "local": {space(ir.Local)}, "const": {space(ir.Const)},
	"shared": {space(ir.Shared)}, "shared::cta": {space(ir.Shared)}, "shared::cluster": {space(ir.SharedCluster)},
	"param": {space(ir.ParamSpace)}, "param::entry": {space(ir.ParamSpace)}, "param::func": {space(ir.ParamSpace)},
	"ca": {flag(gAsync, 0), cache(ir.CacheCA)}, "cg": {flag(gAsync, ir.ModBypassL1), cache(ir.CacheCG)},
	"cs": {cache(ir.CacheCS)}, "lu": {cache(ir.CacheLU)}, "cv": {cache(ir.CacheCV)}, "wb": {cache(ir.CacheWB)}, "wt": {cache(ir.CacheWT)},
	"L1::no_allocate": {cache(ir.CacheNoAllocate)},
	"L1::evict_first": {ignored(gCache)}, "L1::evict_last": {ignored(gCache)},
	"L1::evict_normal": {ignored(gCache)}, "L1::evict_unchanged": {ignored(gCache)},
	"L2::cache_hint": {ignored(gCache | gAtom | gAsync)}, "L2::evict_first": {ignored(gCache)},
	"L2::evict_last": {prefetchL2, ignored(gCache)}, "L2::evict_normal": {prefetchL2, ignored(gCache)},
	"L2::64B": {ignored(gCache | gAsync)}, "L2::128B": {ignored(gCache | gAsync)}, "L2::256B": {ignored(gCache | gAsync)},
	"L1": {modifier{gLevel, func(s *shape) { s.Cache = ir.CacheCA }}}, "L2": {prefetchL2},
	"weak": {ignored(gOrder)}, "volatile": {flag(gOrder, ir.ModVolatile)}, "relaxed": {flag(gOrder, ir.ModRelaxed)},
	"acquire": {flag(gOrder, ir.ModAcquire)}, "release": {flag(gOrder, ir.ModRelease)},
	"acq_rel": {flag(gOrder, ir.ModAcquire|ir.ModRelease)}, "sc": {flag(gOrder, 0)},
	"cta": {inScope(ir.ScopeCTA)}, "cluster": {inScope(ir.ScopeCluster)}, "gpu": {inScope(ir.ScopeGPU)},
	"gl": {inScope(ir.ScopeGPU)}, "sys": {inScope(ir.ScopeSys)},
	"v2": {vector(2)}, "v4": {vector(4)}, "v8": {vector(8)},
	"cc": {flag(gCC, ir.ModCarryOut)},
	"up": {mode(gShfl, ir.ShflUp)}, "down": {mode(gShfl, ir.ShflDown)}, "bfly": {mode(gShfl, ir.ShflBfly)}, "idx": {mode(gShfl, ir.ShflIdx)},
	"l": {flag(gDir, ir.ModLeft)}, "r": {flag(gDir, ir.ModRight)},
	"clamp": {flag(gClamp, ir.ModClamp)}, "wrap": {flag(gClamp, ir.ModWrap)},
	"all": {mode(gVote, ir.BoolAll)}, "any": {mode(gVote, ir.BoolAny)},
	"uni":    {mode(gVote, ir.BoolUni), flag(gUni, ir.ModUni)},
	"ballot": {mode(gVote, ir.BoolBallot)},
	"add":    {atomic(ir.AtomAdd)}, "min": {atomic(ir.AtomMin)}, "max": {atomic(ir.AtomMax)},
	"inc": {atomic(ir.AtomInc)}, "dec": {atomic(ir.AtomDec)}, "exch": {atomic(ir.AtomExch)}, "cas": {atomic(ir.AtomCAS)},
	"xorsign": {flag(gXorSign, ir.ModXorSign)}, "abs": {ignored(gAbs)},
	"NaN": {flag(gNaN, ir.ModNaN)}, "relu": {flag(gRelu, ir.ModRelu)},
	"sync": {flag(gSync, ir.ModSync)}, "aligned": {ignored(gAligned)},
	"to": {flag(gTo, ir.ModTo)}, "nc": {flag(gNC, ir.ModNonCoherent)}, "noftz": {flag(gNoFtz, ir.ModNoFtz)},
	"f4e": {mode(gPrmt, ir.PrmtF4E)}, "b4e": {mode(gPrmt, ir.PrmtB4E)}, "rc8": {mode(gPrmt, ir.PrmtRC8)},
	"ecl": {mode(gPrmt, ir.PrmtECL)}, "ecr": {mode(gPrmt, ir.PrmtECR)}, "rc16": {mode(gPrmt, ir.PrmtRC16)},
	"finite": {mode(gTest, ir.TestFinite)}, "infinite": {mode(gTest, ir.TestInfinite)},
	"number": {mode(gTest, ir.TestNumber)}, "notanumber": {mode(gTest, ir.TestNotANumber)},
	"normal": {mode(gTest, ir.TestNormal)}, "subnormal": {mode(gTest, ir.TestSubnormal)},
	"shiftamt":  {flag(gShift, ir.ModShiftAmt)},
	"satfinite": {flag(gSatfinite, ir.ModSat)}, "noComplete": {ignored(gComplete)}, "L2::evict_unchanged": {ignored(gPolicy)},
	"wait": {ignored(gIgnore)}, "launch_dependents": {ignored(gIgnore)},
}

// notModelled are modifiers PTX has and this package does not.
var notModelled = map[string]bool{
	"satfinite": true, "mmio": true,
	"unified": true, "level::eviction_priority": true, "scaled": true, "rs": true,
	"e2m1x2": true, "e2m3x2": true, "e3m2x2": true,
	"ue8m0x2": true, "f32x2": true, "u8x4": true, "s8x4": true, "b1024": true,
	"L2::evict_unchanged": true, "tensormap": true, "async": true, "proxy": true,
}
