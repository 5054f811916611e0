package sched

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// orderPressure is the largest number of registers live at any point of a block. order is the order
// of its instructions, nil their own. out registers are live at its end. counted says, by value,
// which words count.
func orderPressure(f *mir.Func, b int, o *mir.Operands, order []int32, out int, counted []uint8, s *Scratch) int {
	cur := s.live
	o.CopyLive(cur, f.Live.Out[b])
	n := out
	most := n
	for j := len(o.Flags) - 1; j >= 0; j-- {
		i := int32(j)
		if order != nil {
			i = order[j]
		}
		// A result that nothing reads still takes a register where it is defined.
		at := n
		defs := o.Writes(i)
		for _, d := range defs {
			at += int(mir.WordCount[d.Mask&^cur[d.Value]&counted[d.Value]])
		}
		if o.Flags[i]&mir.KeepsOld == 0 {
			for _, d := range defs {
				n -= int(mir.WordCount[d.Mask&cur[d.Value]&counted[d.Value]])
				cur[d.Value] &^= d.Mask
			}
		}
		for _, u := range o.Reads(i) {
			n += int(mir.WordCount[u.Mask&^cur[u.Value]&counted[u.Value]])
			cur[u.Value] |= u.Mask
		}
		most = max(most, at, n)
	}
	return most
}
