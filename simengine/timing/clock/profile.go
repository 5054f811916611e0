package clock

import (
	"math"
	"math/bits"
	"strings"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/flop"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/coalesce"
)

// profile counts, by op, what warps waited for before it. It is nil where nobody asked.
type profile []opProfile

type opProfile struct {
	issued int64
	stalls [timing.NumStallReasons]int64
}

// issue counts the op that the warp of a slot issues now; iterations left out count like the one recorded before them.
func (f profile) issue(now int64, p *subPartition, w *warp, slot int) {
	o := &f[w.pc]
	n := max(w.weight[w.step], 1)
	o.issued += n
	p.charge(w, slot, now, n, &o.stalls)
}

// owners is the PTX instruction of each op; what has none of its own, such as spills, belongs to the one before it in
// its block, else to the one after it.
func (c *code) owners() []int32 {
	out := make([]int32, len(c.ops))
	for b := range len(c.start) - 1 {
		last := int32(-1)
		for i := c.start[b]; i < c.start[b+1]; i++ {
			if c.ops[i].source >= 0 {
				last = c.ops[i].source
			}
			out[i] = last
		}
		for i := c.start[b+1] - 1; i >= c.start[b]; i-- {
			if out[i] >= 0 {
				last = out[i]
			} else {
				out[i] = last
			}
		}
	}
	for i := c.start[len(c.start)-1]; int(i) < len(c.ops); i++ {
		out[i] = c.ops[i].source // slow paths
	}
	return out
}

// carried is the block that each op of a block belongs to: its own, or one that was merged into it.
func (c *code) carried() []int32 {
	out := make([]int32, len(c.ops))
	at := 0
	for b := range c.program.Blocks {
		for i := range c.program.Blocks[b].Instrs {
			in := &c.program.Blocks[b].Instrs[i]
			if in.Class == assemble.WgmmaPart {
				continue
			}
			out[at] = int32(b)
			if in.Carried >= 0 {
				out[at] = in.Carried
			}
			at++
		}
	}
	return out
}

// firsts marks the first op of each PTX instruction in a block.
func (c *code) firsts() []bool {
	out := make([]bool, len(c.ops))
	block := make([]int32, c.pcs) // 1 + the block in which an instruction was seen last
	for b := range len(c.start) - 1 {
		for i := c.start[b]; i < c.start[b+1]; i++ {
			if s := c.ops[i].source; s >= 0 && block[s] != int32(b)+1 {
				block[s], out[i] = int32(b)+1, true
			}
		}
	}
	return out
}

// sites sums a profile by PTX instruction.
func sites(c *code, p *sampleSet, g gridShape, e *estimate) []timing.Site {
	f, owner := e.run.profile, c.owners()
	t := siteTable{c: c, owner: owner, carried: c.carried(), first: c.firsts(), lanes: make([]float64, len(c.root)), scale: float64(g.CTAs) / float64(max(len(p.samples), 1)), sites: make([]timing.Site, c.pcs)}
	for _, s := range p.samples {
		for i := range s.Warps {
			t.warp(s, i)
		}
	}
	recorded, all := 0.0, 0.0
	for i := range f {
		recorded += float64(f[i].issued)
	}
	for pc := range t.sites {
		all += t.sites[pc].Instructions
	}
	t.stalls(f, all/math.Max(recorded, 1))
	t.caches(e.run.stats.byPC)
	out := t.sites[:0]
	for pc := range t.sites {
		if s := &t.sites[pc]; s.Instructions > 0 || s.Requests > 0 {
			s.PC = int32(pc)
			out = append(out, *s)
		}
	}
	return out
}

// siteTable is sites under way.
type siteTable struct {
	c     *code
	owner []int32
	// carried is, of each op, the block that it belongs to.
	carried []int32
	lanes   []float64 // of each block, in the step under way
	first   []bool    // of each op: it is the first of its PTX instruction in its block
	scale   float64   // CTAs of the grid for each sample
	sites   []timing.Site
}

// warp adds what a warp of a sample executes.
func (t *siteTable) warp(s *sample, index int) {
	c, w := t.c, &s.Warps[index]
	for i := range w.Steps {
		n := float64(s.Weight[index][i]) * t.scale
		if n == 0 {
			continue
		}
		if b := c.root[w.Steps[i].Block]; b == w.Steps[i].Block {
			t.lanes[b] = float64(bits.OnesCount32(w.Steps[i].Mask))
			end := i + 1
			for ; end < len(w.Steps) && w.Steps[end].Repeat == 0 && w.Steps[end].Block != b && c.root[w.Steps[end].Block] == b; end++ {
				t.lanes[w.Steps[end].Block] = float64(bits.OnesCount32(w.Steps[end].Mask))
			}
			t.block(b, n)
			for k := i; k < end; k++ {
				t.lanes[w.Steps[k].Block] = 0
			}
		}
		for j := w.Steps[i].Access; j < coalesce.AccessEnd(w, i); j++ {
			a := &w.Accesses[j]
			in := &c.program.Kernel.Instrs[a.PC]
			if c.program.IsJoined(a.PC) || in.Op == ir.CpAsync && a.Space == ir.Shared {
				continue
			}
			lanes := float64(bits.OnesCount32(a.Mask))
			y := &t.sites[a.PC]
			y.Requests += n
			y.Sectors += n * float64(a.Sectors)
			if in.Op == ir.BulkCopy || in.Op == ir.BulkPrefetch { // rows of whole sectors
				y.IdealSectors += n * float64(a.Sectors)
			} else {
				y.IdealSectors += n * math.Min(float64(a.Sectors), math.Ceil(lanes*float64(a.Width)/cache.SectorBytes))
			}
			passes := max(a.Wavefronts, a.Passes)
			if a.Space == ir.Shared && a.Turns > 0 {
				passes = max(passes, uint16(a.Turns))
			}
			y.Passes += n * float64(passes)
			y.IdealPasses += n * float64(min(a.Ideal, passes))
			y.Same += n * float64(a.MaxSame)
		}
	}
}

// block adds n executions of a block's ops and of those merged into it.
func (t *siteTable) block(b int32, n float64) {
	for i := t.c.start[b]; i < t.c.start[b+1]; i++ {
		if t.owner[i] < 0 {
			continue
		}
		y, o := &t.sites[t.owner[i]], &t.c.ops[i]
		y.Instructions += n
		y.Threads += n * t.lanes[b]
		y.ThreadsOn += n * t.lanes[t.carried[i]]
		if t.first[i] {
			y.Executions += n
		}
		if o.spills() && o.class == assemble.Store {
			y.SpillStores += n
		} else if o.spills() {
			y.SpillLoads += n
		}
	}
}

// spills reports whether an op spills or reloads registers.
func (o *op) spills() bool {
	return o.source < 0 && o.space == ir.Local && (o.class == assemble.Store || o.class == assemble.Load)
}

// stalls adds what warps waited for, ratio times what was clocked.
func (t *siteTable) stalls(f profile, ratio float64) {
	for i := range f {
		if t.owner[i] < 0 {
			continue
		}
		y, o := &t.sites[t.owner[i]], timing.Op{Class: t.c.ops[i].class.String(), Spill: t.c.ops[i].spills(), Issued: float64(f[i].issued) * ratio}
		for r, v := range f[i].stalls {
			y.Stalls[r] += float64(v) * ratio
			o.Stalls += float64(v) * ratio
		}
		y.Machine = append(y.Machine, o)
	}
}

// caches adds what the clocked caches did, in proportion, and ends means.
func (t *siteTable) caches(byPC []pcStats) {
	for pc := range t.sites {
		y, st := &t.sites[pc], &byPC[pc]
		if y.Requests > 0 {
			y.Same /= y.Requests
		}
		if st.sectors == 0 {
			continue
		}
		f := y.Sectors / float64(st.sectors)
		y.L1Hits, y.L2Sectors, y.DRAMSectors = float64(st.l1Hits)*f, float64(st.l2Sectors)*f, float64(st.dramSectors)*f
	}
}

// flopMetric is the name of the counter of operations of a kind (flop.Operations), none of the profiler's.
func flopMetric(kind string) string {
	return "warptune__flop_" + strings.NewReplacer("tensor cores, ", "tensor_", "tensor cores", "tensor").Replace(kind) + ".sum"
}

// flops adds the operations of the grid by kind, scale times those of the samples, as sites counts executions: an
// instruction of which the assembler leaves nothing has none.
func flops(k map[string]float64, c *code, t *counts, scale float64) {
	instrs := c.program.Kernel.Instrs
	known := make([]flop.Operations, len(instrs))
	any := false
	for pc := range instrs {
		known[pc] = flop.Of(instrs[pc].Opcode())
		any = any || known[pc].Kind != ""
	}
	if !any {
		return
	}
	owner, carried, first := c.owners(), c.carried(), c.firsts()
	for i := range c.start[len(c.start)-1] {
		if !first[i] || owner[i] < 0 {
			continue
		}
		if f := known[owner[i]]; f.Kind != "" {
			b := carried[i]
			k[flopMetric(f.Kind)] += scale * (f.Lane*float64(t.lanes[b]) + f.Warp*float64(t.runs[b]))
		}
	}
}
