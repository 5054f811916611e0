package simengine

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
)

// nameCTAWaits names waits for values of CTAs before that are taken to end at once: all but those of a grid whose CTAs are
// resident together, which meet at barriers, and look-backs.
func nameCTAWaits(out *Report, k *ir.Kernel, ctas int64, req *Request) {
	if w := k.WaitsForCTAs(); w.Waits && !w.Back && ctas > int64(out.CTAsPerSM)*int64(req.Arch.SMs) {
		out.NotModelled = append(out.NotModelled, "that CTAs wait for values that CTAs before them write to device memory: each such wait is taken to end at once")
	}
}

// nameUnmultiplied says in a report that addresses or branches may depend on products of warpgroups, which an execution
// of addresses alone does not compute: they are those of accumulators as they were before.
func (r *recording) nameUnmultiplied(out *Report) {
	if pcs := r.runner.Program().Unmultiplied; len(pcs) > 0 {
		in := &r.kernel.Instrs[pcs[0]]
		out.NotModelled = append(out.NotModelled,
			fmt.Sprintf("results of wgmma (PTX line %d) that addresses or branches may depend on: accumulators are taken to be as they were before", in.Pos.Line))
	}
}
