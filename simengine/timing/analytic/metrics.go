package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/footprint"
)

// add adds n times o.
func (y *tally) add(o *tally, n float64) {
	y.requests += n * o.requests
	y.sectors += n * o.sectors
	y.passes += n * o.passes
	y.ideal += n * o.ideal
	y.hits += n * o.hits
	y.l2 += n * o.l2
	y.partialLines += n * o.partialLines
	y.again += n * o.again
}

// metrics returns counters of the launch under Nsight Compute's names, as far as the
// composition knows them and without those that are times or rates (Result.Account sets these),
// and what they give the units to do.
func metrics(f *cost.Figures, in *timing.Input, g *footprint.Grid, t *traffic, s shape, p span) (map[string]float64, timing.Work) {
	n := float64(s.CTAs)
	var fetched, gl, gs, sl, ss, atomics, sharedAtomics, loads, stored tally
	merged := 0.0 // sectors that L2 does not look up for they come with others'
	for pc := range t.byPC {
		y := &t.byPC[pc]
		if y.requests == 0 {
			continue
		}
		i := &in.Program.Kernel.Instrs[pc]
		store := t.c.class[pc] == assemble.Store
		switch {
		case t.c.class[pc] == assemble.Bulk:
			bulk := &loads
			merged += n * y.l2 * (1 - g.Plan.LookedUp(in.Arch, pc))
			if i.Op == ir.BulkCopy && i.Bulk.To == ir.Global && i.Bulk.From != ir.Global {
				bulk = &stored
			}
			bulk.add(y, n)
		case i.Space == ir.Const || i.Space == ir.ParamSpace || i.Space == ir.SharedCluster:
		case t.c.class[pc] == assemble.Atomic && i.Space == ir.Shared:
			sharedAtomics.add(y, n)
		case t.c.class[pc] == assemble.Atomic:
			atomics.add(y, n)
		case i.Space == ir.Shared && store:
			ss.add(y, n)
		case i.Space == ir.Shared && i.Op != ir.CpAsync:
			sl.add(y, n)
		case i.Op == ir.Tex || i.Op == ir.Suld:
			fetched.add(y, n)
		case store:
			gs.add(y, n)
		default:
			gl.add(y, n)
			merged += n * y.l2 * (1 - g.Plan.LookedUp(in.Arch, pc))
		}
	}
	k := map[string]float64{}
	instrs := t.total.issued * n
	k["smsp__inst_executed.sum"] = instrs
	if t.c.specific {
		k["sm__inst_executed_pipe_tensor.sum"] = t.total.tensor * n
	}
	k["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] = gl.requests
	k["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] = gs.requests
	k["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = gl.sectors
	k["l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"] = gl.hits
	k["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] = gs.sectors
	k["l1tex__t_sectors_pipe_tex_mem_texture.sum"] = fetched.sectors
	gl.l2, gl.again, gl.partialLines = gl.l2+fetched.l2, gl.again+fetched.again, gl.partialLines+fetched.partialLines
	gl.l2, gl.again, gs.l2, gs.again = gl.l2+loads.l2, gl.again+loads.again, gs.l2+stored.l2, gs.again+stored.again
	loaded, spilled := t.total.spilled[0]*n, t.total.spilled[1]*n
	k["l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"] = t.locals[0].sectors*n + loaded
	k["l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"] = t.locals[1].sectors*n + spilled
	stores, sent := gs.sectors+t.locals[1].sectors*n+spilled, gs.l2+t.locals[1].l2*n+spilled
	gl.add(&t.locals[0], n)
	gl.sectors, gl.hits, gl.l2 = gl.sectors+loaded, gl.hits+loaded*t.c.spill.hits, gl.l2+loaded*(1-t.c.spill.hits)
	k["l1tex__t_sector_hit_rate.pct"] = percent(gl.hits, gl.sectors+stores)
	k["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] = sl.passes - sl.ideal
	k["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] = ss.passes - ss.ideal
	w := timing.Work{CTAs: n, Instructions: instrs, L2Read: gl.l2, L2Written: sent}
	secondLevel(k, &w, g, gl, merged, sent)
	w.Shared = sl.passes + ss.passes + sharedAtomics.passes + n*(t.total.turns+math.Max(t.idle, 0))
	w.Wavefronts = gl.passes + gs.passes + atomics.passes + n*t.locals[1].passes + (loaded+spilled)/4 + w.Shared
	w.Wavefronts += cost.PartialLinePasses*(gl.partialLines+atomics.partialLines) + cost.StoredSectorPasses*gs.sectors
	w.Constants, w.Textures = n*t.total.busy[idc], n*t.total.busy[texels]
	for r := hotSlices; r < numResources; r++ {
		w.Atomics = math.Max(w.Atomics, t.total.busy[r]*float64(s.PerSM))
	}
	pipes(&w, f, &t.total, n)
	w.DRAMRead, w.DRAMWritten = g.Plan.Moved(in.Cold)
	read, written := localBytes(g.Plan, t, in)
	w.DRAMRead += gl.again + n*read
	w.DRAMWritten += gs.again + n*written
	k["sm__warps_active.avg.pct_of_peak_sustained_active"] = percent(p.ctas*float64(in.WarpsPerCTA), float64(in.Arch.MaxWarps))
	return k, w
}

// pipes adds what n CTAs execute on the arithmetic pipes, in cycles of a sub-partition's pipe.
func pipes(w *timing.Work, f *cost.Figures, total *work, n float64) {
	var seen [cost.NumPorts]bool
	for i := range f.Classes {
		c := &f.Classes[i]
		if c.Busy == timing.BoundInvalid || seen[c.Port] {
			continue
		}
		seen[c.Port] = true
		w.Pipe[c.Busy] += n * total.busy[c.Port]
		if c.Busy == timing.BoundIMAD { // the heavier half of the pipe of multiply-adds
			w.Pipe[timing.BoundFMA] += n * total.busy[c.Port] * f.Classes[assemble.FMA].Hold / f.Classes[assemble.FMAHeavy].Hold
		}
	}
}

// secondLevel adds what L2 looks up, and its hit rate.
func secondLevel(k map[string]float64, w *timing.Work, g *footprint.Grid, loads tally, merged, stores float64) {
	l := g.Plan.Lookups(loads.l2-merged, loads.again/32, stores)
	w.L2Lookups, w.L2Hits = l.Reads, l.ReadHits
	k["lts__t_sector_hit_rate.pct"] = percent(l.ReadHits+l.Writes, l.Reads+l.Writes)
}

func percent(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * part / whole
}
