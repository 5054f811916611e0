package timing

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// traffic sums requests of a kind over the grid.
type traffic struct {
	requests, sectors, passes, ideal float64
	hits, l2, fromDRAM, again        float64 // sectors
	strays                           float64 // see pcStats
}

// add counts an instruction's grid total and, in the proportions that the
// clocked caches found, its hits.
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
		t.strays += float64(st.strays) * f
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

// metrics are the counters of the launch under Nsight Compute's names, those that are times or rates
// left to Result.Account, and what of them gives the units work.
func metrics(m *machine, c *code, in *Input, p *pool, g gridShape, e *estimate) (map[string]float64, Work) {
	s := e.run
	scale := float64(g.ctas) / float64(max(p.counts.samples, 1))
	var gl, gs, ll, ls, sl, ss, atom, sharedAtom traffic
	for pc := range p.counts.byPC {
		y := p.counts.byPC[pc]
		if y.requests == 0 {
			continue
		}
		i := &c.program.Kernel.Instrs[pc]
		st := &s.stats.byPC[pc]
		isStore := i.Op == ir.St
		switch {
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
	other := scale * p.counts.otherTurns(in.WarpsPerCTA, sl.passes+ss.passes > 0)
	w := Work{CTAs: float64(g.ctas), Instructions: instrs}
	w.Shared = sl.passes + ss.passes + sharedAtom.passes + other
	w.Wavefronts = gl.passes + gs.passes + ll.passes + ls.passes + atom.passes + w.Shared
	w.Wavefronts += straying*(gl.strays+atom.strays) + storing*gs.sectors
	w.L2Read, w.L2Written = gl.l2+ll.l2, gs.l2+ls.l2
	ctas := math.Max(float64(e.clocked), 1)
	w.Constants = s.idc.BusyCycles() * float64(g.ctas) / ctas * inFull(p.counts.allWords, p.counts.words)
	w.Atomics = s.mem.AtomicCycles() * float64(g.perSM) / ctas * inFull(p.counts.all, p.counts.memory)
	m.pipes(&w, &p.counts, scale)
	secondLevel(k, p, m.fetched(len(c.ops)), &gl, &gs, &ll, &ls)
	w.DRAMRead, w.DRAMWritten = p.plan.Moved(in.Cold)
	w.DRAMRead += gl.again*cache.SectorBytes + float64(s.stats.localDRAM[0])*float64(m.granule())*ratio
	w.DRAMWritten += gs.again*cache.SectorBytes + float64(s.stats.localDRAM[1])*float64(m.granule())*ratio
	warpMetrics(k, m, in, p, g, e)
	return k, w
}

// straying is the turns of L1's data stage for each sector that comes from L2 into a line of which others are not
// asked for, storing those for each sector stored, beyond the wavefronts of the requests themselves: what fits the
// counters of 563 launches of project-a to -d and loops-and-doubles best is 0.05 to 0.08 and 0.03 to 0.05, the latter
// 0.06 where all is whole lines (adam, axpy_stride, black_scholes).
const straying, storing = 0.07, 0.05

// inFull is how many times more there is than was recorded.
func inFull(all, recorded int64) float64 {
	if recorded == 0 {
		return 1
	}
	return float64(all) / float64(recorded)
}

// pipes adds what the arithmetic pipes execute, scale times the samples' instructions.
func (m *machine) pipes(w *Work, t *counts, scale float64) {
	for c, n := range t.class {
		spec := &m.classes[c]
		busy := float64(n) * scale / dram.Fraction
		if b, ok := pipeBounds[spec.pipe]; ok {
			w.Pipe[b] += busy * float64(spec.interval)
		}
		if spec.pipe == pipeIMAD { // the heavier half of the pipe of multiply-adds
			w.Pipe[BoundFMA] += busy * float64(m.classes[assemble.FMA].interval)
		}
	}
}

// otherTurns is the turns of the data stage that are counted with those of shared
// memory: one for each thread index read, each shuffle and each load or store that
// no lane takes and, in kernels that use shared memory, each barrier of a CTA
// (shared/silicon stencil_1d, transpose_tiled and reduce: without these a counter
// differs by exactly their number).
func (t *counts) otherTurns(warpsPerCTA int, shared bool) float64 {
	n := float64(t.tid + t.class[assemble.Shuffle] + max(t.idle, 0))
	if shared {
		n += float64(t.class[assemble.Barrier]) / float64(max(warpsPerCTA, 1))
	}
	return n
}

// What a launch reads of L2 beside its data, and finds there: what it is made of, for
// each SM, and its instructions, once for each group of SMs that has an instruction
// cache (shared/silicon copy, transpose_tiled and reduce: 700 sectors and 3.6 for an
// instruction on 132 SMs, of 24 to 424 instructions in whole lines).
const (
	launchSectors   = 5.3
	smsPerCodeCache = 18
	lineInstrs      = 8
)

// fetched is the sectors of L2 that a launch of so many instructions reads for itself.
func (m *machine) fetched(instrs int) float64 {
	lines := (instrs + lineInstrs - 1) / lineInstrs
	return float64(m.arch.SMs) * (launchSectors + 4*float64(lines)/smsPerCodeCache)
}

// secondLevel adds the counters of L2.
func secondLevel(k map[string]float64, p *pool, fetched float64, gl, gs, ll, ls *traffic) {
	l := p.plan.Lookups(gl.l2+ll.l2, ll.fromDRAM+gl.again, gs.l2+ls.l2)
	l.Reads += fetched
	l.ReadHits += fetched
	k["lts__t_sectors_op_read.sum"] = l.Reads
	k["lts__t_sectors_op_write.sum"] = l.Writes
	k["lts__t_sectors_op_read_lookup_hit.sum"] = l.ReadHits
	k["lts__t_sector_hit_rate.pct"] = percent(l.ReadHits+l.Writes, l.Reads+l.Writes)
}

// warpMetrics adds occupancy and the stall ratios.
func warpMetrics(k map[string]float64, m *machine, in *Input, p *pool, g gridShape, e *estimate) {
	s := e.run
	k["sm__warps_active.avg.pct_of_peak_sustained_active"] = percent(e.activeWarps(g), float64(m.arch.MaxWarps))
	k["launch__waves_per_multiprocessor"] = float64(g.ctas) / float64(m.arch.SMs) / float64(in.CTAsPerSM)
	issued := math.Max(float64(s.stats.issued)*p.counts.skipped(), 1)
	for r, v := range s.stats.warpTime {
		if r := StallReason(r); r != StallInvalid && r != Idle {
			k["smsp__average_warps_issue_stalled_"+r.String()+"_per_issue_active.ratio"] = float64(v) / issued
		}
	}
}

// skipped is how many times more instructions there are than were recorded.
func (t *counts) skipped() float64 {
	return inFull(t.instrs, t.clocked)
}

// activeWarps is the mean number of warps of the busiest SM over the launch, as
// the hardware counts them: what its CTAs take between them, skipped iterations
// counted in, over the time of all. Of a CTA's vacancy about half is its launch,
// with its warps allocated (achieved occupancy of shared/silicon copy and reduce,
// one and two warps a CTA).
func (e *estimate) activeWarps(g gridShape) float64 {
	s := e.run
	perCTA := float64(s.stats.active)/math.Max(float64(len(s.done)), 1) + float64(s.in.WarpsPerCTA)*(s.stats.loop.mean()+float64(s.vacancy)/2)
	most := float64(g.resident) * float64(s.in.WarpsPerCTA)
	return math.Min(perCTA*float64(g.perSM)/math.Max(e.cycles, 1), most)
}

func percent(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * part / whole
}
