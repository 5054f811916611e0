package code

import (
	"math"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/ir"
)

func (c *compiler) emitSetp(pc int, in *ir.Instr, i *Instr) (bool, error) {
	x := &Extra{BoolOp: in.Bool}
	ftz := in.Mod&ir.ModFtz != 0
	if in.Op == ir.Testp {
		x.BoolOp = ir.BoolNone
		x.Cmp32, x.Cmp64 = selectTest(in.Bool, in.Type)
	} else {
		x.Cmp32, x.Cmp64 = alu.SelectCompare(in.Cmp, in.Type, ftz)
	}
	if x.Cmp32 == nil && x.Cmp64 == nil {
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
			x.Not |= 1 << n
		}
		x.Src = append(x.Src, s)
	}
	if in.Op == ir.Testp {
		x.Src = append(x.Src, x.Src[0])
	}
	for _, r := range in.Dst {
		d, err := c.dest(pc, r)
		if err != nil {
			return false, err
		}
		x.Dst = append(x.Dst, d)
	}
	want := File32
	if x.Cmp64 != nil {
		want = File64
	}
	if len(x.Src) < 2 || x.Src[0].File != want || x.Src[1].File != want {
		return false, c.unsupported(pc, "register size differs from the instruction's type")
	}
	i.Kind, i.X = KindSetp, x
	i.A, i.B = x.Src[0].Index, x.Src[1].Index
	return true, nil
}

func (c *compiler) emitPred(pc int, in *ir.Instr, i *Instr) (bool, error) {
	switch in.Op {
	case ir.And, ir.Or, ir.Xor, ir.Not, ir.Mov:
	default:
		return false, c.unsupported(pc, "predicate operation")
	}
	i.Kind, i.X = KindPred, &Extra{}
	return true, c.operands(pc, in, i.X, ir.Pred)
}

func (c *compiler) emitSelp(pc int, in *ir.Instr, i *Instr) (bool, error) {
	x := &Extra{}
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
			x.Not |= 1 << n
		}
		x.Src = append(x.Src, s)
	}
	d, err := c.dest(pc, in.Dst[0])
	if err != nil {
		return false, err
	}
	if d.File == FileNone {
		return false, nil
	}
	if x.Src[0].File != d.File || x.Src[1].File != d.File {
		return false, c.unsupported(pc, "register size differs from the instruction's type")
	}
	x.Dst = []Slot{d}
	i.Kind, i.X = KindSelp, x
	i.D, i.A, i.B = d.Index, x.Src[0].Index, x.Src[1].Index
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
