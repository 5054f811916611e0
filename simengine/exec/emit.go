package exec

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// instr compiles instruction pc, unless this mode does not execute it.
func (c *compiler) instr(pc int) error {
	in := &c.k.Instrs[pc]
	if !c.needed[pc] && !executes(in.Op) {
		return nil
	}
	i := instr{pc: int32(pc)}
	if in.Guard != ir.NoReg {
		i.hasGuard, i.guardNot, i.guard = true, in.GuardNot, c.slots[in.Guard].index
	}
	emit, err := c.emitter(in)(pc, in, &i)
	if err != nil {
		return err
	}
	if emit {
		c.p.code = append(c.p.code, i)
	}
	return nil
}

// An emit function fills in one instruction; false drops it.
type emitFunc func(pc int, in *ir.Instr, i *instr) (bool, error)

func (c *compiler) emitter(in *ir.Instr) emitFunc {
	switch in.Op {
	case ir.Ld, ir.Ldu, ir.St, ir.Atom, ir.Red, ir.CpAsync:
		return c.emitMemory
	case ir.Nop, ir.Membar, ir.Nanosleep, ir.Prefetch:
		return func(int, *ir.Instr, *instr) (bool, error) { return false, nil }
	case ir.Setp, ir.Testp:
		return c.emitSetp
	case ir.Set:
		return c.emitCall((*Runner).set)
	case ir.Selp:
		return c.emitSelp
	case ir.AddC, ir.SubC, ir.MadC:
		return c.emitCarry
	case ir.Cvta, ir.Isspacep:
		return c.emitWindow
	case ir.Mov:
		if len(in.Dst) > 1 || len(in.Src) > 1 {
			return c.emitCall((*Runner).repack)
		}
		if len(in.Src) == 1 && in.Src[0].Kind == ir.OperandSpecial && isClock(in.Src[0].Special) {
			return c.emitCall((*Runner).readClock)
		}
	case ir.Add, ir.Sub, ir.Mad:
		if in.Mod&(ir.ModCarryIn|ir.ModCarryOut) != 0 {
			return c.emitCarry
		}
	}
	if run := calls[in.Op]; run != nil {
		return c.emitCall(run)
	}
	if in.Type == ir.Pred {
		return c.emitPred
	}
	return c.emitLane
}

func isClock(s ir.Special) bool {
	return s == ir.Clock || s == ir.Clock64 || s == ir.ClockHi || s == ir.GlobalTimer
}

// calls are the instructions that are more than a function of one lane.
var calls = map[ir.Op]func(*Runner, *warp, *instr, uint32) signal{
	ir.Shfl:          (*Runner).shuffle,
	ir.Vote:          (*Runner).vote,
	ir.Match:         (*Runner).match,
	ir.Activemask:    (*Runner).activeMask,
	ir.Redux:         (*Runner).redux,
	ir.Elect:         (*Runner).elect,
	ir.Bar:           (*Runner).barrierSync,
	ir.BarRed:        (*Runner).barrierReduce,
	ir.BarWarp:       (*Runner).warpSync,
	ir.Trap:          (*Runner).trap,
	ir.CpAsyncCommit: (*Runner).asyncCommit,
	ir.CpAsyncWait:   (*Runner).asyncWait,
}

// emitCall resolves operands and leaves the rest to run.
func (c *compiler) emitCall(run func(*Runner, *warp, *instr, uint32) signal) emitFunc {
	return func(pc int, in *ir.Instr, i *instr) (bool, error) {
		i.kind, i.x = kindCall, &extra{run: run, bool: in.Bool}
		if in.Op == ir.Set {
			t := in.SrcType
			if t == ir.TypeInvalid {
				t = in.Type
			}
			i.x.cmp32, i.x.cmp64 = selectCompare(in.Cmp, t, in.Mod&ir.ModFtz != 0)
			if i.x.cmp32 == nil && i.x.cmp64 == nil || in.Type.Packed() != ir.TypeInvalid {
				return false, c.unsupported(pc, "comparison of these types")
			}
			return true, c.operands(pc, in, i.x, t)
		}
		return true, c.operands(pc, in, i.x, in.Type)
	}
}

// operands resolves all sources, constants as type t, and destinations.
func (c *compiler) operands(pc int, in *ir.Instr, x *extra, t ir.Type) error {
	for n := range in.Src {
		o := &in.Src[n]
		s, err := c.source(pc, o, t)
		if err != nil {
			return err
		}
		if o.Not {
			x.not |= 1 << n
		}
		x.src = append(x.src, s)
	}
	for _, r := range in.Dst {
		d, err := c.dest(pc, r)
		if err != nil {
			return err
		}
		x.dst = append(x.dst, d)
	}
	return nil
}

// emitLane compiles an instruction that is a function of each lane alone.
func (c *compiler) emitLane(pc int, in *ir.Instr, i *instr) (bool, error) {
	l := selectLane(in)
	if !l.valid() {
		return false, c.unsupported(pc, "this combination of type and modifiers is not modelled")
	}
	if len(in.Dst) != 1 || len(in.Src) > 4 {
		return false, c.unsupported(pc, "operands")
	}
	if in.Dst[0] == ir.NoReg {
		return false, nil
	}
	if l.f32 != nil {
		return true, c.emit32(pc, in, i, l)
	}
	return true, c.emit64(pc, in, i, l)
}

func (c *compiler) emit32(pc int, in *ir.Instr, i *instr, l lane) error {
	x := &extra{}
	if err := c.operands(pc, in, x, ir.B32); err != nil {
		return err
	}
	for _, s := range append(x.src, x.dst[0]) {
		if s.file != file32 {
			return c.unsupported(pc, "register size differs from the instruction's type")
		}
	}
	i.kind, i.f32 = kind32, l.f32
	i.d = x.dst[0].index
	i.setSources(x.src)
	return nil
}

func (i *instr) setSources(src []slot) {
	for n, p := range []*int32{&i.a, &i.b, &i.c, &i.e} {
		if n < len(src) {
			*p = src[n].index
		}
	}
}

// emit64 chooses the cheapest kind for the files the operands are in.
func (c *compiler) emit64(pc int, in *ir.Instr, i *instr, l lane) error {
	d, err := c.dest(pc, in.Dst[0])
	if err != nil {
		return err
	}
	i.d, i.f64 = d.index, l.f64
	x := &extra{dst: []slot{d}, sext: l.sext}
	small := in.Op == ir.Shl || in.Op == ir.Shr || in.Mod&ir.ModWide != 0
	all64 := d.file == file64
	for n := range in.Src {
		o := in.Src[n]
		t := ir.B64
		if o.Kind == ir.OperandImm && l.sext>>n&1 == 1 {
			o.Imm = uint64(int64(int32(o.Imm)))
		}
		if o.Kind == ir.OperandImm && small && (n == 1 || n == 0 && in.Mod&ir.ModWide != 0) {
			t = ir.B32
		}
		s, err := c.source(pc, &o, t)
		if err != nil {
			return err
		}
		if s.file != file32 && s.file != file64 {
			return c.unsupported(pc, "predicate operand")
		}
		x.src = append(x.src, s)
		all64 = all64 && s.file == file64
	}
	i.setSources(x.src)
	i.signed = l.sext != 0
	files := fileKey(d, x.src)
	switch {
	case all64:
		i.kind = kind64
	case in.Op == ir.Cvt && width(in.Type) == 64 && width(in.SrcType) == 32 && !in.SrcType.IsFloat() && !in.Type.IsFloat() && in.Mod&ir.ModSat == 0 && files == "63":
		i.kind = kindWiden
	case in.Op == ir.Mul && in.Mod&ir.ModWide != 0 && files == "633":
		i.kind, i.c = kindMulWide, c.constant(0, ir.B64).index
	case in.Op == ir.Mad && in.Mod&ir.ModWide != 0 && files == "6336":
		i.kind = kindMulWide
	case small && in.Mod&ir.ModWide == 0 && files == "663":
		i.kind = kindShift64
	default:
		i.kind, i.x = kindMixed, x
	}
	return nil
}

// fileKey spells the files of an instruction's operands, destination first:
// 6 for 64 bits, 3 for 32.
func fileKey(d slot, src []slot) string {
	key := ""
	for _, s := range append([]slot{d}, src...) {
		if s.file == file64 {
			key += "6"
		} else {
			key += "3"
		}
	}
	return key
}

func (c *compiler) emitSetp(pc int, in *ir.Instr, i *instr) (bool, error) {
	x := &extra{bool: in.Bool}
	ftz := in.Mod&ir.ModFtz != 0
	if in.Op == ir.Testp {
		x.bool = ir.BoolNone
		x.cmp32, x.cmp64 = selectTest(in.Bool, in.Type)
	} else {
		x.cmp32, x.cmp64 = selectCompare(in.Cmp, in.Type, ftz)
	}
	if x.cmp32 == nil && x.cmp64 == nil {
		return false, c.unsupported(pc, "this comparison is not modelled")
	}
	for n := range in.Src {
		t := in.Type
		if n == 2 {
			t = ir.Pred
		}
		s, err := c.source(pc, &in.Src[n], t)
		if err != nil {
			return false, err
		}
		if in.Src[n].Not {
			x.not |= 1 << n
		}
		x.src = append(x.src, s)
	}
	if in.Op == ir.Testp {
		x.src = append(x.src, x.src[0])
	}
	for _, r := range in.Dst {
		d, err := c.dest(pc, r)
		if err != nil {
			return false, err
		}
		x.dst = append(x.dst, d)
	}
	want := file32
	if x.cmp64 != nil {
		want = file64
	}
	if len(x.src) < 2 || x.src[0].file != want || x.src[1].file != want {
		return false, c.unsupported(pc, "register size differs from the instruction's type")
	}
	i.kind, i.x = kindSetp, x
	i.a, i.b = x.src[0].index, x.src[1].index
	return true, nil
}

func (c *compiler) emitPred(pc int, in *ir.Instr, i *instr) (bool, error) {
	switch in.Op {
	case ir.And, ir.Or, ir.Xor, ir.Not, ir.Mov:
	default:
		return false, c.unsupported(pc, "predicate operation")
	}
	i.kind, i.x = kindPred, &extra{}
	return true, c.operands(pc, in, i.x, ir.Pred)
}

func (c *compiler) emitSelp(pc int, in *ir.Instr, i *instr) (bool, error) {
	x := &extra{}
	if len(in.Src) != 3 || len(in.Dst) != 1 {
		return false, c.unsupported(pc, "operands")
	}
	for n := range in.Src {
		t := in.Type
		if n == 2 {
			t = ir.Pred
		}
		s, err := c.source(pc, &in.Src[n], t)
		if err != nil {
			return false, err
		}
		if in.Src[n].Not {
			x.not |= 1 << n
		}
		x.src = append(x.src, s)
	}
	d, err := c.dest(pc, in.Dst[0])
	if err != nil {
		return false, err
	}
	if d.file == fileNone {
		return false, nil
	}
	if x.src[0].file != d.file || x.src[1].file != d.file {
		return false, c.unsupported(pc, "register size differs from the instruction's type")
	}
	x.dst = []slot{d}
	i.kind, i.x = kindSelp, x
	i.d, i.a, i.b = d.index, x.src[0].index, x.src[1].index
	return true, nil
}

// emitWindow is cvta, an addition or subtraction of a window's base, and
// isspacep, a comparison with its bounds.
func (c *compiler) emitWindow(pc int, in *ir.Instr, i *instr) (bool, error) {
	base, ok := windowBase(in.Space)
	if !ok {
		return false, c.unsupported(pc, "generic addresses of this state space")
	}
	if in.Op == ir.Isspacep {
		i.kind, i.x = kindCall, &extra{run: (*Runner).isSpace, imm: uint64(in.Space)}
		return true, c.operands(pc, in, i.x, ir.U64)
	}
	if in.Mod&ir.ModTo != 0 {
		base = -base
	}
	i.kind, i.x = kindMixed, &extra{}
	i.f64 = func(d, a, _, _, _ *vec64) {
		for l := range d {
			d[l] = a[l] + base
		}
	}
	return true, c.operands(pc, in, i.x, ir.U64)
}

// windowBase is what a generic address of the space has added to it.
func windowBase(s ir.Space) (uint64, bool) {
	switch s {
	case ir.Global:
		return 0, true
	case ir.Shared:
		return sharedWindow, true
	case ir.Local:
		return localWindow, true
	case ir.Const:
		return constWindow, true
	}
	return 0, false
}

// selectTest is testp.
func selectTest(mode ir.BoolOp, t ir.Type) (cmp32, cmp64) {
	if t != ir.F32 && t != ir.F64 {
		return nil, nil
	}
	smallest := 0x1p-126
	if t == ir.F64 {
		smallest = 0x1p-1022
	}
	var test func(v float64) bool
	switch mode {
	case ir.TestFinite:
		test = func(v float64) bool { return v-v == 0 }
	case ir.TestInfinite:
		test = func(v float64) bool { return math.IsInf(v, 0) }
	case ir.TestNumber:
		test = func(v float64) bool { return v == v }
	case ir.TestNotANumber:
		test = func(v float64) bool { return v != v }
	case ir.TestNormal:
		test = func(v float64) bool { return math.Abs(v) >= smallest && !math.IsInf(v, 0) }
	case ir.TestSubnormal:
		test = func(v float64) bool { return v != 0 && math.Abs(v) < smallest }
	default:
		return nil, nil
	}
	if t == ir.F64 {
		return nil, func(a, _ *vec64) (m uint32) {
			for i := range a {
				if test(math.Float64frombits(a[i])) {
					m |= 1 << i
				}
			}
			return m
		}
	}
	return func(a, _ *vec32) (m uint32) {
		for i := range a {
			if test(float64(f32(a[i]))) {
				m |= 1 << i
			}
		}
		return m
	}, nil
}
