package origin

import "github.com/warptune/warptune/simengine/ir"

// Condition is what decides which lanes execute an instruction.
type Condition struct {
	Of   Set
	Loop bool // whether to iterate once more
}

// Conditions finds, by instruction, the innermost condition on which threads of a warp may differ; Of 0: there is none.
func (v *Values) Conditions(k *ir.Kernel) []Condition {
	out := make([]Condition, len(k.Instrs))
	size := make([]int, len(k.Instrs)) // of the region that the condition decides on
	for b := range k.Blocks {
		if k.Blocks[b].End == k.Blocks[b].Start {
			continue
		}
		last := &k.Instrs[k.Blocks[b].End-1]
		if last.Op != ir.Bra || last.Guard == ir.NoReg || len(k.Blocks[b].Succs) < 2 {
			continue
		}
		if c := v.Reg(last.Guard); c.Of != 0 && !c.same() {
			region, loop := between(k, b)
			n := 0
			for _, r := range region {
				n += k.Blocks[r].End - k.Blocks[r].Start
			}
			for _, r := range region {
				for pc := k.Blocks[r].Start; pc < k.Blocks[r].End; pc++ {
					if size[pc] == 0 || n < size[pc] {
						out[pc], size[pc] = Condition{c.Of, loop}, n
					}
				}
			}
		}
	}
	for pc := range k.Instrs {
		if g := k.Instrs[pc].Guard; g != ir.NoReg && k.Instrs[pc].Op != ir.Bra {
			if c := v.Reg(g); c.Of != 0 && !c.same() {
				out[pc] = Condition{Of: c.Of}
			}
		}
	}
	return out
}

// between is the blocks that a branch decides on, those before its lanes reconverge, and whether it is one of them: then
// it decides whether to iterate once more.
func between(k *ir.Kernel, b int) (region []int, loop bool) {
	seen := make([]bool, len(k.Blocks))
	stack := append([]int(nil), k.Blocks[b].Succs...)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n < 0 || n == k.Blocks[b].IPDom || seen[n] {
			continue
		}
		seen[n] = true
		region, loop = append(region, n), loop || n == b
		stack = append(stack, k.Blocks[n].Succs...)
	}
	return region, loop
}
