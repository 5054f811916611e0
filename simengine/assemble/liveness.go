package assemble

import "bytes"

// liveness holds, for each block, the words of every value that are live at
// its entry and exit: bit w of in[b][v] is word w of v.
type liveness struct {
	in, out [][]uint8
}

// findLiveness solves the data flow equations over the machine blocks.
func (f *mfn) findLiveness() error {
	n := len(f.vals)
	store := make([]uint8, 2*n*len(f.blocks)+n)
	take := func() []uint8 {
		s := store[:n:n]
		store = store[n:]
		return s
	}
	f.live = liveness{in: make([][]uint8, len(f.blocks)), out: make([][]uint8, len(f.blocks))}
	for _, b := range f.order {
		f.live.in[b], f.live.out[b] = take(), take()
	}
	cur := take()
	known := make([]bool, len(f.blocks)) // by what is known of the blocks that follow
	for changed := true; changed; {
		changed = false
		for i := len(f.order) - 1; i >= 0; i-- {
			b := f.order[i]
			if known[b] {
				continue
			}
			known[b] = true
			out := f.live.out[b]
			for _, s := range f.blocks[b].succs {
				for v, m := range f.live.in[s] {
					out[v] |= m
				}
			}
			copy(cur, out)
			insts := f.blocks[b].insts
			for j := len(insts) - 1; j >= 0; j-- {
				insts[j].step(cur)
			}
			if bytes.Equal(f.live.in[b], cur) {
				continue
			}
			copy(f.live.in[b], cur)
			for _, p := range f.blocks[b].preds {
				known[p], changed = false, true
			}
		}
	}
	return nil
}
