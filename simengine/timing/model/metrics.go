package model

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
)

// add sums tallies.
func (y *tally) add(o *tally, n float64) {
	y.requests += n * o.requests
	y.sectors += n * o.sectors
	y.passes += n * o.passes
	y.ideal += n * o.ideal
	y.hits += n * o.hits
	y.l2 += n * o.l2
	y.dram += n * o.dram
}

// metrics are counters of the launch under Nsight Compute's names, those that
// the composition knows.
func metrics(in *timing.Input, fp *footprint, t *traffic, s shape, p span) map[string]float64 {
	n := float64(s.ctas)
	var gl, gs, sl, ss tally
	for pc := range t.byPC {
		y := &t.byPC[pc]
		if y.requests == 0 {
			continue
		}
		i := &in.Program.Kernel.Instrs[pc]
		store := t.c.class[pc] == assemble.Store
		switch {
		case t.c.class[pc] == assemble.Atomic || i.Space == ir.Const || i.Space == ir.ParamSpace:
		case i.Space == ir.Shared && store:
			ss.add(y, n)
		case i.Space == ir.Shared && i.Op != ir.CpAsync:
			sl.add(y, n)
		case store:
			gs.add(y, n)
		default:
			gl.add(y, n)
		}
	}
	k := map[string]float64{}
	instrs := t.total.issued * n
	k["smsp__inst_executed.sum"] = instrs
	k["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] = gl.requests
	k["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] = gs.requests
	k["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = gl.sectors
	k["l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"] = gl.hits
	k["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] = gs.sectors
	k["l1tex__t_sector_hit_rate.pct"] = percent(gl.hits, gl.sectors+gs.sectors)
	k["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] = sl.passes - sl.ideal
	k["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] = ss.passes - ss.ideal
	k["lts__t_sectors_op_read.sum"] = gl.l2
	k["lts__t_sectors_op_write.sum"] = gs.sectors
	k["lts__t_sector_hit_rate.pct"] = percent(math.Max(gl.l2-gl.dram, 0)+gs.sectors, gl.l2+gs.sectors)
	k["dram__bytes_read.sum"] = fp.plan.ReadBytes
	k["dram__bytes_write.sum"] = fp.plan.WriteBytes
	k["gpu__time_duration.sum"] = in.Arch.Microseconds(p.cycles) * 1000
	k["sm__cycles_elapsed.max"] = p.cycles
	k["smsp__issue_active.avg.pct_of_peak_sustained_active"] = percent(instrs/float64(in.Arch.SMs*in.Arch.SubPartitions), p.cycles)
	return k
}

func percent(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * part / whole
}
