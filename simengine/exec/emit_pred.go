package exec

import (
	"math"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/ir"
)

func (c *compiler) emitSetp(pc int, in *ir.Instr, i *instr) (bool, error) {
	x := &extra{bool: in.Bool}
	ftz := in.Mod&ir.ModFtz != 0
	if in.Op == ir.Testp {
		x.bool = ir.BoolNone
		x.cmp32, x.cmp64 = selectTest(in.Bool, in.Type)
	} else {
		x.cmp32, x.cmp64 = alu.SelectCompare(in.Cmp, in.Type, ftz)
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

// selectTest is testp.
func selectTest(mode ir.BoolOp, t ir.Type) (alu.Compare32, alu.Compare64) {
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
		return nil, func(a, _ *alu.Vec64) (m uint32) {
			for i := range a {
				if test(math.Float64frombits(a[i])) {
					m |= 1 << i
				}
			}
			return m
		}
	}
	return func(a, _ *alu.Vec32) (m uint32) {
		for i := range a {
			if test(float64(alu.F32(a[i]))) {
				m |= 1 << i
			}
		}
		return m
	}, nil
}
