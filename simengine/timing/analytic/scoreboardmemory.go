package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// waited counts a wait for memory. The mean of the longest of n exponential delays is the n-th
// harmonic number of their mean.
func (w *scoreboard) waited(r *result) {
	w.cur.waits++
	if r.took >= w.c.spill.m.near {
		w.cur.fromL2++
		w.endStage()
	}
	if r.fromDRAM > 0 {
		n := math.Max(w.flight, 1)
		w.cur.fromDRAM += float64(r.fromDRAM)
		w.cur.contended += float64(r.fromDRAM) * (math.Log(n) + 0.577 + 0.5/n - 0.077/(n*n))
		w.flight, w.rowSegments = 0, 0
	}
}

// memory sends an instruction to the load/store unit or the constant cache.
func (w *scoreboard) memory(in *assemble.Instr, at, latency float64) result {
	f := w.c.f
	switch {
	case in.Class == assemble.S2R || in.Class == assemble.Shuffle:
		begin := math.Max(at, w.lsu)
		w.lsu = begin + f.Addressing
		return result{at: begin + latency, took: latency}
	case in.Class != assemble.LDC && in.Source < 0:
		begin := math.Max(at, w.lsu)
		w.lsu = begin + f.Request(in.Class, false, words(in), words(in))
		if in.Class == assemble.Store {
			return result{at: begin}
		}
		latency = w.c.spill.latency(f)
		return result{at: begin + latency, took: latency}
	}
	i := int32(-1)
	if in.Source >= 0 {
		i = w.access(in.Source)
	}
	if i < 0 { // no lane took it, or a constant at a fixed address
		return result{at: at + math.Max(latency, 1), took: latency}
	}
	return w.request(in, &w.tr.Accesses[i], &w.reqs[i], at)
}

func (w *scoreboard) request(in *assemble.Instr, a *trace.Access, q *request, at float64) result {
	c := &w.cur
	server, busy := &w.lsu, float64(q.lsu)
	if a.Space == ir.Const || a.Space == ir.ParamSpace {
		server, busy = &w.idc, float64(q.idc)
	} else if a.Texels > 0 {
		server, busy = &w.texels, float64(q.texels)
	}
	begin := math.Max(at, *server)
	*server = begin + busy
	c.busy[lsu] += float64(q.lsu)
	c.busy[idc] += float64(q.idc)
	c.busy[texels] += float64(q.texels)
	for i, b := range [...]float32{q.l2Slices, q.inPort, q.outWay, q.dram} {
		w.stage[i] += float64(b)
		c.busy[l2Slices+resource(i)] += float64(b)
	}
	if q.atomics > 0 {
		w.stage[q.buffer-l2Slices] += float64(q.atomics)
		c.busy[q.buffer] += float64(q.atomics)
	}
	g := &q.service
	if w.lockstep {
		g = &q.lockstep
	}
	took := float64(g.latency)
	switch in.Class {
	case assemble.Store:
		w.sent = begin
		return result{at: begin}
	case assemble.AsyncCopy:
		if w.queue != nil {
			took += w.queue.wait(w.c.spill.m, q, begin, w.count)
		}
		w.copies.Add(begin + took)
		w.loaded = math.Max(w.loaded, float64(g.fromDRAM))
		w.flight += float64(g.inFlight)
		return result{at: at + 1}
	}
	w.loaded = math.Max(w.loaded, float64(g.fromDRAM))
	w.flight += float64(g.inFlight)
	if w.rowSegments > 0 && g.fromDRAM > 0 {
		// The longest of all under way is likely longer than of these alone.
		m := w.c.spill.m
		took += float64(g.fromDRAM) * (m.waits.Longest(w.rowSegments+float64(g.rowSegments)) - m.waits.Longest(float64(g.rowSegments)))
	}
	w.rowSegments += float64(g.rowSegments)
	return result{at: begin + took, took: took, fromDRAM: g.fromDRAM}
}

// access finds the current step's access of a PTX instruction, -1 when no lane
// performed it. Machine code is reordered, so the search goes around.
func (w *scoreboard) access(source int32) int32 {
	for i := w.accCur; i < w.accHi; i++ {
		if w.tr.Accesses[i].PC == source {
			w.accCur = i + 1
			return i
		}
	}
	for i := w.accLo; i < w.accCur; i++ {
		if w.tr.Accesses[i].PC == source {
			w.accCur = i + 1
			return i
		}
	}
	return -1
}
