package ir

import "github.com/warptune/warptune/simengine/ptx"

// typeSet is a set of types.
type typeSet uint32

func types(ts ...Type) (s typeSet) {
	for _, t := range ts {
		s |= 1 << t
	}
	return s
}

var (
	tBits   = types(B16, B32, B64)
	tInt    = types(U16, U32, U64, S16, S32, S64)
	tInt32  = types(U32, S32)
	tPacked = types(U16x2, S16x2)
	tHalf   = types(F16, F16x2, BF16, BF16x2)
	tFloat  = types(F32, F64)
	tB32    = types(B32)
	tLogic  = types(Pred, B16, B32, B64)
	tAny    = tBits | tInt | tHalf | tFloat | tPacked | types(B8, U8, S8, B128, TF32)
	tScalar = tBits | tInt | types(F16, BF16) | tFloat | types(B8, U8, S8, F16x2, BF16x2)
	tAddr   = types(U32, U64, B32, B64, S32, S64)
	tPred   = types(Pred)
	tEights = types(E4M3x2, E5M2x2)
)

// spec says how one opcode is written: the modifiers it may carry and must
// carry, its types, and its operands.
//
// Operands are letters, in order; '?' makes the one before it optional:
//
//	d  destination of the instruction's type     D  twice as wide under .wide
//	u  destination of 32 bits                    q  d, or a pair d|p
//	Q  u, or a pair u|p                          P  predicate or pair p|q
//	o  predicate destination                     t  source of the instruction's type
//	w  source, twice as wide under .wide         s  source of the second type
//	i  source of 32 bits                         p  predicate source
//	m  constant                                  a  memory address
//	V  destination vector (.v2, .v4)             X  source vector
//	l  an address value                           h  cache policy, read and dropped
//	f  source of type f32
type spec struct {
	op      Op
	may     group
	must    group // at least one modifier of each group
	types   typeSet
	second  typeSet // allowed second types; 0: only one type is written
	args    string
	relaxed bool // registers may be wider than the type
	mod     Mod  // flags the opcode's name implies
	form    form // opcodes that args cannot describe
}

// form is how the operands of an opcode are read.
type form uint8

const (
	formArgs form = iota // as spec.args says
	formMov
	formCvt
	formAtom
	formCpAsync
	formBra
	formBrx
	formCall
	formRet
	formBar
	formMma
	formLdmatrix
	formMovmatrix
	formWmma
	formWgmma
	formStmatrix
	formBulk
	formFenceProxy
	formTensormapSet
	formTensormapCopy
	formArrive  // as spec.args says, with a check
	formDropped // as spec.args says, but the sources are not kept
)

// site is one instruction being built.
type site struct {
	in    *ptx.Instr
	shape *shape
	out   Instr
	arg   int // operands read so far
}

// arith is the groups of floating-point arithmetic.
const arith = gRound | gFtz | gSat

// specs is the opcode table. A name may have several dotted parts: the longest
// that matches is taken. What is not modelled has an empty spec.
var specs = func() map[string]*spec {
	all := map[string]*spec{}
	for _, table := range []map[string]*spec{arithmeticSpecs, logicSpecs, compareSpecs, moveSpecs, matrixSpecs, controlSpecs, syncSpecs, asyncSpecs} {
		for name, s := range table {
			all[name] = s
		}
	}
	for alias, of := range map[string]string{
		"bar.cta": "bar", "barrier": "bar", "barrier.cta": "bar",
		"bar.cta.arrive": "bar.arrive", "barrier.arrive": "bar.arrive", "barrier.cta.arrive": "bar.arrive",
		"bar.cta.red": "bar.red", "barrier.red": "bar.red", "barrier.cta.red": "bar.red",
	} {
		all[alias] = all[of]
	}
	for _, n := range unmodelled {
		all[n] = &spec{}
	}
	return all
}()

// Integer and floating-point arithmetic.
var arithmeticSpecs = map[string]*spec{
	"add":   {op: Add, may: arith | gCC, types: tInt | tPacked | tHalf | tFloat, args: "dtt"},
	"sub":   {op: Sub, may: arith | gCC, types: tInt | tPacked | tHalf | tFloat, args: "dtt"},
	"mul":   {op: Mul, may: arith | gWide, types: tInt | tHalf | tFloat, args: "Dtt"},
	"mad":   {op: Mad, may: arith | gWide | gCC, types: tInt | tFloat, args: "Dttw"},
	"fma":   {op: Fma, may: arith | gRelu, must: gRound, types: tHalf | tFloat, args: "dttt"},
	"addc":  {op: AddC, may: gCC, types: types(U32, S32, U64, S64), args: "dtt", mod: ModCarryIn},
	"subc":  {op: SubC, may: gCC, types: types(U32, S32, U64, S64), args: "dtt", mod: ModCarryIn},
	"madc":  {op: MadC, may: gCC | gWide, types: types(U32, S32, U64, S64), args: "dttt", mod: ModCarryIn},
	"mul24": {op: Mul24, may: gWide, must: gWide, types: tInt32, args: "dtt"},
	"mad24": {op: Mad24, may: gWide | gSat, must: gWide, types: tInt32, args: "dttt"},
	"sad":   {op: Sad, types: tInt, args: "dttt"},
	// Of the SIMD video instructions the one that is one machine instruction, as CUDA writes it.
	"vabsdiff4.u32.u32": {op: Vabsdiff4, may: gAtom, types: types(U32), args: "dttt"},
	"div":               {op: Div, may: arith | gApprox, types: tInt | tFloat, args: "dtt"},
	"rem":               {op: Rem, types: tInt, args: "dtt"},
	"abs":               {op: Abs, may: gFtz, types: types(S16, S32, S64) | tHalf | tFloat, args: "dt"},
	"neg":               {op: Neg, may: gFtz, types: types(S16, S32, S64) | tHalf | tFloat, args: "dt"},
	"min":               {op: Min, may: gFtz | gNaN | gRelu, types: tInt | tPacked | tHalf | tFloat, args: "dtt"},
	"max":               {op: Max, may: gFtz | gNaN | gRelu, types: tInt | tPacked | tHalf | tFloat, args: "dtt"},
	"dp4a":              {op: Dp4a, types: tInt32, second: tInt32, args: "uiii"},
	"dp2a":              {op: Dp2a, may: gWide, must: gWide, types: tInt32, second: tInt32, args: "uiii"},
	"rcp":               {op: Rcp, may: arith | gApprox, types: tFloat, args: "dt"},
	"sqrt":              {op: Sqrt, may: arith | gApprox, types: tFloat, args: "dt"},
	"rsqrt":             {op: Rsqrt, may: gFtz | gApprox, must: gApprox, types: tFloat, args: "dt"},
	"sin":               {op: Sin, may: gFtz | gApprox, must: gApprox, types: types(F32), args: "dt"},
	"cos":               {op: Cos, may: gFtz | gApprox, must: gApprox, types: types(F32), args: "dt"},
	"lg2":               {op: Lg2, may: gFtz | gApprox, must: gApprox, types: types(F32), args: "dt"},
	"ex2":               {op: Ex2, may: gFtz | gApprox, must: gApprox, types: types(F32) | tHalf, args: "dt"},
	"tanh":              {op: Tanh, may: gApprox, must: gApprox, types: types(F32) | tHalf, args: "dt"},
	"copysign":          {op: Copysign, types: tFloat, args: "dtt"},
	"testp":             {op: Testp, may: gTest, must: gTest, types: tFloat, args: "ot"},
}

// Logic, shifts and bit fields.
var logicSpecs = map[string]*spec{
	"and":   {op: And, types: tLogic, args: "dtt"},
	"or":    {op: Or, types: tLogic, args: "dtt"},
	"xor":   {op: Xor, types: tLogic, args: "dtt"},
	"not":   {op: Not, types: tLogic, args: "dt"},
	"cnot":  {op: CNot, types: tBits, args: "dt"},
	"lop3":  {op: Lop3, may: gBool, types: tB32, args: "qtttmp?"},
	"shl":   {op: Shl, types: tBits, args: "dti"},
	"shr":   {op: Shr, types: tBits | tInt, args: "dti"},
	"shf":   {op: Shf, may: gDir | gClamp, must: gDir | gClamp, types: tB32, args: "dtti"},
	"bfe":   {op: Bfe, types: types(U32, U64, S32, S64), args: "dtii"},
	"bfi":   {op: Bfi, types: types(B32, B64), args: "dttii"},
	"bfind": {op: Bfind, may: gShift, types: types(U32, U64, S32, S64), args: "ut"},
	"brev":  {op: Brev, types: types(B32, B64), args: "dt"},
	"clz":   {op: Clz, types: types(B32, B64), args: "ut"},
	"popc":  {op: Popc, types: types(B32, B64), args: "ut"},
	"fns":   {op: Fns, types: tB32, args: "uiii"},
	"szext": {op: Szext, may: gClamp, must: gClamp, types: tInt32, args: "dti"},
	"bmsk":  {op: Bmsk, may: gClamp, must: gClamp, types: tB32, args: "dii"},
	"prmt":  {op: Prmt, may: gPrmt, types: tB32, args: "dttt"},
}

// Comparison and selection.
var compareSpecs = map[string]*spec{
	"setp": {op: Setp, may: gCmp | gBool | gFtz, must: gCmp, types: tBits | tInt | tHalf | tFloat, args: "Pttp?"},
	"set": {op: Set, may: gCmp | gBool | gFtz, must: gCmp, types: types(B32, U32, S32, F32, U16, S16, F16, F16x2, BF16, BF16x2),
		second: tBits | tInt | tHalf | tFloat, args: "dssp?"},
	"selp": {op: Selp, types: tBits | tInt | tFloat | types(F16, BF16), args: "dttp"},
	"slct": {op: Slct, may: gFtz, types: tBits | tInt | tFloat, second: types(S32, F32), args: "dtts"},
}

// Data movement.
var moveSpecs = map[string]*spec{
	"mov":                   {op: Mov, types: tAny | tPred, form: formMov},
	"cvt":                   {op: Cvt, form: formCvt, may: gRound | gIRound | gFtz | gSat | gRelu | gSatfinite, types: tAny | tEights, second: tAny | tEights, relaxed: true},
	"ld":                    {op: Ld, may: gSpace | gCache | gOrder | gScope | gVec | gNC, types: tScalar | types(B128), args: "Vah?", relaxed: true},
	"ldu":                   {op: Ldu, may: gSpace | gVec, types: tScalar, args: "Va", relaxed: true},
	"st":                    {op: St, may: gSpace | gCache | gOrder | gScope | gVec, types: tScalar | types(B128), args: "aXh?", relaxed: true},
	"atom":                  {op: Atom, may: gSpace | gOrder | gScope | gAtom | gNoFtz | gVec, must: gAtom, form: formAtom, types: tScalar},
	"red":                   {op: Red, may: gSpace | gOrder | gScope | gAtom | gNoFtz | gVec, must: gAtom, form: formAtom, types: tScalar},
	"cvta":                  {op: Cvta, may: gSpace | gTo, must: gSpace, types: tAddr, args: "dt"},
	"isspacep":              {op: Isspacep, may: gSpace, must: gSpace, args: "ol"},
	"shfl":                  {op: Shfl, may: gShfl | gSync, must: gShfl, types: tB32, args: "qtiii?"},
	"mapa":                  {op: Mapa, may: gSpace, types: types(U32, U64), args: "dti"},
	"prefetch":              {op: Prefetch, may: gSpace | gLevel, must: gLevel, args: "a"},
	"prefetchu":             {op: Prefetch, may: gLevel, must: gLevel, args: "a"},
	"cp.async":              {op: CpAsync, may: gSpace | gAsync, must: gSpace | gAsync, form: formCpAsync},
	"cp.async.commit_group": {op: CpAsyncCommit},
	"cp.async.wait_group":   {op: CpAsyncWait, args: "m"},
	"cp.async.wait_all":     {op: CpAsyncWait, mod: ModAll},
}

// MMA and what moves its fragments, whose opcodes shape.matrix reads.
var matrixSpecs = map[string]*spec{
	"mma":         {op: Mma, form: formMma},
	"ldmatrix":    {op: Ld, form: formLdmatrix, args: "Va", mod: ModMatrix | ModSync},
	"stmatrix":    {op: St, form: formStmatrix, args: "aX", mod: ModMatrix | ModSync},
	"movmatrix":   {op: Movmatrix, form: formMovmatrix, args: "dt", mod: ModTrans | ModSync},
	"wmma.load.a": {op: Ld, form: formWmma}, "wmma.load.b": {op: Ld, form: formWmma}, "wmma.load.c": {op: Ld, form: formWmma},
	"wmma.store.d": {op: St, form: formWmma}, "wmma.mma": {op: Mma, form: formWmma},
}

// Control flow.
var controlSpecs = map[string]*spec{
	"bra":     {op: Bra, may: gUni, form: formBra},
	"brx.idx": {op: Brx, may: gUni, form: formBrx},
	"call":    {op: Bra, may: gUni, form: formCall},
	"ret":     {op: Exit, may: gUni, form: formRet},
	"exit":    {op: Exit},
	"trap":    {op: Trap},
	"brkpt":   {op: Nop},
	"pmevent": {op: Nop, args: "m"},
}

// Synchronisation and communication.
var syncSpecs = map[string]*spec{
	"bar":            {op: Bar, may: gSync | gAligned, must: gSync, form: formBar},
	"bar.arrive":     {op: Bar, may: gAligned, mod: ModArrive, form: formBar},
	"bar.red":        {op: BarRed, may: gPopc | gBool | gAligned, must: gPopc | gBool, types: types(U32, Pred), form: formBar},
	"bar.warp":       {op: BarWarp, may: gSync, must: gSync, args: "i"},
	"membar":         {op: Membar, may: gScope, must: gScope},
	"fence":          {op: Membar, may: gScope | gOrder, must: gScope},
	"vote":           {op: Vote, may: gVote | gSync, must: gVote, types: types(Pred, B32), args: "dpi?"},
	"match.any":      {op: Match, may: gSync, must: gSync, types: types(B32, B64), args: "uti"},
	"match.all":      {op: Match, may: gSync, must: gSync, types: types(B32, B64), args: "Qti", mod: ModAll},
	"activemask":     {op: Activemask, types: tB32, args: "d"},
	"redux":          {op: Redux, may: gSync | gAtom, must: gSync | gAtom, types: types(B32, U32, S32), args: "dti"},
	"elect":          {op: Elect, may: gSync, must: gSync, args: "Qi"},
	"nanosleep":      {op: Nanosleep, types: types(U32), args: "t"},
	"griddepcontrol": {op: Nop, may: gIgnore, must: gIgnore},
}

// unmodelled is the PTX instructions that the simulator refuses by name: sparse MMA, Blackwell's MMA
// and tensor memory, stores and reductions that complete at an mbarrier, multimem, textures and
// surfaces, stack allocation and the video instructions (but vabsdiff4 of unsigned bytes).
var unmodelled = []string{
	"wmma", "mma.sp", "mma.sp::ordered_metadata", "wgmma", "wgmma.mma_async.sp", "tcgen05",
	"mbarrier.pending_count", "st.async", "st.bulk", "red.async", "multimem", "clusterlaunchcontrol",
	"tensormap.replace.im2col", "tensormap.replace.im2col_no_offs", "tensormap.replace.im2col::w", "tensormap.replace.im2col::w::128",
	"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep", "alloca", "stacksave", "stackrestore",
	"cvt.pack",
	"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset",
	"vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2",
	"vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4",
}
