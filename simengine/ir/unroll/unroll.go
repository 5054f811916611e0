package unroll

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// Unrolling as ptxas 13.0 does it (-O3, sm_90). The evidence is the machine code of every loop of 13
// kernels by two compilers, of 9 more by one, and of the 850 kernels of 236 files of HeCBench
// (github.com/zjin-lcf/HeCBench, nvcc 13.0):
//
//   - ptxas unrolls a loop of one block that branches to itself on an ordered comparison of a 32-bit
//     induction variable, after its increment, with a loop invariant. The comparison may be signed
//     (blur, moving_average, histogram) or unsigned (reduce_atomic). The trip count need not be
//     known. .pragma "nounroll" before the loop forbids it.
//   - It does the same to a loop that counts down by a constant until it meets 0 or -1. This is the
//     remainder loop of one that nvcc has unrolled by four. A loop that counts from below zero to
//     -32 (sobol_qrng), and those that count up to a value by inequality, stay.
//   - It leaves alone loops whose 64-bit induction variable is narrowed first (blur by clang), unless
//     the trip count is known (groupnorm_silu of Triton; ptxas 12.8), loops of several blocks (histogram's flush, the outer loops of nbody and sgemm, all of reduce), and
//     loops with a division or root that has a slow path (hellinger, attention) or with atomics
//     (atomicCost, atomicSystemWide; for shared memory, deploy/calibrate/ptxas/unknown.py).
//   - Four copies stand in the loop, then two, then one, each skipped if fewer iterations are left.
//     worthFour says how large the loop may be. Barriers make no difference (dgemm_tiled).
//   - A loop of a known trip count is unrolled whole if that is short enough (collatz; see
//     mostIterations). The test may be for inequality, and the loop may have a second exit, on the
//     conjunction of two predicates one of which is of the induction variable. A longer loop is
//     unrolled in part (matrix multiplications; see partHeaviest).
//   - Before an unsigned loop one iteration is peeled off, which is executed if the induction
//     variable is past the bound to begin with: sgemm by clang counts from tid-64, and the first
//     step wraps round to tid.
//
// Of the kernels with one loop of a constant step, 82 of HeCBench's 86 and all 43 of
// deploy/calibrate/datasets come out as they are. Of 72 of HeCBench's kernels with loops that count
// down (181 loops), 66 have as many unrolled. The others are unrolled whole (lfib4, inversek2j;
// counted before that was done here), have a 64-bit induction variable (hogbom), are empty (aes) or
// duplicated (contract, ge-spmm, bm3d), or weighed differently at the time (bitpacking,
// deredundancy, knn).

// unrollFactor is the number of copies in the unrolled loop where the number of iterations is not
// known.
const unrollFactor = 4

// countedLoop is a loop of one block whose iterations an induction variable counts.
type countedLoop struct {
	block           int
	test            int    // the comparison that its branch is guarded by
	iv              ir.Reg // the induction compared
	step            int64
	both            int    // the conjunction with another predicate that its branch is guarded by, -1 none,
	other           ir.Reg // and that predicate, at which the loop ends too
	trips           int    // iterations, where all of them are written out
	atATime, before int    // of a known number otherwise: how many are made at a time, and before these
}

// Loops returns the kernel with those loops unrolled that ptxas unrolls. It returns k itself if
// there are none. Each copy of an instruction has the position of the original. Where the number of
// iterations left overflows a signed integer, the unrolled loop computes something else than PTX
// says, and so does that of ptxas.
func Loops(k *ir.Kernel) *ir.Kernel {
	var loops []countedLoop
	written := 0 // instructions of loops of a known number of iterations
	for b := range k.Blocks {
		l, ok := counted(k, b)
		copies := l.trips + l.before + l.atATime
		if written += copies * (k.Blocks[b].End - k.Blocks[b].Start); ok && (copies == 0 || written <= mostWritten) {
			loops = append(loops, l)
		}
	}
	if len(loops) == 0 {
		return k
	}
	w := ir.NewRewriter(k, len(k.Instrs)+len(loops)*unrollHeaviest*2*unrollFactor)
	u := unroller{w, k.Liveness()}
	for b := range k.Blocks {
		blk := &k.Blocks[b]
		if len(loops) > 0 && loops[0].block == b {
			u.Mark(blk.Start)
			u.loop(&loops[0])
			loops = loops[1:]
			continue
		}
		for pc := blk.Start; pc < blk.End; pc++ {
			u.Mark(pc)
			u.Emit(k.Instrs[pc])
		}
	}
	return u.Finish()
}

// counted reports whether ptxas unrolls the loop of a block, and how.
func counted(k *ir.Kernel, b int) (countedLoop, bool) {
	l := countedLoop{block: b, test: -1, both: -1, other: ir.NoReg}
	blk := &k.Blocks[b]
	bra := &k.Instrs[blk.End-1]
	if bra.Op != ir.Bra || bra.Guard == ir.NoReg || bra.GuardNot || bra.Target != blk.Start || b+1 >= len(k.Blocks) ||
		slices.Contains(k.NoUnroll, blk.Start) {
		return l, false
	}
	adds := map[ir.Reg]int{} // definitions of each register
	for pc := blk.Start; pc < blk.End-1; pc++ {
		in := &k.Instrs[pc]
		if in.Guard != ir.NoReg && len(in.Dst) > 0 && !always(k, in) || synchronises(in.Op) || ir.HasSlowPath(in) || in.Op == ir.Atom || in.Op == ir.Red {
			return l, false
		}
		for _, r := range in.Dst {
			adds[r]++
		}
		if len(in.Dst) == 1 && in.Dst[0] == bra.Guard {
			l.test = pc
		}
	}
	if l.test < 0 || adds[bra.Guard] != 1 {
		return l, false
	}
	if l, ok := conjunction(k, l, adds); ok {
		return l, true
	}
	if !induction(k, &l, adds) {
		return l, false
	}
	if n, ok := iterations(k, &l); ok {
		return l, known(k, &l, n, adds)
	}
	t := &k.Instrs[l.test]
	return l, t.Type.Size() == 4 && worthFour(k, &l, adds) &&
		(ascends(t.Cmp) && l.step > 0 || (descends(t.Cmp) || meets(t)) && l.step < 0) && l.reaches(t)
}

// induction finds the two sides of a loop's test. It reports whether they are an induction variable,
// after its increment, and a value that the loop does not change.
func induction(k *ir.Kernel, l *countedLoop, adds map[ir.Reg]int) bool {
	t := &k.Instrs[l.test]
	if t.Op != ir.Setp || len(t.Src) != 2 || t.Type.Size() < 4 || t.Type.IsFloat() || t.Src[0].Kind != ir.OperandReg || !invariant(&t.Src[1], adds) {
		return false
	}
	l.iv = t.Src[0].Reg
	l.step = stepBefore(k, &k.Blocks[l.block], l.test, l.iv, t.Type.Size())
	return adds[l.iv] == 1
}

// always reports whether the guard of an instruction is a predicate that is set to true, once. Triton has such masks.
func always(k *ir.Kernel, in *ir.Instr) (set bool) {
	for pc := range k.Instrs {
		d := &k.Instrs[pc]
		if !slices.Contains(d.Dst, in.Guard) {
			continue
		}
		if set || d.Op != ir.Mov || d.Guard != ir.NoReg || len(d.Src) != 1 || d.Src[0].Kind != ir.OperandImm || d.Src[0].Imm == 0 {
			return false
		}
		set = true
	}
	return set && !in.GuardNot
}

// stepBefore returns the constant that is added to a register of so many bytes in a block before a place.
func stepBefore(k *ir.Kernel, blk *ir.Block, before int, r ir.Reg, size int) (step int64) {
	for pc := blk.Start; pc < before; pc++ {
		if in := &k.Instrs[pc]; len(in.Dst) == 1 && in.Dst[0] == r && in.Op == ir.Add && in.Mod == 0 && in.Type.Size() == size &&
			in.Src[0].Kind == ir.OperandReg && in.Src[0].Reg == r && in.Src[1].Kind == ir.OperandImm {
			step = widened(ir.S64, in.Src[1].Imm, size)
		}
	}
	return step
}

// meets reports whether a test is for inequality with 0 or -1: a countdown.
func meets(t *ir.Instr) bool {
	return t.Cmp == ir.CmpNE && t.Type.IsSigned() && t.Src[1].Kind == ir.OperandImm && (t.Src[1].Imm == 0 || int32(t.Src[1].Imm) == -1)
}

// reaches reports whether the bound less the steps of all copies but one fits the comparison's type
// of 32 bits.
func (l *countedLoop) reaches(t *ir.Instr) bool {
	if t.Src[1].Kind != ir.OperandImm {
		return true
	}
	far := l.step * (unrollFactor - 1)
	if t.Type.IsSigned() {
		n := int64(int32(t.Src[1].Imm)) - far
		return n == int64(int32(n))
	}
	n := int64(uint32(t.Src[1].Imm)) - far
	return n == int64(uint32(n))
}

func ascends(c ir.Cmp) bool  { return c == ir.CmpLT || c == ir.CmpLE || c == ir.CmpLO || c == ir.CmpLS }
func descends(c ir.Cmp) bool { return c == ir.CmpGT || c == ir.CmpGE || c == ir.CmpHI || c == ir.CmpHS }

// mirrored is the comparison with its operands exchanged.
var mirrored = map[ir.Cmp]ir.Cmp{ir.CmpLT: ir.CmpGT, ir.CmpLE: ir.CmpGE, ir.CmpGT: ir.CmpLT, ir.CmpGE: ir.CmpLE, ir.CmpLO: ir.CmpHI, ir.CmpLS: ir.CmpHS, ir.CmpHI: ir.CmpLO, ir.CmpHS: ir.CmpLS}

// invariant reports whether an operand is a constant or a register without definitions in the loop.
func invariant(o *ir.Operand, defs map[ir.Reg]int) bool {
	return o.Kind == ir.OperandImm || o.Kind == ir.OperandReg && defs[o.Reg] == 0
}

// synchronises reports whether threads of a warp meet at an instruction, or exchange values, or
// whether it is asynchronous. No machine code was looked at for loops with the last; what they wait
// for sets their time.
func synchronises(op ir.Op) bool {
	if op.Async() {
		return true
	}
	switch op {
	case ir.BarRed, ir.BarWarp, ir.Shfl, ir.Vote, ir.Match, ir.Redux, ir.Elect, ir.Activemask:
		return true
	}
	return false
}
