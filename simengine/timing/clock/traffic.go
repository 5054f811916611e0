package clock

import (
	"math"

	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/timing/footprint"
)

// leastOfDRAM is the cycles that DRAM takes at least for what the launch moves. Of a kernel that leaves out iterations
// a wave is clocked in which what is stored may queue for DRAM without holding anything up, which no launch can go on
// doing.
func (g gridShape) leastOfDRAM(m *cost.Machine, p *sampleSet) float64 {
	spec := m.Share(g.Active, footprint.TrafficOf(p.plan))
	bytes := (p.plan.ReadBytes + p.plan.WriteBytes*math.Max(spec.WriteBack, 1)) / float64(g.CTAs) * float64(g.PerSM)
	return float64(m.ColdStart) + float64(spec.L2Latency) + bytes/float64(m.Granule())*dram.New(spec).DRAMCycles()
}
