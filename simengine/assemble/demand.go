package assemble

import "github.com/warptune/warptune/simengine/ir"

// upperWords says which 64-bit values have a reader that depends on their upper
// word, directly or through sums, products and copies. Addresses in shared
// memory, and indices that are cut to 32 bits, have none, also when a loop
// carries them.
func (f *hfn) upperWords() []bool {
	need := make([]bool, len(f.vals))
	for changed := true; changed; {
		changed = false
		for i := len(f.order) - 1; i >= 0; i-- {
			nodes := f.blocks[f.order[i]].nodes
			for j := len(nodes) - 1; j >= 0; j-- {
				n := &f.nodes[nodes[j]]
				for k := range n.src {
					o := &n.src[k]
					if (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg && !need[o.Reg] && readsUpper(n, k, need) {
						need[o.Reg], changed = true, true
					}
				}
			}
		}
	}
	return need
}

// readsUpper says whether what a node does depends on the upper word of its
// k-th source, given which results' upper words matter.
func readsUpper(n *node, k int, need []bool) bool {
	if n.src[k].Kind == ir.OperandAddr {
		return n.space == ir.Global || n.space == ir.Generic || n.op == ir.CpAsync && k == 1
	}
	if len(n.dst) != 1 || n.dst[0] < 0 || !isInt(n.typ) {
		return true
	}
	switch n.op {
	case ir.Add, ir.Sub, ir.Mul, ir.Mad, ir.And, ir.Or, ir.Xor, ir.Not, ir.Neg:
		if n.mod&(ir.ModHi|ir.ModWide|ir.ModCarryIn|ir.ModCarryOut) != 0 {
			return true
		}
		return need[n.dst[0]]
	case ir.Shl:
		return k == 0 && need[n.dst[0]]
	case ir.Mov, ir.Cvta:
		return len(n.src) != 1 || need[n.dst[0]]
	case ir.Cvt:
		return bits(n.typ) > 32 && need[n.dst[0]]
	}
	return true
}
