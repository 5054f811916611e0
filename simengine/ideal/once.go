package ideal

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// OncePerCTA is the instructions that a CTA executes as often whether its threads load few elements or many. They are
// those before the first load of device memory, up to a barrier: private copies are cleared, tables loaded into shared
// memory. And they are those after the last load, from where threads combine what they have: sums over a tree, private
// copies that are merged. It is nil where there is nothing of the kind.
//
//	clear; barrier;  load … load;  store shared; barrier; tree; store
//	‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾                ‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾
func OncePerCTA(k *ir.Kernel) []bool {
	first, last := loading(k)
	if first > last {
		return nil
	}
	once, found := make([]bool, len(k.Instrs)), false
	mark := func(from, to int) {
		found = true
		for pc := from; pc < to; pc++ {
			once[pc] = k.Instrs[pc].Op != ir.Exit
		}
	}
	for pc := first - 1; pc >= 0; pc-- {
		if isBarrier(k.Instrs[pc].Op) {
			mark(0, pc+1)
			break
		}
	}
	for pc := last + 1; pc < len(k.Instrs); pc++ {
		in := &k.Instrs[pc]
		if isBarrier(in.Op) || combines(in.Op) {
			mark(pc, len(k.Instrs))
			break
		}
		once[pc] = in.Op == ir.St && in.Space == ir.Shared // for the others, behind the barrier
	}
	if !found {
		return nil
	}
	return once
}

// loading is the first and the last instruction of the part of a kernel that loads device memory, the loops around its
// loads included. It is empty (first > last) where nothing is loaded.
func loading(k *ir.Kernel) (first, last int) {
	first, last = len(k.Instrs), -1
	for pc := range k.Instrs {
		if in := &k.Instrs[pc]; loadsDevice(in) {
			first, last = min(first, pc), pc
		}
	}
	for grown := last >= 0; grown; {
		grown = false
		for b := range k.Blocks {
			for _, head := range k.Blocks[b].Succs {
				from, to := k.Blocks[head].Start, k.Blocks[b].End-1
				if head <= b && from <= last && to >= first && (from < first || to > last) {
					first, last, grown = min(first, from), max(last, to), true
				}
			}
		}
	}
	return first, last
}

func loadsDevice(in *ir.Instr) bool {
	switch in.Op {
	case ir.Ld, ir.Ldu:
		return in.Space == ir.Global || in.Space == ir.Generic
	case ir.CpAsync, ir.BulkCopy, ir.Tex, ir.Suld:
		return true
	}
	return false
}

func isBarrier(op ir.Op) bool { return op == ir.Bar || op == ir.BarRed }

// combines reports whether lanes of a warp give each other what they have.
func combines(op ir.Op) bool {
	return op == ir.Shfl || op == ir.Vote || op == ir.Match || op == ir.Redux
}

// withoutOnce is a block's machine code without what a CTA executes once. Code that the assembler made stays, but in
// blocks of which all is executed once; so do exits.
func withoutOnce(k *ir.Kernel, block int, once []bool, in []assemble.Instr) []assemble.Instr {
	whole := true
	for pc := k.Blocks[block].Start; pc < k.Blocks[block].End; pc++ {
		whole = whole && (once[pc] || k.Instrs[pc].Op == ir.Exit)
	}
	out := make([]assemble.Instr, 0, len(in))
	for _, i := range in {
		if i.Class != assemble.Exit && (i.Source < 0 && whole || i.Source >= 0 && once[i.Source]) {
			continue
		}
		out = append(out, i)
	}
	return out
}

// dropAccesses leaves out accesses that the program has no instruction for.
func dropAccesses(w *trace.Warp, drop func(*trace.Access) bool) {
	kept, at := make([]trace.Access, 0, len(w.Accesses)), 0
	steps := slices.Clone(w.Steps)
	for i := range steps {
		for ; at < int(steps[i].Access); at++ {
			if a := &w.Accesses[at]; !drop(a) {
				kept = append(kept, *a)
			}
		}
		steps[i].Access = int32(len(kept))
	}
	for ; at < len(w.Accesses); at++ {
		if a := &w.Accesses[at]; !drop(a) {
			kept = append(kept, *a)
		}
	}
	w.Steps, w.Accesses = steps, kept
}
