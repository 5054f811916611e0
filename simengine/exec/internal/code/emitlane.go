package code

import (
	"slices"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/ir"
)

// emitLane compiles an instruction that is a function of each lane alone.
func (c *compiler) emitLane(pc int, in *ir.Instr, i *Instr) (bool, error) {
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

func (c *compiler) emit32(pc int, in *ir.Instr, i *Instr, l alu.Lane) error {
	x := &c.operand
	x.Src, x.Dst = x.Src[:0], x.Dst[:0]
	if err := c.operands(pc, in, x, ir.B32); err != nil {
		return err
	}
	x.Src = append(x.Src, x.Dst[0])
	for _, s := range x.Src {
		if s.File != File32 {
			return c.unsupported(pc, "register size differs from the instruction's type")
		}
	}
	x.Src = x.Src[:len(in.Src)]
	i.Kind, i.F32 = Kind32, l.F32
	i.D = x.Dst[0].Index
	i.setSources(x.Src)
	return nil
}

func (i *Instr) setSources(src []Slot) {
	for n, p := range []*int32{&i.A, &i.B, &i.C, &i.E} {
		if n < len(src) {
			*p = src[n].Index
		}
	}
}

// emit64 chooses the cheapest kind for the files the operands are in.
func (c *compiler) emit64(pc int, in *ir.Instr, i *Instr, l alu.Lane) error {
	d, err := c.dest(pc, in.Dst[0])
	if err != nil {
		return err
	}
	i.D, i.F64 = d.Index, l.F64
	x := &c.operand
	x.Dst, x.Src = append(x.Dst[:0], d), x.Src[:0]
	small := in.Op == ir.Shl || in.Op == ir.Shr || in.Mod&ir.ModWide != 0
	all64 := d.File == File64
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
		if s.File != File32 && s.File != File64 {
			return c.unsupported(pc, "predicate operand")
		}
		x.Src = append(x.Src, s)
		all64 = all64 && s.File == File64
	}
	i.setSources(x.Src)
	i.Signed = l.Sext != 0
	files := c.fileKey(d, x.Src)
	switch {
	case all64:
		i.Kind = Kind64
	case in.Op == ir.Cvt && alu.Width(in.Type) == 64 && alu.Width(in.SrcType) == 32 && !in.SrcType.IsFloat() && !in.Type.IsFloat() && in.Mod&ir.ModSat == 0 && files == "63":
		i.Kind = KindWiden
	case in.Op == ir.Mul && in.Mod&ir.ModWide != 0 && files == "633":
		i.Kind, i.C = KindMulWide, c.constant(0, ir.B64).Index
	case in.Op == ir.Mad && in.Mod&ir.ModWide != 0 && files == "6336":
		i.Kind = KindMulWide
	case small && in.Mod&ir.ModWide == 0 && files == "663":
		i.Kind = KindShift64
	default:
		i.Kind, i.X = KindMixed, &Extra{Dst: slices.Clone(x.Dst), Src: slices.Clone(x.Src), Sext: l.Sext}
	}
	return nil
}

// fileKey spells the files of an instruction's operands, destination first:
// 6 for 64 bits, 3 for 32.
func (c *compiler) fileKey(d Slot, src []Slot) string {
	c.key = append(c.key[:0], fileDigit(d))
	for _, s := range src {
		c.key = append(c.key, fileDigit(s))
	}
	return string(c.key)
}

func fileDigit(s Slot) byte {
	if s.File == File64 {
		return '6'
	}
	return '3'
}
