package timing

import (
	"math"

	"github.com/warptune/warptune/simengine/arch"
)

// SlotShares accounts for every issue slot of the device over r.Cycles, as shares of all. "issued" is what Account
// says of issue. "idle" is what SMs without a CTA have, and what the clocked one had without a warp. The rest goes to
// the other reasons as the clocked slots do or, where iterations of loops were left out, as warps waited. Nil where
// nothing was clocked.
func (r *Result) SlotShares(d *arch.Descriptor) map[string]float64 {
	if r.SchedulerCycles == 0 || r.CTAs == 0 || r.Cycles <= 0 {
		return nil
	}
	issued := math.Min(r.Utilisation[BoundIssue.String()], 1)
	active := math.Min(r.Work.CTAs/float64(r.CTAs*int64(d.SMs)), 1)
	empty := float64(r.Slots[Idle]) * float64(r.CTAs) / math.Max(float64(r.ClockedCTAs), 1) / (r.Cycles * float64(d.SubPartitions))
	weights, sum := r.waits()
	idle := math.Min(1-active+active*math.Min(empty, 1), 1-issued)
	if sum == 0 {
		idle = 1 - issued
	}
	out := map[string]float64{"issued": issued}
	if idle > 0 {
		out[Idle.String()] = idle
	}
	for reason, v := range weights {
		if v > 0 {
			out[StallReason(reason).String()] = (1 - issued - idle) * v / sum
		}
	}
	return out
}

// waits is how the slots that warps leave unused divide among the reasons, and the sum of it.
func (r *Result) waits() (weights [NumStallReasons]float64, sum float64) {
	for reason := range weights {
		switch k := StallReason(reason); {
		case k == Idle || k == NotSelected && r.Sampled:
			continue
		case r.Sampled:
			weights[k] = r.WarpStalls[k]
		default:
			weights[k] = float64(r.Slots[k])
		}
		sum += weights[reason]
	}
	return weights, sum
}
