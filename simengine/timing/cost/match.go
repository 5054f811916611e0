package cost

import (
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
)

// A match takes a sub-partition so many cycles for each value its lanes have, and its result
// comes so many later for each: 0.88 cycles of an SM beside four sums of integers (0.5 where nothing stands between matches, 1.06
// beside roots or loads from shared memory) and 11 of a chain for words of 32 bits, 1.06 and 13 of
// 64, on an H100 (deploy/calibrate match.rate with 32 warps, match.latency, which has a sum and a logical
// operation of 9 cycles together in it). match.all takes as one value whatever there are. Other GPUs are taken to be alike.
const (
	matchHold, matchHoldWide = 3.5, 4.25
	matchFirst               = 19.0
	matchNext, matchNextWide = 11.0, 13.0
)

// MatchCost is how long a match of a program holds its pipe, and how long its result takes, cycles.
func MatchCost(k *ir.Kernel, in *assemble.Instr, matches []timing.Match) (hold, latency float64) {
	values, hold, each := 1.0, matchHold, matchNext
	if in.Source >= 0 && k.Instrs[in.Source].Type.Size() == 8 {
		hold, each = matchHoldWide, matchNextWide
	}
	for i := range matches {
		if matches[i].PC == in.Source {
			values = matches[i].Values
		}
	}
	return hold * values, matchFirst + each*values
}
