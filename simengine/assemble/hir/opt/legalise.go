package opt

import (
	"math"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Legalisation: operations are split into parts that value numbering can share, and operations that
// one instruction does are joined.

// Legalise splits off the range reduction of sines and cosines and the upper word of sign
// extensions, and joins rotations, shifted fields and shifted multiplications.
func Legalise(f *hir.Func) error {
	f.Sign = map[vreg.Value]vreg.Value{}
	shared := map[vreg.Value]divisor{}
	for _, b := range f.Order {
		hb := &f.Blocks[b]
		clear(shared)
		out := make([]int32, 0, len(hb.Nodes)+len(hb.Nodes)/4)
		for _, ni := range hb.Nodes {
			n := f.Nodes[ni]
			switch {
			case (n.Op == ir.Sin || n.Op == ir.Cos) && n.Type == ir.F32:
				m := derive(f, &n, ir.Mul, ir.F32, n.Src[0], 0x3E22F983)
				out = append(out, m)
				f.Nodes[ni].Src[0] = ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(f.Nodes[m].Dst[0]), Var: -1, Param: -1}
				out = append(out, ni)
			case n.Op == ir.Div && n.Type == ir.F32 && n.Mod&(ir.ModApprox|ir.ModFull) != 0 && n.Src[1].Kind == ir.OperandImm:
				reciprocal(&f.Nodes[ni])
				out = append(out, ni)
			case f.Target.Specific && n.Op == ir.Div && n.Type == ir.F32 && n.Mod&ir.ModFull != 0 && n.Guard == vreg.None && n.Src[1].Kind == ir.OperandReg:
				out = append(out, shareDivisor(f, ni, shared)...)
				out = append(out, ni)
			case f.Target.Specific && n.Op == ir.CpAsync && len(n.Src) > 3 && n.Src[3].Kind == ir.OperandReg && f.Values[n.Src[3].Reg].File == vreg.General:
				m := derive(f, &n, ir.Setp, ir.B32, n.Src[3], 0)
				f.Nodes[m].Guard, f.Nodes[m].Cmp, f.Nodes[m].Dst = vreg.None, ir.CmpNE, []vreg.Value{f.NewValue(1, vreg.Predicate)}
				f.Nodes[ni].Src = slices.Clone(n.Src)
				f.Nodes[ni].Src[3] = value(f.Nodes[m].Dst[0])
				out = append(out, m, ni)
			case n.Op == ir.Cvt && n.Type != n.SrcType && hir.Bits(n.Type) == 64 && hir.Bits(n.SrcType) == 32 && hir.Signed(n.SrcType) && hir.IsInt(n.Type) &&
				n.Src[0].Kind == ir.OperandReg && f.Values[n.Src[0].Reg].Defs == 1 && f.Values[n.Dst[0]].Defs == 1:
				m := derive(f, &n, ir.Shr, ir.S32, n.Src[0], 31)
				f.Sign[n.Dst[0]] = f.Nodes[m].Dst[0]
				out = append(out, m, ni)
			case funnel(f, &n):
				f.Nodes[ni] = n
				out = append(out, ni)
			case n.Op == ir.Or:
				out = append(out, joinShifts(f, &n)...)
				f.Nodes[ni] = n
				out = append(out, ni)
			case n.Op == ir.Shl && hir.Words(n.Type) == 2 && hir.ShiftCount(&n) > 0 && scaleProduct(f, ni, hir.ShiftCount(&n)):
				out = append(out, ni)
			default:
				out = append(out, ni)
			}
			for _, d := range n.Dst {
				delete(shared, d)
			}
		}
		hb.Nodes = out
	}
	f.CountDefs()
	return nil
}

// reciprocal turns an approximate division by a constant into a multiplication (kernels:
// welford_rows), and by one into a copy.
func reciprocal(n *hir.Node) {
	c := math.Float32frombits(uint32(n.Src[1].Imm))
	n.Op, n.Mod = ir.Mul, n.Mod&^(ir.ModApprox|ir.ModFull)
	n.Src = []ir.Operand{n.Src[0], n.Src[1]}
	n.Src[1].Imm = uint64(math.Float32bits(1 / c))
	if c == 1 {
		n.Op, n.Src = ir.Mov, n.Src[:1]
	}
}

// funnel turns a<<k | b>>(32-k), a rotation where a is b, into one funnel shift, and reports
// whether it did.
func funnel(f *hir.Func, n *hir.Node) bool {
	if n.Op != ir.Or || hir.Bits(n.Type) != 32 || len(n.Src) != 2 || n.Src[0].Kind != ir.OperandReg || n.Src[1].Kind != ir.OperandReg {
		return false
	}
	l, r := f.DefOf(vreg.Value(n.Src[0].Reg)), f.DefOf(vreg.Value(n.Src[1].Reg))
	if !hir.ShiftsLeft(l) {
		l, r = r, l
	}
	if !hir.ShiftsLeft(l) || r == nil || r.Op != ir.Shr || hir.Bits(r.Type) != 32 || hir.Signed(r.Type) || hir.ShiftCount(l) == 0 || hir.ShiftCount(l)+hir.ShiftCount(r) != 32 {
		return false
	}
	for _, d := range [...]*hir.Node{l, r} {
		if d.Guard != n.Guard || d.GuardNot != n.GuardNot || d.Src[0].Kind != ir.OperandReg || f.Values[d.Src[0].Reg].Defs != 1 {
			return false
		}
	}
	n.Op, n.Type, n.Src = ir.Shf, ir.B32, []ir.Operand{r.Src[0], l.Src[0], l.Src[1]}
	return true
}

// scaleProduct turns the left shift of a widening multiplication by a constant into a
// multiplication by the shifted constant, and reports whether it did.
func scaleProduct(f *hir.Func, ni int32, k int) bool {
	n := &f.Nodes[ni]
	if n.Src[0].Kind != ir.OperandReg {
		return false
	}
	d := f.DefOf(vreg.Value(n.Src[0].Reg))
	if d == nil || d.Op != ir.Mul || d.Mod&ir.ModWide == 0 || !hir.Is32Bit(d) || d.Guard != n.Guard || d.GuardNot != n.GuardNot || d.Src[1].Kind != ir.OperandImm ||
		d.Src[0].Kind != ir.OperandReg || f.Values[d.Src[0].Reg].Defs != 1 || d.Src[1].Imm == 0 || d.Src[1].Imm<<k >= 1<<31 {
		return false
	}
	c := d.Src[1]
	c.Imm <<= k
	n.Op, n.Type, n.Mod, n.Src = ir.Mul, d.Type, d.Mod, []ir.Operand{d.Src[0], c}
	return true
}

// Bounds of a divisor beyond which div.full scales: 2**126 and 2**-126.
const largeDivisor, smallDivisor = 0x7e800000, 0x00800000

// infinity is the bits of a float above all numbers.
const infinity = 0x7f800000

// divisor is what a divisor alone decides of divisions by it: its reciprocal, and whether it is large or
// small.
type divisor struct {
	reciprocal ir.Operand
	scales     []ir.Operand // predicates: it is large; it is small, left out where it cannot be
}

// shareDivisor splits a division (div.full) into what its divisor alone decides, which those after it in
// the block share, and the rest. It returns the nodes split off.
//
// Evidence, ptxas corpus (shared launches, attn_forward): a MUFU.RCP for each divisor, four
// instructions for each numerator.
func shareDivisor(f *hir.Func, ni int32, shared map[vreg.Value]divisor) []int32 {
	n := f.Nodes[ni]
	b := n.Src[1]
	if d, ok := shared[vreg.Value(b.Reg)]; ok {
		f.Nodes[ni].Src = append([]ir.Operand{n.Src[0], d.reciprocal}, d.scales...)
		return nil
	}
	bounds := [...]struct {
		cmp  ir.Cmp
		bits uint64
	}{{ir.CmpGT, largeDivisor}, {ir.CmpLT, smallDivisor}}
	nodes, scales := make([]int32, 0, 3), make([]ir.Operand, 0, 2)
	for i, x := range bounds {
		if i == 1 && exceedsConstant(f, b) {
			break
		}
		m := derive(f, &n, ir.Setp, ir.F32, b, x.bits)
		p := f.NewValue(1, vreg.Predicate)
		f.Nodes[m].Cmp, f.Nodes[m].Dst = x.cmp, []vreg.Value{p}
		nodes, scales = append(nodes, m), append(scales, value(p))
	}
	r := derive(f, &n, ir.Rcp, ir.F32, b, 0)
	f.Nodes[r].Mod, f.Nodes[r].Src = ir.ModFull, append([]ir.Operand{b}, scales...)
	d := divisor{value(f.Nodes[r].Dst[0]), scales}
	shared[vreg.Value(b.Reg)] = d
	f.Nodes[ni].Src = append([]ir.Operand{n.Src[0], d.reciprocal}, scales...)
	return append(nodes, r)
}

// exceedsConstant reports whether a divisor is the sum of a power of two or an absolute value and of a positive constant
// that is no denormal: it is not small.
//
// Evidence, ptxas 12.8 for sm_90a: one comparison, not two, of a/(1+ex2(b)) and a/(|b|+1e-5); two of a/max(b,1e-6) and
// a/sqrt(b).
func exceedsConstant(f *hir.Func, o ir.Operand) bool {
	d := f.DefOf(vreg.Value(o.Reg))
	if d == nil || d.Op != ir.Add || d.Type != ir.F32 || d.Guard != vreg.None || len(d.Src) != 2 {
		return false
	}
	for i := range d.Src {
		c, x := &d.Src[i], &d.Src[1-i]
		if c.Kind != ir.OperandImm || x.Kind != ir.OperandReg || uint32(c.Imm) < smallDivisor || uint32(c.Imm) >= infinity {
			continue
		}
		e := f.DefOf(vreg.Value(x.Reg))
		return e != nil && (e.Op == ir.Ex2 || e.Op == ir.Abs)
	}
	return false
}

// value is the operand that names a value.
func value(v vreg.Value) ir.Operand {
	return ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(v), Var: -1, Param: -1}
}

// derive adds a node of the same PTX instruction, block and guard as n that applies an operation to
// x and an immediate. It returns its index.
func derive(f *hir.Func, n *hir.Node, op ir.Op, t ir.Type, x ir.Operand, imm uint64) int32 {
	f.Nodes = append(f.Nodes, hir.Node{Op: op, Type: t, PC: n.PC, Block: n.Block, Guard: n.Guard, GuardNot: n.GuardNot, Dst: []vreg.Value{f.NewValue(1, vreg.General)}, Vec: 1,
		Src: []ir.Operand{x, {Kind: ir.OperandImm, Imm: imm, Reg: ir.NoReg, Var: -1, Param: -1}}})
	return int32(len(f.Nodes) - 1)
}

// joinShifts turns a<<k | b<<m into (a<<(k-m) | b)<<m, two multiply-adds, where m is smaller and b
// has no more than k-m bits. It returns the nodes that compute the inner part.
func joinShifts(f *hir.Func, n *hir.Node) []int32 {
	if n.Op != ir.Or || hir.Bits(n.Type) != 32 || len(n.Src) != 2 || n.Src[0].Kind != ir.OperandReg || n.Src[1].Kind != ir.OperandReg {
		return nil
	}
	x, y := f.DefOf(vreg.Value(n.Src[0].Reg)), f.DefOf(vreg.Value(n.Src[1].Reg))
	if !hir.ShiftsLeft(x) || !hir.ShiftsLeft(y) || x.Guard != n.Guard || y.Guard != n.Guard {
		return nil
	}
	if hir.ShiftCount(x) < hir.ShiftCount(y) {
		x, y = y, x
	}
	k, m := hir.ShiftCount(x), hir.ShiftCount(y)
	a, b := x.Src[0], y.Src[0]
	if m == 0 || a.Kind != ir.OperandReg || b.Kind != ir.OperandReg || f.Values[a.Reg].Defs != 1 || f.Values[b.Reg].Defs != 1 || f.KnownBits(vreg.Value(b.Reg)) > k-m {
		return nil
	}
	up := derive(f, n, ir.Shl, ir.B32, a, uint64(k-m))
	both := derive(f, n, ir.Or, ir.B32, ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(f.Nodes[up].Dst[0]), Var: -1, Param: -1}, 0)
	f.Nodes[both].Src[1] = b
	n.Op = ir.Shl
	n.Src = []ir.Operand{{Kind: ir.OperandReg, Reg: ir.Reg(f.Nodes[both].Dst[0]), Var: -1, Param: -1}, {Kind: ir.OperandImm, Imm: uint64(m), Reg: ir.NoReg, Var: -1, Param: -1}}
	return []int32{up, both}
}
