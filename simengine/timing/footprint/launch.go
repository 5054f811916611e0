package footprint

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
)

// scratch is the local memory of all resident threads of the device, bytes.
func scratch(in *timing.Input) float64 {
	threads := float64(in.CTAsPerSM * in.WarpsPerCTA * 32 * in.ActiveSMs())
	return float64(in.Program.LocalBytes) * threads
}

// TrafficOf is what the cost of DRAM's traffic depends on, by a plan.
func TrafficOf(p *Plan) cost.Traffic {
	return cost.Traffic{WriteShare: p.WriteShare(), RowSegmentShare: p.RowSegmentShare, WriteBack: p.WriteBack.Time}
}

// DeviceOf is what a plan needs to know of the GPU and the launch.
func DeviceOf(in *timing.Input) Device {
	d := in.Arch
	return Device{
		Grid: in.Grid, L2Bytes: d.L2Bytes, EffectiveBytes: d.L2EffectiveBytes,
		Kept: d.L2Kept, KeptUntil: d.L2KeptUntil,
		Scratch: scratch(in), Extents: in.Extents, Cold: in.Cold, Repeated: in.Repeated, Streaming: Streaming(in.Program.Kernel),
		Copies:   copies(in.Program.Kernel),
		Resident: float64(in.CTAsPerSM * in.ActiveSMs()), CTAsPerSM: float64(in.CTAsPerSM), L1Lines: float64(in.L1Lines()),
	}
}

// copies reports, by instruction, whether a kernel for one architecture alone copies to shared memory with it; nil for
// others.
func copies(k *ir.Kernel) (by []bool) {
	if !k.Specific() {
		return nil
	}
	by = make([]bool, len(k.Instrs))
	for pc := range by {
		by[pc] = cost.Copies(&k.Instrs[pc])
	}
	return by
}
