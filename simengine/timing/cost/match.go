package cost

import (
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
)

// match.any goes through the distinct values of a warp's lanes one by one. Each holds the pipe
// of a sub-partition for matchHold cycles and delays the result by matchNext; Wide is for words
// of 64 bits. match.all takes as long as one value.
//
// Measured on an H100 (deploy/calibrate match.rate with 32 warps, match.latency): a value takes 0.88 cycles of an SM
// between four integer additions. It takes 0.5 where nothing stands between matches, 1.06 beside square roots or
// loads from shared memory, and 1.06 for 64 bits. The latency is 11 and 13 cycles, after 9 cycles of an addition and
// a logical operation in the measured chain are taken off. Other GPUs are taken to be alike.
const (
	matchHold, matchHoldWide = 3.5, 4.25
	matchFirst               = 19.0
	matchNext, matchNextWide = 11.0, 13.0
)

// MatchCost is how long a match of a kernel holds its pipe and how long its result takes,
// cycles. matches has how many values its lanes have in the mean; one that is not listed has
// one.
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
