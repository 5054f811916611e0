package predicate

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// armLimit is how many instructions an arm has at most that is predicated; moves do not count. It is
// that of the assembler's if-conversion, which would predicate the same arms later.
const armLimit = 15

// Arms returns the kernel with the short arms of its branches predicated, k itself if there are none.
// Kernels without asynchronous instructions and stmatrix are left as they are.
func Arms(k *ir.Kernel) *ir.Kernel {
	if !slices.ContainsFunc(k.Instrs, func(in ir.Instr) bool { return in.Op.Async() || in.Op == ir.St && in.Mod&ir.ModMatrix != 0 }) {
		return k
	}
	return all(k)
}

func all(k *ir.Kernel) *ir.Kernel {
	for {
		guards := arms(k)
		if len(guards) == 0 {
			return k
		}
		k = rewrite(k, guards)
	}
}

// guard is what an arm's instructions are executed under.
type guard struct {
	branch int // the instruction left out
	reg    ir.Reg
	not    bool
}

// arms finds the blocks to predicate, by index.
func arms(k *ir.Kernel) map[int]guard {
	found := map[int]guard{}
	for b := range k.Blocks {
		last := k.Blocks[b].End - 1
		bra := &k.Instrs[last]
		if bra.Op != ir.Bra || bra.Guard == ir.NoReg || len(k.Blocks[b].Succs) != 2 || b+1 >= len(k.Blocks) {
			continue
		}
		_, inArm := found[b]
		if join := k.Blocks[b].Succs[1]; !inArm && join == b+2 && isArm(k, b, b+1, bra.Guard) {
			found[b+1] = guard{last, bra.Guard, !bra.GuardNot}
		}
	}
	return found
}

// isArm reports whether block a does nothing but compute registers and go on to the block behind it,
// and is reached from block b alone.
func isArm(k *ir.Kernel, b, a int, g ir.Reg) bool {
	blk := &k.Blocks[a]
	if len(blk.Preds) != 1 || blk.Preds[0] != b || len(blk.Succs) != 1 || blk.Succs[0] != a+1 {
		return false
	}
	count := 0
	for pc := blk.Start; pc < blk.End; pc++ {
		in := &k.Instrs[pc]
		switch {
		case in.Op == ir.Bra && in.Guard == ir.NoReg && in.Target == blk.End:
			continue
		case in.Guard != ir.NoReg || len(in.Dst) == 0 || slices.Contains(in.Dst, g) || !computes(in):
			return false
		case in.Op != ir.Mov && in.Op != ir.Cvta:
			count++
		}
	}
	return count <= armLimit
}

// computes reports whether an instruction only computes registers of its lane, by instructions that
// the assembler predicates.
func computes(in *ir.Instr) bool {
	switch in.Op {
	case ir.Ld, ir.Ldu, ir.Atom, ir.Div, ir.Rem, ir.Activemask, ir.Nop:
		return false
	}
	return !in.Together() && !in.Op.AlwaysExecutes() && !in.Op.Async() && !ir.HasSlowPath(in) && in.Mod&(ir.ModCarryIn|ir.ModCarryOut) == 0
}

// rewrite predicates arms and leaves out their branches.
func rewrite(k *ir.Kernel, guards map[int]guard) *ir.Kernel {
	w := ir.NewRewriter(k, len(k.Instrs))
	left := map[int]bool{}
	for _, g := range guards {
		left[g.branch] = true
	}
	for b := range k.Blocks {
		g, isArm := guards[b]
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			w.Mark(pc)
			in := k.Instrs[pc]
			if left[pc] || isArm && in.Op == ir.Bra {
				continue
			}
			if isArm {
				in.Guard, in.GuardNot = g.reg, g.not
			}
			w.Emit(in)
		}
	}
	return w.Finish()
}
