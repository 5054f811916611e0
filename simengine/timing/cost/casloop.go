package cost

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// A floating-point atomic on shared memory has no instruction of its own: the machine loops
// over load, add and compare-and-swap until every lane has got through
// (assemble.Program.Swapped). This file counts the rounds of that loop.
//
// Lanes whose words lie in one bank get through one at a time, whether they share the word or
// not. A round issues six instructions, for doubles seven: load, add, swap, compare, branch,
// and the point where lanes that are done wait. The load takes a pass for each distinct word of
// a bank among the lanes left, the swap two passes, in the last round one. Doubles go by
// half-warps, which take turns. All of this is exact by Nsight Compute's counters
// (deploy/calibrate wavefronts.shared_sums_banks, one warp, 4 to 32 lanes a bank, 1 to 32 words
// of them).
//
// A round takes 95 cycles, of doubles 110. Of these 85 are the latencies of
// Machine.LatCASRound. Each further pass of the load adds two. Where lanes spread unevenly over
// banks, the fullest bank stands for all. Measured on an H200; other GPUs are taken to be
// alike.
const (
	casRound, casRoundWide = 6, 7
	casRest, casRestWide   = 10, 25
	casLoadPass            = 2
)

// CASLoop is what the loop of one atomic request takes beyond its first load.
type CASLoop struct {
	// Rounds are those after the first.
	Rounds int64
	// Issued is the warp instructions that those rounds issue.
	Issued int64
	// Passes is the data-stage passes of all swaps and of the loads of later rounds.
	Passes int64
	// Waits is the cycles that the rounds take beyond Machine.LatCASRound each.
	Waits int64
}

// CASLoopOf is the loop of a request a of the PTX instruction in.
func CASLoopOf(in *ir.Instr, a *trace.Access) CASLoop {
	halves, each, rest := int64(1), int64(casRound), int64(casRest)
	if in.Type.Size() == 8 {
		halves, each, rest = 2, casRoundWide, casRestWide
	}
	loads := int64(max(a.Passes, 1))
	rounds := max((int64(a.Turns)+halves-1)/halves, int64(a.MaxSame), 1)
	later := max((rounds*(loads+halves)+1)/2-loads, 0)
	return CASLoop{
		Rounds: rounds - 1, Issued: (rounds - 1) * each,
		Passes: halves*(2*rounds-1) + later,
		Waits:  (rounds-1)*rest + casLoadPass*max(later-halves*(rounds-1), 0),
	}
}
