package hir

import "fmt"

// Verify checks that operands name values that exist, and that blocks and their merges are
// consistent.
func (f *Func) Verify() error {
	for _, b := range f.Order {
		if f.Blocks[b].Merged >= 0 {
			return fmt.Errorf("block %d is merged but still ordered", b)
		}
		for _, ni := range f.Blocks[b].Nodes {
			n := &f.Nodes[ni]
			for _, d := range n.Dst {
				if int(d) >= len(f.Values) {
					return fmt.Errorf("block %d: node %d writes unknown value %d", b, ni, d)
				}
			}
			for i := range n.Src {
				if int(n.Src[i].Reg) >= len(f.Values) {
					return fmt.Errorf("block %d: node %d reads unknown value %d", b, ni, n.Src[i].Reg)
				}
			}
			if c := f.Carrier(n); c != b && f.Blocks[b].Holds != c {
				return fmt.Errorf("block %d: node %d belongs to block %d", b, ni, n.Block)
			}
		}
	}
	return nil
}
