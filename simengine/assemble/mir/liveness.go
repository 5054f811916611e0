package mir

import "bytes"

// liveness holds, by block, the words of every value that are live at its start and end: bit w of
// In[b][v] is word w of value v.
type liveness struct {
	In, Out [][]uint8
}

// FindLiveness computes Live by backward data flow.
func (f *Func) FindLiveness() error {
	n := len(f.Values)
	store := make([]uint8, 2*n*len(f.Order)+n)
	take := func() []uint8 {
		s := store[:n:n]
		store = store[n:]
		return s
	}
	f.Live = liveness{In: make([][]uint8, len(f.Blocks)), Out: make([][]uint8, len(f.Blocks))}
	for _, b := range f.Order {
		f.Live.In[b], f.Live.Out[b] = take(), take()
	}
	cur := take()
	known := make([]bool, len(f.Blocks)) // by block: up to date with its successors
	for changed := true; changed; {
		changed = false
		for i := len(f.Order) - 1; i >= 0; i-- {
			b := f.Order[i]
			if known[b] {
				continue
			}
			known[b] = true
			out := f.Live.Out[b]
			for _, s := range f.Blocks[b].Succs {
				for v, m := range f.Live.In[s] {
					out[v] |= m
				}
			}
			copy(cur, out)
			insts := f.Blocks[b].Insts
			for j := len(insts) - 1; j >= 0; j-- {
				insts[j].Step(cur)
			}
			if bytes.Equal(f.Live.In[b], cur) {
				continue
			}
			copy(f.Live.In[b], cur)
			for _, p := range f.Blocks[b].Preds {
				known[p], changed = false, true
			}
		}
	}
	return nil
}
