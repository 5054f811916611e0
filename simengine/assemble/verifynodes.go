package assemble

import "fmt"

// verifyNodes checks that every operand names a value and that blocks and
// their merges are consistent.
func (f *hfn) verifyNodes() error {
	for _, b := range f.order {
		if f.blocks[b].merged >= 0 {
			return fmt.Errorf("block %d is merged but still ordered", b)
		}
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			for _, d := range n.dst {
				if int(d) >= len(f.vals) {
					return fmt.Errorf("block %d: node %d writes unknown value %d", b, ni, d)
				}
			}
			for i := range n.src {
				if int(n.src[i].Reg) >= len(f.vals) {
					return fmt.Errorf("block %d: node %d reads unknown value %d", b, ni, n.src[i].Reg)
				}
			}
			if c := f.carrier(n); c != b && f.blocks[b].holds != c {
				return fmt.Errorf("block %d: node %d belongs to block %d", b, ni, n.block)
			}
		}
	}
	return nil
}
