package ir

import "slices"

// Unrolling as ptxas 13.0 does it (-O3, sm_90), seen in the machine code of
// every loop of 13 kernels by two compilers and of 9 more by one:
//
//   - It unrolls a loop of one block that ends in a branch to itself on the
//     ordered comparison of a 32-bit induction, after its increment, with a
//     value that the loop does not change, signed (blur, moving_average,
//     histogram) or unsigned (reduce_atomic), unless .pragma "nounroll" stands
//     before it. The trip count need not be known.
//   - It leaves alone loops tested for inequality (prefix_sum, fat_threads),
//     loops whose 64-bit induction is narrowed first (blur by clang), and loops
//     of several blocks (histogram's flush, nbody's and sgemm's outer loop, all
//     of reduce's).
//   - There are four copies in the loop, then two, then one, each skipped when
//     fewer iterations are left. Four copies of 37 instructions are made, of 73
//     are not: unrollBudget lies between.
//   - Before an unsigned loop one iteration is peeled off, made when the
//     induction is past the bound to begin with: sgemm by clang counts from
//     tid-64, which the first step wraps round to tid.

// unrollFactor is the number of copies in an unrolled loop.
const unrollFactor = 4

// unrollBudget bounds the PTX instructions of all copies. The machine code that
// was read places it between 148 (blur) and 292 (fat_threads).
const unrollBudget = 256

// counted is a loop that can be unrolled.
type counted struct {
	block int
	test  int // the comparison that its branch is guarded by
	iv    Reg // the induction compared
	step  int64
}

// Unrolled is the kernel with the loops unrolled that the real assembler
// unrolls, and k itself when there are none. Instructions made from one of the
// PTX keep its position. Where the number of iterations left overflows a signed
// integer, the result differs from the PTX as the real assembler's does.
func (k *Kernel) Unrolled() *Kernel {
	var loops []counted
	for b := range k.Blocks {
		if l, ok := k.counted(b); ok {
			loops = append(loops, l)
		}
	}
	if len(loops) == 0 {
		return k
	}
	u := unroller{k: k, live: k.Liveness(), moved: make([]int, len(k.Instrs)+1)}
	nk := *k
	u.out = &nk
	nk.Regs = append([]RegInfo(nil), k.Regs...)
	nk.Instrs = make([]Instr, 0, len(k.Instrs)+len(loops)*unrollBudget)
	nk.Blocks, nk.NoUnroll = nil, nil
	for b := range k.Blocks {
		blk := &k.Blocks[b]
		if len(loops) > 0 && loops[0].block == b {
			u.moved[blk.Start] = len(nk.Instrs)
			u.loop(&loops[0])
			loops = loops[1:]
			continue
		}
		for pc := blk.Start; pc < blk.End; pc++ {
			u.moved[pc] = len(nk.Instrs)
			u.emit(k.Instrs[pc])
		}
	}
	u.retarget()
	for _, pc := range k.NoUnroll {
		nk.NoUnroll = append(nk.NoUnroll, u.moved[pc])
	}
	nk.buildCFG()
	return &nk
}

// counted says whether a block is a loop that ptxas unrolls.
func (k *Kernel) counted(b int) (counted, bool) {
	l := counted{block: b, test: -1}
	blk := &k.Blocks[b]
	bra := &k.Instrs[blk.End-1]
	if bra.Op != Bra || bra.Guard == NoReg || bra.GuardNot || bra.Target != blk.Start || b+1 >= len(k.Blocks) ||
		(blk.End-blk.Start)*unrollFactor > unrollBudget || slices.Contains(k.NoUnroll, blk.Start) {
		return l, false
	}
	adds := map[Reg]int{} // definitions of each register
	for pc := blk.Start; pc < blk.End-1; pc++ {
		in := &k.Instrs[pc]
		if in.Guard != NoReg && len(in.Dst) > 0 || synchronises(in.Op) {
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
	t := &k.Instrs[l.test]
	if t.Op != Setp || len(t.Src) != 2 || t.Type.Size() != 4 || t.Type.IsFloat() || t.Src[0].Kind != OperandReg || !invariant(&t.Src[1], adds) {
		return l, false
	}
	l.iv = t.Src[0].Reg
	for pc := blk.Start; pc < l.test; pc++ {
		if in := &k.Instrs[pc]; len(in.Dst) == 1 && in.Dst[0] == l.iv && in.Op == Add && in.Mod == 0 && in.Type.Size() == 4 &&
			in.Src[0].Kind == OperandReg && in.Src[0].Reg == l.iv && in.Src[1].Kind == OperandImm {
			l.step = int64(int32(in.Src[1].Imm))
		}
	}
	return l, adds[l.iv] == 1 && ascends(t.Cmp) == (l.step > 0) && descends(t.Cmp) == (l.step < 0) && l.step != 0 && l.reaches(t)
}

// reaches says whether the bound less the steps of all copies but one is a
// 32-bit number of the comparison's type.
func (l *counted) reaches(t *Instr) bool {
	if t.Src[1].Kind != OperandImm {
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

func ascends(c Cmp) bool  { return c == CmpLT || c == CmpLE || c == CmpLO || c == CmpLS }
func descends(c Cmp) bool { return c == CmpGT || c == CmpGE || c == CmpHI || c == CmpHS }

// mirrored is the comparison with its sides exchanged.
var mirrored = map[Cmp]Cmp{CmpLT: CmpGT, CmpLE: CmpGE, CmpGT: CmpLT, CmpGE: CmpLE, CmpLO: CmpHI, CmpLS: CmpHS, CmpHI: CmpLO, CmpHS: CmpLS}

// invariant says whether an operand is a constant or a register without
// definitions in the loop.
func invariant(o *Operand, defs map[Reg]int) bool {
	return o.Kind == OperandImm || o.Kind == OperandReg && defs[o.Reg] == 0
}

// synchronises says whether threads meet at an instruction.
func synchronises(op Op) bool {
	switch op {
	case Bar, BarRed, BarWarp, Shfl, Vote, Match, Redux, Elect, Activemask:
		return true
	}
	return false
}
