package assemble

import "slices"

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
	for _, b := range s.f.order {
		insts := s.f.blocks[b].insts
		out := make([]inst, 0, len(insts)+len(move))
		for i := range insts {
			in := insts[i]
			if in.op == opSTL && in.spill >= 0 && move[of[in.spill]] {
				s.f.spills.stores--
				continue
			}
			out = append(out, in)
			for _, u := range s.writes(&in) {
				if move[u] {
					s.f.spills.stores++
					out = append(out, s.access(opSTL, valueArg(value(u/4), uint8(u%4), 1), u))
				}
			}
		}
		s.f.blocks[b].insts = out
	}
}

// aLoop is how many more times what is in a loop is taken to be executed.
const aLoop = 10

// eachAccess reports the stores of units and their writes, each with how often it is
// made.
func (s *spiller) eachAccess(of map[int16]int, stored, written func(u int, weight float64)) {
	for _, b := range s.f.order {
		w := 1.0
		for range s.f.blocks[b].depth {
			w *= aLoop
		}
		for i := range s.f.blocks[b].insts {
			in := &s.f.blocks[b].insts[i]
			if in.op == opSTL && in.spill >= 0 {
				stored(of[in.spill], w)
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
func (s *spiller) writes(in *inst) (units []int) {
	if in.op == opLDL && in.spill >= 0 {
		return nil
	}
	for k := range in.dst {
		if a := &in.dst[k]; a.kind == argValue && s.f.vals[a.v].file == fileGeneral {
			s.f.eachUnit(a.v, a.wordMask(), func(u int) {
				if _, ok := s.slot[u]; ok && !slices.Contains(units, u) {
					units = append(units, u)
				}
			})
		}
	}
	return units
}
