package ir

// Type is a PTX fundamental type. The zero value is invalid.
type Type uint8

// PTX types.
const (
	TypeInvalid Type = iota
	Pred
	B8
	B16
	B32
	B64
	B128
	U8
	U16
	U32
	U64
	S8
	S16
	S32
	S64
	F16
	F16x2
	BF16
	BF16x2
	F32
	F64
	U16x2
	S16x2
	E4M3
	E5M2
	TF32
	E4M3x2 // in a register of 16 bits, as E5M2x2
	E5M2x2
)

// Space is a PTX state space. The zero value means generic addressing for
// memory instructions and "none" elsewhere.
type Space uint8

// PTX state spaces.
const (
	Generic Space = iota
	Global
	Shared
	Local
	Const
	ParamSpace
	RegSpace
	SharedCluster // shared memory of any CTA of the cluster, by addresses that mapa gives
)

// Mod is a set of instruction modifiers.
type Mod uint32

// Modifiers.
const (
	ModWide Mod = 1 << iota
	ModHi
	ModLo
	ModSat
	ModFtz
	ModApprox
	ModFull
	ModVolatile
	ModNonCoherent // ld.global.nc
	ModUni         // bra.uni
	ModLeft        // shf.l
	ModRight       // shf.r
	ModClamp       // shf.clamp, shfl up/bfly clamp is in the operand
	ModWrap
	ModCarryIn  // addc, subc, madc read the carry
	ModCarryOut // .cc writes the carry
	ModSync     // .sync forms of shfl, vote, match, bar.warp
	ModTo       // cvta.to.SPACE (generic to space)
	ModArrive   // bar.arrive
	ModRelaxed
	ModAcquire // Membar with neither this nor ModRelease is sequentially consistent
	ModRelease
	ModNaN
	ModShiftAmt // bfind.shiftamt
	ModAll      // match.all, cp.async.wait_all
	ModBypassL1 // cp.async.cg
	ModRelu     // negative results and NaN become zero
	ModNoFtz    // atom and red on f16: subnormals are kept
	ModMatrix   // ldmatrix: see Instr.Vec
	ModTrans    // ldmatrix.trans, stmatrix.trans, movmatrix.trans

	// Of asynchronous instructions these bits mean something else.
	ModTx   = ModFull     // mbarrier.arrive.expect_tx
	ModDrop = ModApprox   // mbarrier.arrive_drop
	ModDone = ModClamp    // mbarrier.complete_tx
	ModTry  = ModWrap     // mbarrier.try_wait
	ModRead = ModShiftAmt // cp.async.bulk.wait_group.read
	ModInc  = ModLeft     // setmaxnreg.inc
	// ModXorSign is the lesser or greater magnitude with the sign of the product (min.xorsign.abs).
	ModXorSign = ModLeft
	// ModParity is a wait for a phase by its parity, not by its state.
	ModParity = ModRight
)

// Scope is the set of threads an atomic, fence or strong access is ordered for.
type Scope uint8

// Scopes. ScopeNone leaves it to the opcode (an atom without one is .gpu).
const (
	ScopeNone Scope = iota
	ScopeCTA
	ScopeCluster
	ScopeGPU
	ScopeSys
)

// Round is a rounding modifier.
type Round uint8

// Rounding modes. RN is the default of floating-point arithmetic: RoundNone
// rounds as RN, and allows add, sub and mul to be fused into fma, which an
// explicit RN does not.
const (
	RoundNone Round = iota
	RN
	RZ
	RM
	RP
	RNI
	RZI
	RMI
	RPI
	RNA
)

// Cmp is a comparison operator of Setp and Set.
type Cmp uint8

// Comparison operators; the U forms are true for unordered operands, LO to HS
// are the unsigned spellings.
const (
	CmpNone Cmp = iota
	CmpEQ
	CmpNE
	CmpLT
	CmpLE
	CmpGT
	CmpGE
	CmpLO
	CmpLS
	CmpHI
	CmpHS
	CmpEQU
	CmpNEU
	CmpLTU
	CmpLEU
	CmpGTU
	CmpGEU
	CmpNum
	CmpNaN
)

// BoolOp combines predicates in Setp, and names the mode of Vote, BarRed and Shfl.
type BoolOp uint8

// Boolean operators and vote, shuffle and permute modes.
const (
	BoolNone BoolOp = iota
	BoolAnd
	BoolOr
	BoolXor
	BoolPopc
	BoolAll
	BoolAny
	BoolUni
	BoolBallot
	ShflUp
	ShflDown
	ShflBfly
	ShflIdx
	PrmtF4E
	PrmtB4E
	PrmtRC8
	PrmtECL
	PrmtECR
	PrmtRC16
	TestFinite // testp modes
	TestInfinite
	TestNumber
	TestNotANumber
	TestNormal
	TestSubnormal
)

// AtomOp is the operation of Atom, Red and Redux.
type AtomOp uint8

// Atomic operations.
const (
	AtomNone AtomOp = iota
	AtomAdd
	AtomMin
	AtomMax
	AtomInc
	AtomDec
	AtomAnd
	AtomOr
	AtomXor
	AtomExch
	AtomCAS
)

// CacheOp is a cache operator of a load or store; for Prefetch CacheCA is L1
// and CacheCG is L2.
type CacheOp uint8

// Cache operators, PTX letters kept.
const (
	CacheDefault CacheOp = iota
	CacheCA
	CacheCG
	CacheCS
	CacheLU
	CacheCV
	CacheWB
	CacheWT
	CacheNoAllocate // .L1::no_allocate: the line does not stay in L1
)

// Special is a special register.
type Special uint8

// Special registers that are modelled.
const (
	SpecialNone Special = iota
	TidX
	TidY
	TidZ
	NTidX
	NTidY
	NTidZ
	CTAIdX
	CTAIdY
	CTAIdZ
	NCTAIdX
	NCTAIdY
	NCTAIdZ
	LaneID
	WarpID
	NWarpID
	SMID
	NSMID
	GridID
	Clock
	ClockHi
	Clock64
	GlobalTimer
	LaneMaskEQ
	LaneMaskLE
	LaneMaskLT
	LaneMaskGE
	LaneMaskGT
	DynamicSmemSize
	TotalSmemSize
	ClusterIdX
	ClusterIdY
	ClusterIdZ
	NClusterIdX
	NClusterIdY
	NClusterIdZ
	ClusterCTAIdX
	ClusterCTAIdY
	ClusterCTAIdZ
	ClusterNCTAIdX
	ClusterNCTAIdY
	ClusterNCTAIdZ
	ClusterCTARank
	ClusterNCTARank
	IsExplicitCluster
	EnvReg1 // of a cooperative launch the upper half of the address of the grid's workspace, else 0
	EnvReg2 // the lower half
	ReservedSmemBegin
	ReservedSmemEnd
	ReservedSmemCap
	ReservedSmem0
	ReservedSmem1
)
