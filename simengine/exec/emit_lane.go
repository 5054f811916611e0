package exec

import (
	"slices"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/ir"
)

// emitLane compiles an instruction that is a function of each lane alone.
func (c *compiler) emitLane(pc int, in *ir.Instr, i *instr) (bool, error) {
	l := alu.Select(in)
	if !l.Valid() {
		return false, c.unsupported(pc, "this combination of type and modifiers is not modelled")
	}
	if len(in.Dst) != 1 || len(in.Src) > 4 {
		return false, c.unsupported(pc, "operands")
	}
	if in.Dst[0] == ir.NoReg {
		return false, nil
	}
	if l.F32 != nil {
		return true, c.emit32(pc, in, i, l)
	}
	return true, c.emit64(pc, in, i, l)
}

func (c *compiler) emit32(pc int, in *ir.Instr, i *instr, l alu.Lane) error {
	x := &c.operand
	x.src, x.dst = x.src[:0], x.dst[:0]
	if err := c.operands(pc, in, x, ir.B32); err != nil {
		return err
	}
	x.src = append(x.src, x.dst[0])
	for _, s := range x.src {
		if s.file != file32 {
			return c.unsupported(pc, "register size differs from the instruction's type")
		}
	}
	x.src = x.src[:len(in.Src)]
	i.kind, i.f32 = kind32, l.F32
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
func (c *compiler) emit64(pc int, in *ir.Instr, i *instr, l alu.Lane) error {
	d, err := c.dest(pc, in.Dst[0])
	if err != nil {
		return err
	}
	i.d, i.f64 = d.index, l.F64
	x := &c.operand
	x.dst, x.src = append(x.dst[:0], d), x.src[:0]
	small := in.Op == ir.Shl || in.Op == ir.Shr || in.Mod&ir.ModWide != 0
	all64 := d.file == file64
	for n := range in.Src {
		o := in.Src[n]
		t := ir.B64
		if o.Kind == ir.OperandImm && l.Sext>>n&1 == 1 {
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
	i.signed = l.Sext != 0
	files := c.fileKey(d, x.src)
	switch {
	case all64:
		i.kind = kind64
	case in.Op == ir.Cvt && alu.Width(in.Type) == 64 && alu.Width(in.SrcType) == 32 && !in.SrcType.IsFloat() && !in.Type.IsFloat() && in.Mod&ir.ModSat == 0 && files == "63":
		i.kind = kindWiden
	case in.Op == ir.Mul && in.Mod&ir.ModWide != 0 && files == "633":
		i.kind, i.c = kindMulWide, c.constant(0, ir.B64).index
	case in.Op == ir.Mad && in.Mod&ir.ModWide != 0 && files == "6336":
		i.kind = kindMulWide
	case small && in.Mod&ir.ModWide == 0 && files == "663":
		i.kind = kindShift64
	default:
		i.kind, i.x = kindMixed, &extra{dst: slices.Clone(x.dst), src: slices.Clone(x.src), sext: l.Sext}
	}
	return nil
}

// fileKey spells the files of an instruction's operands, destination first:
// 6 for 64 bits, 3 for 32.
func (c *compiler) fileKey(d slot, src []slot) string {
	c.key = append(c.key[:0], fileDigit(d))
	for _, s := range src {
		c.key = append(c.key, fileDigit(s))
	}
	return string(c.key)
}

func fileDigit(s slot) byte {
	if s.file == file64 {
		return '6'
	}
	return '3'
}
