package cost

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// An atomic of shared memory that is a loop over a swap (assemble.Program.Swapped) goes round until every lane has
// got through: of the lanes whose words lie in one bank one at a time, whether they share the word or not. A round
// issues six instructions (of doubles seven): what is loaded, the sum, the swap, a comparison, a branch, and where
// those that are done wait for the others. It loads for all who are left, a pass for each of their words in one
// bank, and swaps in two passes, the last in one: counted exactly (deploy/calibrate wavefronts.shared_sums_banks under
// Nsight Compute, one warp, 4 to 32 lanes a bank, 1 to 32 words of them). Doubles go by halves of a warp, which
// turn together. A round takes 95 cycles, of doubles 110, of which the latencies of Figures.Swap are 85, and two more
// for each further pass of its load. Where lanes spread unevenly over the banks the fullest bank stands for all, and
// other GPUs are taken to be alike.
const (
	casRound, casRoundWide = 6, 7
	casRest, casRestWide   = 10, 25
	casLoadPass            = 2
)

// CASLoop is what an atomic's loop over a swap takes beyond its first load.
type CASLoop struct {
	// Rounds are those after the first.
	Rounds int64
	// Issued are the instructions that they issue.
	Issued int64
	// Passes are those of the data stage, of all swaps and of the loads of later rounds.
	Passes int64
	// Waits are the cycles that the rounds take beyond Figures.Swap.
	Waits int64
}

// CASLoopOf is the loop of a request of in that swaps.
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
