package model

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// request is what a traced access costs and how long its result takes from when
// the load/store unit begins with it.
type request struct {
	latency  float32
	fromDRAM float32 // expected to wait for DRAM: probability
	inFlight float32 // lines that DRAM delivers
	lsu, idc float32
	l2Slices float32
	inPort   float32
	outWay   float32
	dram     float32
}

// traffic is the memory traffic of a CTA.
type traffic struct {
	c      *code
	m      *memory
	fp     *footprint
	l1     *lines
	perSM  float64 // CTAs of the SM
	stays  bool    // CTAs follow others on the SM
	weight [][]int64
	// requests[w] are those of warp w's accesses, nil for warps not walked.
	requests [][]request
	total    work
	byPC     []tally
	locals   tally // local memory of the PTX
}

// tally counts an instruction's accesses of a CTA, skipped iterations included.
type tally struct {
	requests, sectors, passes, ideal, hits, l2, dram float64
}

// newTraffic decides for every access of the CTA where it is served. walked
// marks the warps whose requests are kept.
func newTraffic(c *code, m *memory, in *timing.Input, fp *footprint, perSM int64, walked []bool) *traffic {
	t := &traffic{c: c, m: m, fp: fp, perSM: float64(perSM), stays: perSM > int64(in.CTAsPerSM)}
	t.byPC = make([]tally, len(c.class))
	t.requests = make([][]request, len(fp.cta.Warps))
	t.weight = make([][]int64, len(fp.cta.Warps))
	loads, most := 0, 0
	for i := range fp.cta.Warps {
		w := &fp.cta.Warps[i]
		t.weight[i] = coalesce.Weights(w, nil)
		if walked[i] {
			t.requests[i] = make([]request, len(w.Accesses))
		}
		loads += len(w.Lines)
		most = max(most, len(w.Accesses))
		t.count(w, t.weight[i])
	}
	share := min(int64(in.CTAsPerSM), perSM)
	t.l1 = newLines(max(in.L1Bytes/128/int(share), 1), min(loads, 1<<14))
	at := make([]int, len(fp.cta.Warps)) // step of each warp
	for k := range most {
		for i := range fp.cta.Warps {
			if w := &fp.cta.Warps[i]; k < len(w.Accesses) {
				for at[i]+1 < len(w.Steps) && w.Steps[at[i]+1].Access <= int32(k) {
					at[i]++
				}
				t.turn(i, w, k, at[i])
			}
		}
	}
	return t
}

// count adds the static work of a warp's steps.
func (t *traffic) count(w *trace.Warp, weight []int64) {
	for i, n := range weight {
		if b := w.Steps[i].Block; n > 0 && t.c.root[b] == b {
			for k := t.c.section[b]; k < t.c.section[b+1]; k++ {
				t.total.add(&t.c.static[k], float64(n))
			}
		}
	}
}

// turn accounts for access k of a warp, made in its step at. The warps of a CTA
// take turns access by access, as they do when they issue in turns.
func (t *traffic) turn(warp int, w *trace.Warp, k, at int) {
	n := float64(t.weight[warp][at])
	var one work
	r := t.access(&one, &w.Accesses[k], w, t.fp.first[warp], int32(at), n)
	t.add(&one, n)
	if q := t.requests[warp]; q != nil {
		r.lsu, r.idc = float32(one.busy[lsu]), float32(one.busy[idc])
		r.l2Slices, r.inPort = float32(one.busy[l2Slices]), float32(one.busy[inPort])
		r.outWay, r.dram = float32(one.busy[outWay]), float32(one.busy[dramBus])
		q[k] = r
	}
}

// add adds n times what a request takes of the SM's units.
func (t *traffic) add(one *work, n float64) {
	for r := lsu; r < numResources; r++ {
		t.total.busy[r] += n * one.busy[r]
		t.total.blocking[r] += n * one.blocking[r]
	}
}

func (t *traffic) access(one *work, a *trace.Access, w *trace.Warp, first []uint8, round int32, n float64) (r request) {
	class := t.c.class[a.PC]
	y := &t.byPC[a.PC]
	f := t.c.f
	passes := float64(max(a.Passes, 1))
	switch a.Space {
	case ir.Shared:
		if class == assemble.AsyncCopy {
			return r // its global side is accounted for
		}
		r.latency = float32(f.Shared)
		if class == assemble.Atomic {
			passes *= float64(max(a.MaxSame, 1))
			r.latency = float32(f.AtomicShared)
		}
		r.latency += float32((passes - 1) * f.DataPass)
		one.busy[lsu] = math.Max(passes*f.DataPass, f.Addressing)
	case ir.Const, ir.ParamSpace:
		r.latency = float32(f.Constant + (passes-1)*f.ConstantPass)
		one.busy[idc] = passes * f.ConstantPass
		one.blocking[idc] = one.busy[idc]
	default:
		if a.Space == ir.Local {
			y = &t.locals
		}
		one.busy[lsu] = f.Request(class, int64(max(a.NLines, 1)), int64(a.Passes))
		r.latency = float32(f.L1)
		t.lines(one, &r, class, a, w, first, round, n, y)
	}
	if class != assemble.Store {
		one.blocking[lsu] = one.busy[lsu]
	}
	y.requests += n
	y.sectors += n * float64(a.Sectors)
	y.passes += n * float64(a.Passes)
	y.ideal += n * float64(a.Ideal)
	return r
}

// lines sends the lines of a request on their way.
func (t *traffic) lines(one *work, r *request, class assemble.Class, a *trace.Access, w *trace.Warp, first []uint8, round int32, n float64, y *tally) {
	plan := t.fp.plan
	for k := a.First; k < a.First+int32(a.NLines); k++ {
		l := &w.Lines[k]
		fresh := float64(t.granules(l.Sectors & first[k]))
		switch class {
		case assemble.Store:
			t.m.writeLine(one, float64(t.granules(l.Sectors)), fresh*plan.Write[a.PC], 1)
		case assemble.Atomic:
			lanes := float64(bits.OnesCount32(a.Mask))
			cost := math.Max(lanes*t.m.atomLane/float64(a.NLines), float64(a.MaxSame)*t.m.atomSame)
			one.busy[l2Slices] += cost
			one.blocking[l2Slices] += cost
			one.busy[dramBus] += fresh * plan.Read[a.PC] * t.m.dram
			r.latency = max(r.latency, float32(t.c.f.AtomicL2+cost))
		default:
			t.load(one, r, a, l, fresh, round, n, y)
		}
	}
	if r.inFlight > 0 {
		r.fromDRAM = min(r.fromDRAM, 1)
		// The slowest of several lines is likely at home in the farther half.
		dram := t.m.access + t.m.half*(1-math.Exp2(1-math.Max(float64(r.inFlight), 1)))
		r.latency += r.fromDRAM * max(float32(dram)-r.latency, 0)
	}
}

// load looks up a line in L1 and asks L2 for what is not there.
func (t *traffic) load(one *work, r *request, a *trace.Access, l *trace.Line, fresh float64, round int32, n float64, y *tally) {
	miss, latency := l.Sectors, t.m.near
	times := 1.0
	switch {
	case t.fp.plan.Broadcast[a.PC] && a.Space == ir.Global:
		// Fetched once for all of the SM's CTAs.
		times = 1 / t.perSM
		if t.stays {
			latency = t.c.f.L1
		}
	}
	if t.c.p.Kernel.Instrs[a.PC].Mod&ir.ModBypassL1 == 0 {
		e := t.l1.load(l.Addr)
		hit := e.valid & l.Sectors
		miss &^= hit
		if hit != 0 && e.round == round {
			r.latency = max(r.latency, e.latency) // on its way
		}
		if miss != 0 {
			e.valid |= miss
			e.round, e.latency = round, float32(latency)
		}
		y.hits += n * float64(bits.OnesCount8(hit))
	}
	if miss == 0 {
		return
	}
	sectors := bits.OnesCount8(miss)
	due := fresh * t.fp.plan.Read[a.PC]
	if times < 1 {
		due *= times
	}
	t.m.readLine(one, sectors, due, times)
	y.l2 += n * times * float64(sectors)
	y.dram += n * due * float64(t.c.f.Granule) / 32
	y.hits += n * (1 - times) * float64(sectors)
	if latency > t.c.f.L1 && fresh > 0 {
		latency += t.fp.plan.Remote * t.m.half // half of the lines are at home in the farther half
	}
	r.latency = max(r.latency, float32(latency))
	if due > 0 && latency > t.c.f.L1 {
		r.fromDRAM += float32(due)
		r.inFlight += float32(math.Min(due, 1))
	}
}

// granules is how many units of L2 and DRAM traffic a set of sectors needs.
func (t *traffic) granules(sectors uint8) int {
	if t.c.f.Granule == 64 {
		sectors = (sectors | sectors>>1) & 0b0101
	}
	return bits.OnesCount8(sectors)
}
