package clock

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// traffic sums requests of a kind over the grid.
type traffic struct {
	requests, sectors, passes, ideal float64
	hits, l2, fromDRAM, again        float64 // sectors
	merged                           float64 // of those of l2, that L2 does not look up for they come with others'
	partialLines                     float64 // see pcStats
}

// add adds an instruction's total over the grid and, in the proportions that the clocked caches
// found (st), its hits.
func (t *traffic) add(y tally, scale float64, st *pcStats) {
	t.requests += float64(y.requests) * scale
	t.sectors += float64(y.sectors) * scale
	t.passes += float64(y.passes) * scale
	t.ideal += float64(y.ideal) * scale
	if st != nil && st.sectors > 0 {
		f := float64(y.sectors) * scale / float64(st.sectors)
		t.hits += float64(st.l1Hits) * f
		t.l2 += float64(st.l2Sectors) * f
		t.fromDRAM += float64(st.dramSectors) * f
		t.again += float64(st.again) * f
		t.partialLines += float64(st.partialLines) * f
	}
}

// merge says which share of an instruction's sectors comes with what other SMs ask of L2, besides what joins requests of
// the same SM.
func (t *traffic) merge(share float64, y tally, scale float64, st *pcStats) {
	if st.sectors > 0 {
		merged := float64(st.joined) + share*float64(st.l2Sectors-st.joined)
		t.merged += merged * float64(y.sectors) * scale / float64(st.sectors)
	}
}

// spilled adds sectors of spilled registers, with what the caches did for local memory.
func (t *traffic) spilled(sectors float64, st *pcStats) {
	f := sectors / math.Max(float64(st.sectors), 1)
	t.sectors += sectors
	t.passes += sectors * cache.SectorBytes / cache.LineBytes // a word of each lane
	t.hits += float64(st.l1Hits) * f
	t.l2 += float64(st.l2Sectors) * f
	t.fromDRAM += float64(st.dramSectors) * f
}

// metrics returns counters of the launch under Nsight Compute's names, without those that are
// times or rates (Result.Account sets these), and what they give the units to do.
func metrics(m *cost.Machine, c *code, in *timing.Input, p *sampleSet, g gridShape, e *estimate) (map[string]float64, timing.Work) {
	s := e.run
	scale := float64(g.CTAs) / float64(max(p.counts.samples, 1))
	var textures, gl, gs, ll, ls, sl, ss, atom, sharedAtom, bulkLoads, bulkStores traffic
	for pc := range p.counts.byPC {
		y := p.counts.byPC[pc]
		if y.requests == 0 {
			continue
		}
		i := &c.program.Kernel.Instrs[pc]
		st := &s.stats.byPC[pc]
		isStore := i.Op == ir.St || i.Op == ir.Sust
		switch {
		case i.Op == ir.Tex || i.Op == ir.Suld:
			textures.add(y, scale, st)
		case i.Op == ir.BulkCopy && i.Bulk.To == ir.Global && i.Bulk.From != ir.Global:
			bulkStores.add(y, scale, st)
		case i.Op == ir.BulkCopy || i.Op == ir.BulkPrefetch:
			bulkLoads.add(y, scale, st)
			bulkLoads.merge(1-p.plan.LookedUp(m.Arch, pc), y, scale, st)
		case i.Space == ir.SharedCluster:
		case (i.Op == ir.Atom || i.Op == ir.Red) && i.Space == ir.Shared:
			sharedAtom.add(y, scale, nil)
		case i.Op == ir.Atom || i.Op == ir.Red:
			atom.add(y, scale, st)
		case i.Space == ir.Shared && isStore:
			ss.add(y, scale, nil)
		case i.Space == ir.Shared && i.Op != ir.CpAsync:
			sl.add(y, scale, nil)
		case i.Space == ir.Local && isStore:
			ls.add(y, scale, &s.stats.local[1])
		case i.Space == ir.Local:
			ll.add(y, scale, &s.stats.local[0])
		case i.Space == ir.Const || i.Space == ir.ParamSpace:
		case isStore:
			gs.add(y, scale, st)
		default:
			gl.add(y, scale, st)
			gl.merge(1-p.plan.LookedUp(m.Arch, pc), y, scale, st)
		}
	}
	k := map[string]float64{}
	instrs := float64(p.counts.instrs) * scale
	k["smsp__inst_executed.sum"] = instrs
	k["smsp__thread_inst_executed.sum"] = float64(p.counts.threads) * scale
	ratio := instrs / math.Max(float64(s.stats.issued+s.stats.loop.dual), 1) // grid over clocked
	ll.spilled(float64(s.stats.spillSectors[0])*ratio, &s.stats.local[0])
	ls.spilled(float64(s.stats.spillSectors[1])*ratio, &s.stats.local[1])
	k["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] = gl.requests
	k["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] = gs.requests
	k["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = gl.sectors
	k["l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"] = gl.hits
	k["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] = gs.sectors
	k["l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"] = ll.sectors
	k["l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"] = ls.sectors
	k["l1tex__t_sector_hit_rate.pct"] = percent(gl.hits+gs.hits+ll.hits+ls.hits, gl.sectors+gs.sectors+ll.sectors+ls.sectors)
	k["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] = sl.passes - sl.ideal
	k["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] = ss.passes - ss.ideal
	other := scale * (p.counts.otherTurns(in.WarpsPerCTA, sl.passes+ss.passes > 0) + p.counts.products.shared)
	w := timing.Work{CTAs: float64(g.CTAs), Instructions: instrs}
	w.Shared = sl.passes + ss.passes + sharedAtom.passes + other
	w.Wavefronts = gl.passes + gs.passes + ll.passes + ls.passes + atom.passes + w.Shared
	w.Wavefronts += cost.PartialLinePasses*(gl.partialLines+atom.partialLines) + cost.StoredSectorPasses*gs.sectors
	k["l1tex__t_sectors_pipe_tex_mem_texture.sum"] = textures.sectors
	gl.l2, gl.fromDRAM, gl.again, gl.partialLines = gl.l2+textures.l2, gl.fromDRAM+textures.fromDRAM, gl.again+textures.again, gl.partialLines+textures.partialLines
	gl.l2, gl.fromDRAM, gl.again = gl.l2+bulkLoads.l2, gl.fromDRAM+bulkLoads.fromDRAM, gl.again+bulkLoads.again
	gl.merged += bulkLoads.merged
	gs.l2, gs.again = gs.l2+bulkStores.l2, gs.again+bulkStores.again
	w.L2Read, w.L2Written = gl.l2+ll.l2, gs.l2+ls.l2
	ctas := math.Max(float64(e.clocked), 1)
	w.Textures = float64(p.counts.textures) / dram.Fraction * scale
	w.Constants = s.idc.BusyCycles() * float64(g.CTAs) / ctas * inFull(p.counts.allWords, p.counts.words)
	w.Atomics = s.mem.AtomicCycles() * float64(g.PerSM) / ctas * inFull(p.counts.all, p.counts.memory)
	pipes(m, &w, &p.counts, scale)
	flops(k, c, &p.counts, scale)
	if c.specific {
		k["sm__inst_executed_pipe_tensor.sum"] = p.counts.tensor(m) * scale
	}
	secondLevel(k, &w, p, fetched(m.Arch.SMs, len(c.ops)), &gl, &gs, &ll, &ls)
	w.DRAMRead, w.DRAMWritten = p.plan.Moved(in.Cold)
	w.DRAMRead += gl.again*cache.SectorBytes + float64(s.stats.localDRAM[0])*float64(m.Granule())*ratio
	w.DRAMWritten += gs.again*cache.SectorBytes + float64(s.stats.localDRAM[1])*float64(m.Granule())*ratio
	warpMetrics(k, m, in, p, g, e)
	return k, w
}

// inFull is the ratio of all to recorded, 1 where nothing was recorded.
func inFull(all, recorded int64) float64 {
	if recorded == 0 {
		return 1
	}
	return float64(all) / float64(recorded)
}

// pipes adds what the arithmetic pipes execute: scale times the instructions of the samples.
func pipes(m *cost.Machine, w *timing.Work, t *counts, scale float64) {
	for c, n := range t.class {
		spec := &m.Classes[c]
		busy := float64(n) * scale / dram.Fraction
		if c == int(assemble.Wgmma) {
			w.Pipe[timing.BoundTensor] += t.products.tensor * scale
			continue
		}
		if b, ok := cost.PipeBounds[spec.Pipe]; ok {
			w.Pipe[b] += busy * float64(spec.Interval)
		}
		if spec.Pipe == cost.PipeIMAD { // the heavier half of the pipe of multiply-adds
			w.Pipe[timing.BoundFMA] += busy * float64(m.Classes[assemble.FMA].Interval)
		}
	}
}

// tensor is the instructions that tensor cores execute.
func (t *counts) tensor(m *cost.Machine) (n float64) {
	for c, k := range t.class {
		if m.Classes[c].Pipe == cost.PipeTensor {
			n += float64(k)
		}
	}
	return n
}

// otherTurns is the data-stage passes that are counted with those of shared memory. There is one for each thread
// index read, each shuffle, and each load or store that no lane takes. In kernels that use shared memory, there is
// one for each barrier of a CTA, too. Without these the counter differs by exactly their number (shared/silicon
// stencil_1d, transpose_tiled and reduce).
func (t *counts) otherTurns(warpsPerCTA int, shared bool) float64 {
	n := float64(t.tid + t.class[assemble.Shuffle] + max(t.idle, 0))
	if shared {
		n += float64(t.class[assemble.Barrier]) / float64(max(warpsPerCTA, 1))
	}
	return n
}

// What a launch reads of L2 beside its data, and finds there: launchSectors sectors on each SM,
// and its instructions, in lines of lineInstrs, once for each group of smsPerCodeCache SMs,
// which have an instruction cache. Fitted to kernels of 24 to 424 instructions on 132 SMs
// (shared/silicon copy, transpose_tiled and reduce): 700 sectors, and 3.6 for each instruction.
const (
	launchSectors   = 5.3
	smsPerCodeCache = 18
	lineInstrs      = 8
)

// fetched is the sectors of L2 that a launch of so many instructions on sms SMs reads for
// itself.
func fetched(sms, instrs int) float64 {
	lines := (instrs + lineInstrs - 1) / lineInstrs
	return float64(sms) * (launchSectors + 4*float64(lines)/smsPerCodeCache)
}

// secondLevel adds what L2 looks up, and its hit rate.
func secondLevel(k map[string]float64, w *timing.Work, p *sampleSet, fetched float64, gl, gs, ll, ls *traffic) {
	l := p.plan.Lookups(gl.l2-gl.merged+ll.l2, ll.fromDRAM+gl.again, gs.l2+ls.l2)
	l.Reads += fetched
	l.ReadHits += fetched
	w.L2Lookups, w.L2Hits = l.Reads, l.ReadHits
	k["lts__t_sector_hit_rate.pct"] = percent(l.ReadHits+l.Writes, l.Reads+l.Writes)
}

// warpMetrics adds occupancy and the stall ratios.
func warpMetrics(k map[string]float64, m *cost.Machine, in *timing.Input, p *sampleSet, g gridShape, e *estimate) {
	s := e.run
	k["sm__warps_active.avg.pct_of_peak_sustained_active"] = percent(e.activeWarps(g), float64(m.Arch.MaxWarps))
	k["launch__waves_per_multiprocessor"] = float64(g.CTAs) / float64(m.Arch.SMs) / float64(in.CTAsPerSM)
	issued := math.Max(float64(s.stats.issued)*p.counts.skipped(), 1)
	for r, v := range s.stats.warpTime {
		if r := timing.StallReason(r); r != timing.StallInvalid && r != timing.Idle {
			k["smsp__average_warps_issue_stalled_"+r.Counted().String()+"_per_issue_active.ratio"] += float64(v) / issued
		}
	}
}

// skipped is the ratio of the instructions executed to those recorded.
func (t *counts) skipped() float64 {
	return inFull(t.instrs, t.clocked)
}

// activeWarps is the mean number of resident warps of the busiest SM over the launch, as the
// hardware counts them: the residence of its CTAs, skipped iterations counted in, over the
// launch's time. About half of a CTA's vacancy is its launch, with its warps allocated
// (achieved occupancy of shared/silicon copy and reduce, one and two warps a CTA).
func (e *estimate) activeWarps(g gridShape) float64 {
	s := e.run
	perCTA := float64(s.stats.active)/math.Max(float64(len(s.done)), 1) + float64(s.in.WarpsPerCTA)*(s.stats.loop.mean()+float64(s.vacancy)/2)
	most := float64(g.Resident) * float64(s.in.WarpsPerCTA)
	return math.Min(perCTA*float64(g.PerSM)/math.Max(e.cycles, 1), most)
}

func percent(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * part / whole
}
