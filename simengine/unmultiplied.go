package simengine

import "fmt"

// nameUnmultiplied says in a report that addresses or branches may depend on products of warpgroups, which an execution
// of addresses alone does not compute: they are those of accumulators as they were before.
func (r *recording) nameUnmultiplied(out *Report) {
	if pcs := r.runner.Program().Unmultiplied; len(pcs) > 0 {
		in := &r.kernel.Instrs[pcs[0]]
		out.NotModelled = append(out.NotModelled,
			fmt.Sprintf("results of wgmma (PTX line %d) that addresses or branches may depend on: accumulators are taken to be as they were before", in.Pos.Line))
	}
}
