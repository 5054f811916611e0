package footprint

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// SameRows are copies past L1 of rows that the last CTAs of a grid make again and again, as where rows beyond the end of
// a matrix are taken to be its first. No copy joins another, and the slice of L2 that a row lies on serves them one by one.
type SameRows struct {
	Cycles float64 // that L2 takes for all of them
	Share  float64 // of the grid's CTAs that make them
}

// Beyond is how much longer a grid takes for them, which would take so many cycles without.
func (r SameRows) Beyond(cycles float64) float64 { return math.Max(r.Cycles-r.Share*cycles, 0) }

// How many copies of the same row all SMs get a cycle. Of one row that stays it is 3.6 of 32 and of 128 bytes, since a slice
// of L2 and that in its other half serve 1.8 each, and of rows that all walk along, each at its own pace, 5 to 26
// (deploy/calibrate samerows.copies, an H100 and an H200). These two are the means of samerows.tiles: of a product whose last
// rows are all the first, nine tiles with rows of 32 and 64 bytes took what 4.1 to 7.6 a cycle come to, three with rows of
// 128 bytes 2.4 to 4.2. Loads join in L1, and come as fast of the same as of their own (samerows.loads).
const (
	sameParts = 5.7
	sameLines = 3.05
)

// leastSame is from how many copies of a sector on these are the same row: two may be its halves.
const leastSame = 3

// sameRows looks at the last CTA, and takes as many others to copy the same rows as share what a CTA copies.
func (s *surveyor) sameRows(plan *Plan) (r SameRows, err error) {
	in, k := s.in, s.in.Program.Kernel
	total := in.CTAs()
	if in.Arch.L2LookupBytesPerCycle <= 0 || len(in.Spread) > 0 || !Probing(in) || !copiesPastL1(k) {
		return r, nil
	}
	traced, err := in.Source(total - 1)
	if err != nil {
		return r, fmt.Errorf("timing: trace of CTA %d: %w", total-1, err)
	}
	if traced == nil || len(traced.Warps) != in.WarpsPerCTA {
		return r, fmt.Errorf("timing: trace of CTA %d is not of %d warps", total-1, in.WarpsPerCTA)
	}
	last, err := NewCTA(traced, len(in.Program.Blocks), len(s.partial))
	if err != nil {
		return r, fmt.Errorf("timing: %w", err)
	}
	for pc, n := range last.same(k) {
		if n == 0 {
			continue
		}
		readers := math.Max(plan.Readers[pc], 1)
		r.Cycles += n * readers
		r.Share = math.Max(r.Share, readers/float64(total))
	}
	return r, nil
}

func copiesPastL1(k *ir.Kernel) bool {
	for i := range k.Instrs {
		if in := &k.Instrs[i]; in.Op == ir.CpAsync && cost.BypassesL1(in) {
			return true
		}
	}
	return false
}

// same is how many cycles L2 takes for the copies that a CTA makes of the same rows, by instruction. They are the same
// where a turn copies a sector to leastSame sectors of shared memory, by one instruction and warp or by several.
func (c *CTA) same(k *ir.Kernel) []float64 {
	cycles, all := make([]float64, len(k.Instrs)), c.turns(k)
	times, pieces := map[uint64]int{}, map[uint64]bool{}
	for _, turn := range all {
		clear(times)
		clear(pieces)
		for _, l := range turn {
			times[sectorOf(l.Line)] += max(int(l.Times), 1)
		}
		turn = slices.DeleteFunc(turn, func(l copied) bool { return times[sectorOf(l.Line)] < leastSame })
		for _, l := range turn {
			pieces[l.Addr/slicePiece] = true
		}
		for _, l := range turn {
			rate := sameParts
			if l.Sectors == 0xf {
				rate = sameLines
			}
			cycles[l.pc] += float64(l.weight) * math.Max(float64(l.Times), 1) / rate / float64(len(pieces))
		}
	}
	return cycles
}

// copied is a line that an instruction copies past L1 so many times.
type copied struct {
	*trace.Line
	pc     int32
	weight int64
}

// turns are the lines that all warps copy at about the same time: in no turn does a warp execute an instruction twice.
func (c *CTA) turns(k *ir.Kernel) (all [][]copied) {
	last := make([]int, len(k.Instrs)) // turn in which the warp executed it, 0 for none
	for i := range c.Warps {
		w, turn := &c.Warps[i], 0
		clear(last)
		for step, weight := range c.Weight[i] {
			for j := w.Steps[step].Access; j < coalesce.AccessEnd(w, step); j++ {
				a := &w.Accesses[j]
				if in := &k.Instrs[a.PC]; a.Space != ir.Global || in.Op != ir.CpAsync || !cost.BypassesL1(in) {
					continue
				}
				if last[a.PC] == turn {
					turn++
				}
				last[a.PC] = turn
				if turn > len(all) {
					all = append(all, nil)
				}
				for n := range int32(a.NLines) {
					all[turn-1] = append(all[turn-1], copied{&w.Lines[a.First+n], a.PC, weight})
				}
			}
		}
	}
	return all
}

// slicePiece is how many lines in a row lie on one slice of L2, in the mean: copies of 2, 4, 8, 16 and 64 lines in a row come
// as fast as those of 1, 2, 2, 4 and 8 lines 4 KB apart, which lie on as many (samerows.copies).
const slicePiece = 4

// sectorOf is the first sector that is asked for of a line, by its address.
func sectorOf(l *trace.Line) uint64 {
	return l.Addr<<2 + uint64(bits.TrailingZeros8(l.Sectors))
}
