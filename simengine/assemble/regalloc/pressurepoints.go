package regalloc

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Points of the program with too few registers, for spilling whole values.

// PressurePoint is a point where over registers more are live than there are, and the values that
// could be spilled there.
type PressurePoint struct {
	over int
	live []vreg.Value
}

// pointsOf counts in cover at how many points each value is live, and returns a function that lists
// them.
func pointsOf(f *mir.Func, points []PressurePoint, cover []int) func(v vreg.Value) []int32 {
	total := 0
	for i := range points {
		for _, v := range points[i].live {
			cover[v]++
			total++
		}
	}
	end := make([]int, len(cover))
	sum := 0
	for v, n := range cover {
		end[v] = sum
		sum += n
	}
	list := make([]int32, total)
	for i := range points {
		for _, v := range points[i].live {
			list[end[v]] = int32(i)
			end[v]++
		}
	}
	return func(v vreg.Value) []int32 {
		if v == 0 {
			return list[:end[0]]
		}
		return list[end[v-1]:end[v]]
	}
}

// Unplaced returns the points where those values come to life that allocation could place only at
// registers from limit on. Each is at least more registers short.
func Unplaced(f *mir.Func, limit, more int, s *Scratch) []PressurePoint {
	ranges := New(f, f.Layout(nil), s).liveRanges(0)
	var out []PressurePoint
	var at []int64 // of each point its position, and below that its index in out
	for v := range ranges {
		if f.Values[v].File != vreg.General || len(ranges[v].all) == 0 || int(f.Regs[v])+int(f.Values[v].Words) <= limit {
			continue
		}
		at = append(at, int64(ranges[v].all[0].from)<<32|int64(len(out)))
		out = append(out, PressurePoint{over: max(f.GeneralWords(vreg.Value(v)), more)})
	}
	slices.Sort(at)
	for x := range ranges {
		if f.Values[x].File != vreg.General {
			continue
		}
		for _, s := range ranges[x].all {
			i, _ := slices.BinarySearch(at, int64(s.from)<<32)
			for ; i < len(at) && at[i]>>32 < int64(s.to); i++ {
				p := &out[uint32(at[i])]
				p.live = append(p.live, vreg.Value(x))
			}
		}
	}
	return out
}

// PressurePoints returns the points where more than registers general registers are live, with the
// values that live across the instruction there.
func PressurePoints(f *mir.Func, registers int) []PressurePoint {
	var out []PressurePoint
	var slab []vreg.Value
	cur := make([]uint8, len(f.Values))
	live := newSparseSet[vreg.Value](len(f.Values))
	for _, b := range f.Order {
		insts := f.Blocks[b].Insts
		copy(cur, f.Live.Out[b])
		n := 0
		live.clear()
		for v, m := range cur {
			if m != 0 && f.Values[v].File == vreg.General {
				n += int(mir.WordCount[m&f.GeneralMask(vreg.Value(v))])
				live.add(vreg.Value(v))
			}
		}
		for j := len(insts) - 1; j >= 0; j-- {
			in := &insts[j]
			at := n
			in.EachWrite(func(a *mir.Arg) { at += int(mir.WordCount[a.WordMask()&^cur[a.Value]&f.GeneralMask(a.Value)]) })
			n += f.StepCount(in, cur)
			at = max(at, n)
			follow(f, &live, in, cur)
			if at <= registers {
				continue
			}
			from := len(slab)
			for _, v := range live.list {
				if !in.Mentions(v) {
					slab = append(slab, v)
				}
			}
			out = append(out, PressurePoint{over: at - registers, live: slab[from:len(slab):len(slab)]})
		}
	}
	return out
}

// follow updates a set of live general values to the words live before an instruction.
func follow(f *mir.Func, s *sparseSet[vreg.Value], in *mir.Inst, live []uint8) {
	in.EachWrite(func(a *mir.Arg) {
		if live[a.Value] == 0 {
			s.remove(a.Value)
		}
	})
	in.EachRead(func(v vreg.Value, _ uint8) {
		if f.Values[v].File == vreg.General {
			s.add(v)
		}
	})
}
