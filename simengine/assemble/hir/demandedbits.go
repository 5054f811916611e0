package hir

import "github.com/warptune/warptune/simengine/ir"

// UpperWords reports, by value, whether some reader depends on the upper word of a 64-bit value,
// directly or through additions, multiplications and copies. Addresses in shared memory and indices
// that are truncated to 32 bits have no such reader, also when a loop carries them.
func (f *Func) UpperWords() []bool {
	need := make([]bool, len(f.Values))
	for changed := true; changed; {
		changed = false
		for i := len(f.Order) - 1; i >= 0; i-- {
			nodes := f.Blocks[f.Order[i]].Nodes
			for j := len(nodes) - 1; j >= 0; j-- {
				n := &f.Nodes[nodes[j]]
				for k := range n.Src {
					o := &n.Src[k]
					if (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg && !need[o.Reg] && readsUpper(n, k, need) {
						need[o.Reg], changed = true, true
					}
				}
			}
		}
	}
	return need
}

// readsUpper reports whether a node depends on the upper word of its source k. need says of which
// results the upper word matters.
func readsUpper(n *Node, k int, need []bool) bool {
	if n.Src[k].Kind == ir.OperandAddr {
		return n.Space == ir.Global || n.Space == ir.Generic || n.Op == ir.CpAsync && k == 1
	}
	if len(n.Dst) != 1 || n.Dst[0] < 0 || !IsInt(n.Type) {
		return true
	}
	switch n.Op {
	case ir.Add, ir.Sub, ir.Mul, ir.Mad, ir.And, ir.Or, ir.Xor, ir.Not, ir.Neg:
		if n.Mod&(ir.ModHi|ir.ModWide|ir.ModCarryIn|ir.ModCarryOut) != 0 {
			return true
		}
		return need[n.Dst[0]]
	case ir.Shl:
		return k == 0 && need[n.Dst[0]]
	case ir.Mov, ir.Cvta:
		return len(n.Src) != 1 || need[n.Dst[0]]
	case ir.Cvt:
		return Bits(n.Type) > 32 && need[n.Dst[0]]
	}
	return true
}
