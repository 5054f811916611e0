package timing

import "fmt"

// StallReason says why a warp did not issue, or why a scheduler's slot went
// unused. The names are Nsight Compute's, but for Products.
type StallReason uint8

// Stall reasons. The zero value is invalid.
const (
	StallInvalid     StallReason = iota
	Wait                         // a fixed-latency result, or a pipe or the issue slot that the warp's own last instruction holds
	ShortScoreboard              // a result of shared memory, the transcendental unit or another MIO unit
	LongScoreboard               // a result from L1TEX: global, local memory
	IMCMiss                      // an indexed constant
	LGThrottle                   // the queue for global and local memory is full
	MIOThrottle                  // the queue for other memory I/O instructions is full, or its unit busy
	MathPipeThrottle             // an arithmetic pipe is busy with other warps
	Barrier                      // other warps of the CTA have not arrived
	Products                     // warpgroup products (wgmma), its own or those before them
	Membar                       // a memory fence
	BranchResolving              // a taken branch or the first fetch after it
	NoInstruction                // the next instruction is not fetched yet
	NotSelected                  // eligible, another warp was issued
	Idle                         // the scheduler has no warp that is not finished
	NumStallReasons
)

var stallNames = [NumStallReasons]string{
	"invalid", "wait", "short_scoreboard", "long_scoreboard", "imc_miss", "lg_throttle", "mio_throttle",
	"math_pipe_throttle", "barrier", "wgmma", "membar", "branch_resolving", "no_instruction", "not_selected", "idle",
}

func (r StallReason) String() string {
	if r < NumStallReasons {
		return stallNames[r]
	}
	return fmt.Sprintf("StallReason(%d)", uint8(r))
}

// Counted is the reason that Nsight Compute counts this one as: warps that wait for products of their warpgroup
// (WARPGROUP.DEPBAR) show as waiting at a barrier.
func (r StallReason) Counted() StallReason {
	if r == Products {
		return Barrier
	}
	return r
}
