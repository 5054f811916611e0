package lower

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// typeSet is a set of types.
type typeSet uint32

func types(ts ...ir.Type) (s typeSet) {
	for _, t := range ts {
		s |= 1 << t
	}
	return s
}

var (
	tBits   = types(ir.B16, ir.B32, ir.B64)
	tInt    = types(ir.U16, ir.U32, ir.U64, ir.S16, ir.S32, ir.S64)
	tInt32  = types(ir.U32, ir.S32)
	tPacked = types(ir.U16x2, ir.S16x2)
	tHalf   = types(ir.F16, ir.F16x2, ir.BF16, ir.BF16x2)
	tFloat  = types(ir.F32, ir.F64)
	tB32    = types(ir.B32)
	tLogic  = types(ir.Pred, ir.B16, ir.B32, ir.B64)
	tAny    = tBits | tInt | tHalf | tFloat | tPacked | types(ir.B8, ir.U8, ir.S8, ir.B128, ir.TF32)
	tScalar = tBits | tInt | types(ir.F16, ir.BF16) | tFloat | types(ir.B8, ir.U8, ir.S8, ir.F16x2, ir.BF16x2)
	tAddr   = types(ir.U32, ir.U64, ir.B32, ir.B64, ir.S32, ir.S64)
	tPred   = types(ir.Pred)
	tFP8    = types(ir.E4M3x2, ir.E5M2x2)
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
	op      ir.Op
	may     group
	must    group // at least one modifier of each group
	types   typeSet
	second  typeSet // allowed second types; 0: only one type is written
	args    string
	relaxed bool   // registers may be wider than the type
	mod     ir.Mod // flags the opcode's name implies
	form    form   // opcodes that args cannot describe
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
	formTexture
)

// site is one instruction being built.
type site struct {
	in    *ptx.Instr
	shape *shape
	out   ir.Instr
	arg   int // operands read so far
}

// arith is the groups of floating-point arithmetic.
const arith = gRound | gFtz | gSat

// specs is the opcode table. A name may have several dotted parts: the longest
// that matches is taken. What is not modelled has an empty spec.
var specs = func() map[string]*spec {
	all := map[string]*spec{}
	for _, table := range []map[string]*spec{arithmeticSpecs, logicSpecs, compareSpecs, moveSpecs, matrixSpecs, controlSpecs, syncSpecs, asyncSpecs, textureSpecs} {
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
	"add":   {op: ir.Add, may: arith | gCC, types: tInt | tPacked | tHalf | tFloat, args: "dtt"},
	"sub":   {op: ir.Sub, may: arith | gCC, types: tInt | tPacked | tHalf | tFloat, args: "dtt"},
	"mul":   {op: ir.Mul, may: arith | gWide, types: tInt | tHalf | tFloat, args: "Dtt"},
	"mad":   {op: ir.Mad, may: arith | gWide | gCC, types: tInt | tFloat, args: "Dttw"},
	"fma":   {op: ir.Fma, may: arith | gRelu, must: gRound, types: tHalf | tFloat, args: "dttt"},
	"addc":  {op: ir.AddC, may: gCC, types: types(ir.U32, ir.S32, ir.U64, ir.S64), args: "dtt", mod: ir.ModCarryIn},
	"subc":  {op: ir.SubC, may: gCC, types: types(ir.U32, ir.S32, ir.U64, ir.S64), args: "dtt", mod: ir.ModCarryIn},
	"madc":  {op: ir.MadC, may: gCC | gWide, types: types(ir.U32, ir.S32, ir.U64, ir.S64), args: "dttt", mod: ir.ModCarryIn},
	"mul24": {op: ir.Mul24, may: gWide, must: gWide, types: tInt32, args: "dtt"},
	"mad24": {op: ir.Mad24, may: gWide | gSat, must: gWide, types: tInt32, args: "dttt"},
	"sad":   {op: ir.Sad, types: tInt, args: "dttt"},
	// Of the SIMD video instructions the one that is one machine instruction, as CUDA writes it.
	"vabsdiff4.u32.u32": {op: ir.Vabsdiff4, may: gAtom, types: types(ir.U32), args: "dttt"},
	"div":               {op: ir.Div, may: arith | gApprox, types: tInt | tFloat, args: "dtt"},
	"rem":               {op: ir.Rem, types: tInt, args: "dtt"},
	"abs":               {op: ir.Abs, may: gFtz, types: types(ir.S16, ir.S32, ir.S64) | tHalf | tFloat, args: "dt"},
	"neg":               {op: ir.Neg, may: gFtz, types: types(ir.S16, ir.S32, ir.S64) | tHalf | tFloat, args: "dt"},
	"min":               {op: ir.Min, may: gFtz | gNaN | gXorSign | gAbs | gRelu, types: tInt | tPacked | tHalf | tFloat, args: "dtt"},
	"max":               {op: ir.Max, may: gFtz | gNaN | gXorSign | gAbs | gRelu, types: tInt | tPacked | tHalf | tFloat, args: "dtt"},
	"dp4a":              {op: ir.Dp4a, types: tInt32, second: tInt32, args: "uiii"},
	"dp2a":              {op: ir.Dp2a, may: gWide, must: gWide, types: tInt32, second: tInt32, args: "uiii"},
	"rcp":               {op: ir.Rcp, may: arith | gApprox, types: tFloat, args: "dt"},
	"sqrt":              {op: ir.Sqrt, may: arith | gApprox, types: tFloat, args: "dt"},
	"rsqrt":             {op: ir.Rsqrt, may: gFtz | gApprox, must: gApprox, types: tFloat, args: "dt"},
	"sin":               {op: ir.Sin, may: gFtz | gApprox, must: gApprox, types: types(ir.F32), args: "dt"},
	"cos":               {op: ir.Cos, may: gFtz | gApprox, must: gApprox, types: types(ir.F32), args: "dt"},
	"lg2":               {op: ir.Lg2, may: gFtz | gApprox, must: gApprox, types: types(ir.F32), args: "dt"},
	"ex2":               {op: ir.Ex2, may: gFtz | gApprox, must: gApprox, types: types(ir.F32) | tHalf, args: "dt"},
	"tanh":              {op: ir.Tanh, may: gApprox, must: gApprox, types: types(ir.F32) | tHalf, args: "dt"},
	"copysign":          {op: ir.Copysign, types: tFloat, args: "dtt"},
	"testp":             {op: ir.Testp, may: gTest, must: gTest, types: tFloat, args: "ot"},
}

// Logic, shifts and bit fields.
var logicSpecs = map[string]*spec{
	"and":   {op: ir.And, types: tLogic, args: "dtt"},
	"or":    {op: ir.Or, types: tLogic, args: "dtt"},
	"xor":   {op: ir.Xor, types: tLogic, args: "dtt"},
	"not":   {op: ir.Not, types: tLogic, args: "dt"},
	"cnot":  {op: ir.CNot, types: tBits, args: "dt"},
	"lop3":  {op: ir.Lop3, may: gBool, types: tB32, args: "qtttmp?"},
	"shl":   {op: ir.Shl, types: tBits, args: "dti"},
	"shr":   {op: ir.Shr, types: tBits | tInt, args: "dti"},
	"shf":   {op: ir.Shf, may: gDir | gClamp, must: gDir | gClamp, types: tB32, args: "dtti"},
	"bfe":   {op: ir.Bfe, types: types(ir.U32, ir.U64, ir.S32, ir.S64), args: "dtii"},
	"bfi":   {op: ir.Bfi, types: types(ir.B32, ir.B64), args: "dttii"},
	"bfind": {op: ir.Bfind, may: gShift, types: types(ir.U32, ir.U64, ir.S32, ir.S64), args: "ut"},
	"brev":  {op: ir.Brev, types: types(ir.B32, ir.B64), args: "dt"},
	"clz":   {op: ir.Clz, types: types(ir.B32, ir.B64), args: "ut"},
	"popc":  {op: ir.Popc, types: types(ir.B32, ir.B64), args: "ut"},
	"fns":   {op: ir.Fns, types: tB32, args: "uiii"},
	"szext": {op: ir.Szext, may: gClamp, must: gClamp, types: tInt32, args: "dti"},
	"bmsk":  {op: ir.Bmsk, may: gClamp, must: gClamp, types: tB32, args: "dii"},
	"prmt":  {op: ir.Prmt, may: gPrmt, types: tB32, args: "dttt"},
}

// Comparison and selection.
var compareSpecs = map[string]*spec{
	"setp": {op: ir.Setp, may: gCmp | gBool | gFtz, must: gCmp, types: tBits | tInt | tHalf | tFloat, args: "Pttp?"},
	"set": {op: ir.Set, may: gCmp | gBool | gFtz, must: gCmp, types: types(ir.B32, ir.U32, ir.S32, ir.F32, ir.U16, ir.S16, ir.F16, ir.F16x2, ir.BF16, ir.BF16x2),
		second: tBits | tInt | tHalf | tFloat, args: "dssp?"},
	"selp": {op: ir.Selp, types: tBits | tInt | tFloat | types(ir.F16, ir.BF16), args: "dttp"},
	"slct": {op: ir.Slct, may: gFtz, types: tBits | tInt | tFloat, second: types(ir.S32, ir.F32), args: "dtts"},
}

// Data movement.
var moveSpecs = map[string]*spec{
	"mov":                   {op: ir.Mov, types: tAny | tPred, form: formMov},
	"cvt":                   {op: ir.Cvt, form: formCvt, may: gRound | gIRound | gFtz | gSat | gRelu | gSatfinite, types: tAny | tFP8, second: tAny | tFP8, relaxed: true},
	"ld":                    {op: ir.Ld, may: gSpace | gCache | gOrder | gScope | gVec | gNC, types: tScalar | types(ir.B128), args: "Vah?", relaxed: true},
	"ldu":                   {op: ir.Ldu, may: gSpace | gVec, types: tScalar, args: "Va", relaxed: true},
	"st":                    {op: ir.St, may: gSpace | gCache | gOrder | gScope | gVec, types: tScalar | types(ir.B128), args: "aXh?", relaxed: true},
	"atom":                  {op: ir.Atom, may: gSpace | gOrder | gScope | gAtom | gNoFtz | gVec, must: gAtom, form: formAtom, types: tScalar},
	"red":                   {op: ir.Red, may: gSpace | gOrder | gScope | gAtom | gNoFtz | gVec, must: gAtom, form: formAtom, types: tScalar},
	"cvta":                  {op: ir.Cvta, may: gSpace | gTo, must: gSpace, types: tAddr, args: "dt"},
	"isspacep":              {op: ir.Isspacep, may: gSpace, must: gSpace, args: "ol"},
	"shfl":                  {op: ir.Shfl, may: gShfl | gSync, must: gShfl, types: tB32, args: "qtiii?"},
	"mapa":                  {op: ir.Mapa, may: gSpace, types: types(ir.U32, ir.U64), args: "dti"},
	"prefetch":              {op: ir.Prefetch, may: gSpace | gLevel, must: gLevel, args: "a"},
	"prefetchu":             {op: ir.Prefetch, may: gLevel, must: gLevel, args: "a"},
	"cp.async":              {op: ir.CpAsync, may: gSpace | gAsync, must: gSpace | gAsync, form: formCpAsync},
	"cp.async.commit_group": {op: ir.CpAsyncCommit},
	"cp.async.wait_group":   {op: ir.CpAsyncWait, args: "m"},
	"cp.async.wait_all":     {op: ir.CpAsyncWait, mod: ir.ModAll},
}

// MMA and what moves its fragments, whose opcodes shape.matrix reads.
var matrixSpecs = map[string]*spec{
	"mma":         {op: ir.Mma, form: formMma},
	"ldmatrix":    {op: ir.Ld, form: formLdmatrix, args: "Va", mod: ir.ModMatrix | ir.ModSync},
	"stmatrix":    {op: ir.St, form: formStmatrix, args: "aX", mod: ir.ModMatrix | ir.ModSync},
	"movmatrix":   {op: ir.Movmatrix, form: formMovmatrix, args: "dt", mod: ir.ModTrans | ir.ModSync},
	"wmma.load.a": {op: ir.Ld, form: formWmma}, "wmma.load.b": {op: ir.Ld, form: formWmma}, "wmma.load.c": {op: ir.Ld, form: formWmma},
	"wmma.store.d": {op: ir.St, form: formWmma}, "wmma.mma": {op: ir.Mma, form: formWmma},
}

// Control flow.
var controlSpecs = map[string]*spec{
	"bra":     {op: ir.Bra, may: gUni, form: formBra},
	"brx.idx": {op: ir.Brx, may: gUni, form: formBrx},
	"call":    {op: ir.Bra, may: gUni, form: formCall},
	"ret":     {op: ir.Exit, may: gUni, form: formRet},
	"exit":    {op: ir.Exit},
	"trap":    {op: ir.Trap},
	"brkpt":   {op: ir.Nop},
	"pmevent": {op: ir.Nop, args: "m"},
}

// Synchronisation and communication.
var syncSpecs = map[string]*spec{
	"bar":            {op: ir.Bar, may: gSync | gAligned, must: gSync, form: formBar},
	"bar.arrive":     {op: ir.Bar, may: gAligned, mod: ir.ModArrive, form: formBar},
	"bar.red":        {op: ir.BarRed, may: gPopc | gBool | gAligned, must: gPopc | gBool, types: types(ir.U32, ir.Pred), form: formBar},
	"bar.warp":       {op: ir.BarWarp, may: gSync, must: gSync, args: "i"},
	"membar":         {op: ir.Membar, may: gScope, must: gScope},
	"fence":          {op: ir.Membar, may: gScope | gOrder, must: gScope},
	"vote":           {op: ir.Vote, may: gVote | gSync, must: gVote, types: types(ir.Pred, ir.B32), args: "dpi?"},
	"match.any":      {op: ir.Match, may: gSync, must: gSync, types: types(ir.B32, ir.B64), args: "uti"},
	"match.all":      {op: ir.Match, may: gSync, must: gSync, types: types(ir.B32, ir.B64), args: "Qti", mod: ir.ModAll},
	"activemask":     {op: ir.Activemask, types: tB32, args: "d"},
	"redux":          {op: ir.Redux, may: gSync | gAtom, must: gSync | gAtom, types: types(ir.B32, ir.U32, ir.S32), args: "dti"},
	"elect":          {op: ir.Elect, may: gSync, must: gSync, args: "Qi"},
	"nanosleep":      {op: ir.Nanosleep, types: types(ir.U32), args: "t"},
	"griddepcontrol": {op: ir.Nop, may: gIgnore, must: gIgnore},
}

// unmodelled is the PTX instructions that the simulator refuses by name. They are sparse MMA, Blackwell's MMA and
// tensor memory, stores and reductions that complete at an mbarrier, multimem, mipmaps, formatted stores and reductions
// of surfaces, stack allocation, and the video instructions (but vabsdiff4 of unsigned bytes).
var unmodelled = []string{
	"wmma", "mma.sp", "mma.sp::ordered_metadata", "wgmma", "wgmma.mma_async.sp", "tcgen05",
	"mbarrier.pending_count", "st.async", "st.bulk", "red.async", "multimem", "clusterlaunchcontrol",
	"tensormap.replace.im2col", "tensormap.replace.im2col_no_offs", "tensormap.replace.im2col::w", "tensormap.replace.im2col::w::128",
	"tex.grad", "tex.base", "txq.level", "suld", "sust", "sured", "istypep", "alloca", "stacksave", "stackrestore",
	"cvt.pack",
	"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset",
	"vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2",
	"vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4",
}
