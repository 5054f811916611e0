package timing

import (
	"math"

	"github.com/warptune/warptune/simengine/arch"
)

// UnderLoad lengthens the time of a launch whose tensor cores draw so much power that the SM clock falls. It falls to
// ClockTensor where they are used at all, a thirteenth on an H100, and further the more of the time they are busy. It
// does so within the first launches: back-to-back launches and profiled ones take the same time. Cycles stay what they
// are.
//
// Of 35 profiled launches on an H100 the clock is 35 MHz off the line in the mean: 1,605 MHz with tensor cores busy for
// 68 % of the time, 1,823 with 3 %. MMAs of warps draw it down as those of warpgroups do (1,744 MHz with 48 %). Of 18
// launches that do not use them it is the GPU's highest, 1,980, as far as the counters tell it (1,945 to 2,031).
func (r *Result) UnderLoad(d *arch.Descriptor) {
	if d.ClockTensor <= 0 || d.ClockTensorFull <= 0 || r.Cycles <= 0 || r.Work.Pipe[BoundTensor] <= 0 {
		return
	}
	shares := r.Work.Shares(d, r.Cycles)
	tensor, memory := math.Min(shares[BoundTensor], 1), math.Min(shares[BoundDRAM], 1)
	clock := math.Min(d.ClockTensor+(d.ClockTensorFull-d.ClockTensor)*tensor, d.ClockMHz)
	slower := beside(memory, d.ClockMHz/clock)
	r.TimeUS = d.LaunchGapUS + (r.TimeUS-d.LaunchGapUS)*slower
	if ns, ok := r.Metrics[countTime]; ok {
		r.Metrics[countTime] = ns * slower
	}
}

// beside is how many times as long a launch takes whose SMs are slower by a factor, while DRAM, which is busy for a share
// of its time, stays as fast as it was. Both are at work at the same time: the launch takes the root of the sum of the
// squares of what each would take.
func beside(memory, slower float64) float64 {
	return math.Sqrt(memory*memory + (1-memory*memory)*slower*slower)
}
