package timing

import (
	"math"

	"github.com/warptune/warptune/simengine/arch"
)

// UnderLoad lengthens the time of a launch whose tensor cores draw so much power that the SM clock falls: at once by an
// eighth or so where they are used at all, and further the more of the time they are busy. It falls within the first
// launches, too fast to be seen in single ones: back-to-back launches and profiled ones take the same time. What DRAM
// takes of the time stays. Cycles stay what they are.
//
// The clock of 35 profiled launches is within 35 MHz of the line in the mean, from 1,605 MHz with tensor cores busy for
// 68 % of the time to 1,823 with 3 % (shared/hopper h100/counters.jsonl.gz); of 18 that do not use them it is 1,945 to
// 2,031, of which 1,980 is the highest that there is.
func (r *Result) UnderLoad(d *arch.Descriptor) {
	if d.ClockTensor <= 0 || d.ClockTensorFull <= 0 || r.Cycles <= 0 || r.Work.Pipe[BoundTensor] <= 0 {
		return
	}
	shares := r.Work.Shares(d, r.Cycles)
	tensor, memory := math.Min(shares[BoundTensor], 1), math.Min(shares[BoundDRAM], 1)
	clock := math.Min(d.ClockTensor+(d.ClockTensorFull-d.ClockTensor)*tensor, d.ClockMHz)
	slower := memory + (1-memory)*d.ClockMHz/clock
	r.TimeUS = d.LaunchGapUS + (r.TimeUS-d.LaunchGapUS)*slower
	if ns, ok := r.Metrics[countTime]; ok {
		r.Metrics[countTime] = ns * slower
	}
}
