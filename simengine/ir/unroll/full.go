package unroll

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// ptxas unrolls a loop whole if the number of iterations is a constant and small enough for the
// weight of the body. The table has the most iterations of multiply-adds for which machine code had
// no loop (deploy/calibrate/ptxas/unroll.py; ptxas 13.0, -O3, sm_90). The induction variable, its
// test and the branch do not count.
//
// ptxas also unrolls loops with a second exit before the body, which have several blocks and are
// left alone here, and longer loops much of which folds to constants (welford_rows).
var mostIterations = []struct{ weight, iterations int }{
	{1, 3544}, {2, 1423}, {3, 803}, {4, 513}, {5, 367}, {6, 273}, {7, 215}, {8, 233}, {9, 194}, {10, 161}, {11, 134}, {12, 118},
	{13, 98}, {14, 86}, {16, 67}, {18, 56}, {20, 48}, {22, 40}, {24, 34}, {26, 29}, {28, 25}, {30, 23}, {32, 20}, {34, 19}, {36, 16},
	{38, 15}, {40, 13}, {42, 12}, {44, 12}, {46, 11}, {48, 9}, {50, 9}, {56, 8}, {58, 7}, {64, 6}, {66, 6}, {80, 4}, {98, 3}, {128, 2}, {194, 2},
}

// mostWritten is how many instructions all loops of a known number of iterations may be unrolled to,
// so that no file asks for more memory than its size lets expect. The longest that the table allows
// has some 14,000.
const mostWritten = 1 << 16

// fitsWhole reports whether so many iterations of a weight are unrolled whole. Weights between two
// of the table are interpolated.
func fitsWhole(weight, iterations int) bool {
	for i, m := range mostIterations {
		if weight > m.weight {
			continue
		}
		most := m.iterations
		if i > 0 && weight < m.weight {
			p := mostIterations[i-1]
			most = p.iterations + (m.iterations-p.iterations)*(weight-p.weight)/(m.weight-p.weight)
		}
		return iterations <= most
	}
	return false
}

// iterations counts a loop's iterations from the constant that the induction variable has before the
// loop, and reports whether it can. With a second exit it is the most there are.
func iterations(k *ir.Kernel, l *countedLoop) (n int, known bool) {
	t := &k.Instrs[l.test]
	at, ok := before(k, l)
	if !ok || l.step == 0 || t.Src[1].Kind != ir.OperandImm {
		return 0, false
	}
	n = 1
	for at += uint64(l.step); compares(t, at, t.Src[1].Imm); at += uint64(l.step) {
		if n++; n > mostCounted {
			return 0, false
		}
	}
	return n, true
}

// mostCounted is up to how many iterations are counted.
const mostCounted = 1 << 16

// known decides how a loop of n iterations is unrolled, and reports whether it is.
func known(k *ir.Kernel, l *countedLoop, n int, adds map[ir.Reg]int) (ok bool) {
	whole, light := 0, 0
	for pc := k.Blocks[l.block].Start; pc < k.Blocks[l.block].End-1; pc++ {
		if in := k.Instrs[pc]; pc != l.test && (len(in.Dst) != 1 || in.Dst[0] != l.iv) {
			if in.Guard != ir.NoReg && always(k, &in) {
				in.Guard = ir.NoReg
			}
			whole += weight(&in)
			light += l.partWeight(&in, adds)
		}
	}
	if fitsWhole(whole, n) {
		l.trips = n
		return true
	}
	if l.both >= 0 {
		return false
	}
	l.atATime, l.before, ok = part(light, n)
	return ok
}

// compares returns the result of a comparison of two integers.
func compares(t *ir.Instr, a, b uint64) bool {
	x, y := widened(t.Type, a, t.Type.Size()), widened(t.Type, b, t.Type.Size())
	if !t.Type.IsSigned() && t.Type.Size() == 8 { // in the same order as signed
		x, y = int64(a^1<<63), int64(b^1<<63)
	}
	switch t.Cmp {
	case ir.CmpLT, ir.CmpLO:
		return x < y
	case ir.CmpLE, ir.CmpLS:
		return x <= y
	case ir.CmpGT, ir.CmpHI:
		return x > y
	case ir.CmpGE, ir.CmpHS:
		return x >= y
	case ir.CmpNE:
		return x != y
	}
	return false
}

// widened is a number of so many bytes.
func widened(t ir.Type, x uint64, size int) int64 {
	switch {
	case size == 8:
		return int64(x)
	case t.IsSigned():
		return int64(int32(x))
	}
	return int64(uint32(x))
}

// before returns the constant that a loop's induction variable has when the loop is entered. It
// reports whether that is known.
func before(k *ir.Kernel, l *countedLoop) (uint64, bool) {
	for b, seen := l.block, 0; seen < len(k.Blocks); seen++ {
		from := -1
		for _, p := range k.Blocks[b].Preds {
			switch {
			case p == l.block && b == l.block:
			case from >= 0:
				return 0, false
			default:
				from = p
			}
		}
		if from < 0 {
			return 0, false
		}
		for pc := k.Blocks[from].End - 1; pc >= k.Blocks[from].Start; pc-- {
			in := &k.Instrs[pc]
			if !slices.Contains(in.Dst, l.iv) {
				continue
			}
			return constantOf(k, in)
		}
		b = from
	}
	return 0, false
}

// constantOf returns the constant that an instruction moves, from an operand or from a register that
// is written once. It reports whether there is one.
func constantOf(k *ir.Kernel, in *ir.Instr) (uint64, bool) {
	if in.Op != ir.Mov || in.Guard != ir.NoReg || len(in.Src) != 1 {
		return 0, false
	}
	switch o := &in.Src[0]; o.Kind {
	case ir.OperandImm:
		return o.Imm, true
	case ir.OperandReg:
		var from *ir.Instr
		for pc := range k.Instrs {
			if slices.Contains(k.Instrs[pc].Dst, o.Reg) {
				if from != nil {
					return 0, false
				}
				from = &k.Instrs[pc]
			}
		}
		if from != nil && len(from.Src) == 1 && from.Src[0].Kind == ir.OperandImm {
			return constantOf(k, from)
		}
	}
	return 0, false
}

// conjunction looks at a loop that continues while two predicates hold: a test of its induction
// variable and another one. It reports whether the loop is unrolled whole, and how; l.both is then
// the instruction that joins the two.
func conjunction(k *ir.Kernel, l countedLoop, adds map[ir.Reg]int) (countedLoop, bool) {
	blk := &k.Blocks[l.block]
	and := &k.Instrs[l.test]
	if and.Op != ir.And || and.Type != ir.Pred || and.Guard != ir.NoReg || len(and.Src) != 2 || and.Src[0].Not || and.Src[1].Not || and.Src[0].Kind != ir.OperandReg || and.Src[1].Kind != ir.OperandReg ||
		adds[and.Src[0].Reg] != 1 || adds[and.Src[1].Reg] != 1 {
		return l, false
	}
	l.both = l.test
	for i := range and.Src {
		l.other = and.Src[1-i].Reg
		for l.test = blk.Start; l.test < l.both; l.test++ {
			if in := &k.Instrs[l.test]; len(in.Dst) == 1 && in.Dst[0] == and.Src[i].Reg && induction(k, &l, adds) {
				if n, ok := iterations(k, &l); ok && known(k, &l, n, adds) {
					return l, true
				}
			}
		}
	}
	return l, false
}

// whole writes all iterations of a loop one after the other.
func (u *unroller) whole(l *countedLoop) {
	after := u.live.In[l.block+1]
	if l.other == ir.NoReg {
		u.copies(l, l.trips, nil, after)
		return
	}
	carried := u.live.In[l.block]
	var out []int
	for i := range l.trips {
		c := u.copies(l, 1, carried, after)
		if i < l.trips-1 {
			out = append(out, u.jump(l, c.now(l.other).base, true, -1))
		}
	}
	for _, at := range out {
		u.To.Instrs[at].Target = u.Next()
	}
}
