package regalloc

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Stores at the definition instead of at the eviction.

// storeOnce stores a unit right after each of its writes where that is less often, by a loop at
// least, than where it is evicted. A value written before a loop and only read in it is evicted
// once a turn, but memory has to receive it once.
//
// Evidence, kernels: under 24 registers all STL of fft_shared stand before the loops that reload.
func (s *spiller) storeOnce() {
	stored, written := map[int]float64{}, map[int]float64{}
	of := map[int16]int{}
	for u, slot := range s.slot {
		of[slot] = u
	}
	s.eachAccess(of, func(u int, w float64) { stored[u] += w }, func(u int, w float64) { written[u] += w })
	move := map[int]bool{}
	for u, w := range stored {
		if n := written[u]; n > 0 && loopFactor*n <= w {
			move[u] = true
		}
	}
	if len(move) == 0 {
		return
	}
	for _, b := range s.f.Order {
		insts := s.f.Blocks[b].Insts
		out := make([]mir.Inst, 0, len(insts)+len(move))
		for i := range insts {
			in := insts[i]
			if in.Op == mir.OpSTL && in.SpillSlot >= 0 && move[of[in.SpillSlot]] {
				s.f.Spills.Stores--
				continue
			}
			out = append(out, in)
			for _, u := range s.writes(&in) {
				if move[u] {
					s.f.Spills.Stores++
					out = append(out, s.access(mir.OpSTL, mir.ValueWords(vreg.Value(u/4), uint8(u%4), 1), u))
				}
			}
		}
		s.f.Blocks[b].Insts = out
	}
}

// loopFactor is how many times a loop is taken to run.
const loopFactor = 10

// eachAccess reports each store of a unit and each of its writes, with how often it runs. of is the
// unit of each spill slot.
func (s *spiller) eachAccess(of map[int16]int, stored, written func(u int, weight float64)) {
	for _, b := range s.f.Order {
		w := 1.0
		for range s.f.Blocks[b].LoopDepth {
			w *= loopFactor
		}
		for i := range s.f.Blocks[b].Insts {
			in := &s.f.Blocks[b].Insts[i]
			if in.Op == mir.OpSTL && in.SpillSlot >= 0 {
				stored(of[in.SpillSlot], w)
				continue
			}
			for _, u := range s.writes(in) {
				written(u, w)
			}
		}
	}
}

// writes returns the units with a place in memory that an instruction of the program itself writes.
func (s *spiller) writes(in *mir.Inst) (units []int) {
	if in.Op == mir.OpLDL && in.SpillSlot >= 0 {
		return nil
	}
	in.EachWrite(func(a *mir.Arg) {
		eachUnit(s.f, a.Value, a.WordMask(), func(u int) {
			if _, ok := s.slot[u]; ok && !slices.Contains(units, u) {
				units = append(units, u)
			}
		})
	})
	return units
}
