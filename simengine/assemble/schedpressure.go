package assemble

// orderPressure is blockPressure for the instructions of o in an order, nil
// their own; out registers are live at the block's end, and counted is by value the words
// that take one.
func (f *mfn) orderPressure(b int, o *operands, order []int32, out int, counted []uint8, s *scratch) int {
	cur := s.live
	o.copyLive(cur, f.live.out[b])
	n := out
	most := n
	for j := len(o.flags) - 1; j >= 0; j-- {
		i := int32(j)
		if order != nil {
			i = order[j]
		}
		// A result nobody reads still needs its register at its definition.
		at := n
		defs := o.writes(i)
		for _, d := range defs {
			at += int(wordCount[d.mask&^cur[d.v]&counted[d.v]])
		}
		if o.flags[i]&keepsOld == 0 {
			for _, d := range defs {
				n -= int(wordCount[d.mask&cur[d.v]&counted[d.v]])
				cur[d.v] &^= d.mask
			}
		}
		for _, u := range o.reads(i) {
			n += int(wordCount[u.mask&^cur[u.v]&counted[u.v]])
			cur[u.v] |= u.mask
		}
		most = max(most, at, n)
	}
	return most
}
