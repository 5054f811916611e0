package regalloc

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// storeOnce stores a unit right after each of its writes, instead of where it leaves
// its register, when that is less often by a loop at least: what is written before
// a loop and only read in it leaves its register once a turn, but memory need hold
// it once. The real assembler's code does the same: under 24 registers fft_shared's STL all
// stand before the loops that LDL what they stored
// (deploy/calibrate/validation/further).
func (s *spiller) storeOnce() {
	stored, written := map[int]float64{}, map[int]float64{}
	of := map[int16]int{}
	for u, slot := range s.slot {
		of[slot] = u
	}
	s.eachAccess(of, func(u int, w float64) { stored[u] += w }, func(u int, w float64) { written[u] += w })
	move := map[int]bool{}
	for u, w := range stored {
		if n := written[u]; n > 0 && aLoop*n <= w {
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

// aLoop is how many more times what is in a loop is taken to be executed.
const aLoop = 10

// eachAccess reports the stores of units and their writes, each with how often it is
// made.
func (s *spiller) eachAccess(of map[int16]int, stored, written func(u int, weight float64)) {
	for _, b := range s.f.Order {
		w := 1.0
		for range s.f.Blocks[b].LoopDepth {
			w *= aLoop
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

// writes are the units that an instruction of the program itself writes and that
// have a place in memory.
func (s *spiller) writes(in *mir.Inst) (units []int) {
	if in.Op == mir.OpLDL && in.SpillSlot >= 0 {
		return nil
	}
	for k := range in.Dst {
		if a := &in.Dst[k]; a.Kind == mir.ArgValue && s.f.Values[a.Value].File == vreg.General {
			eachUnit(s.f, a.Value, a.WordMask(), func(u int) {
				if _, ok := s.slot[u]; ok && !slices.Contains(units, u) {
					units = append(units, u)
				}
			})
		}
	}
	return units
}
