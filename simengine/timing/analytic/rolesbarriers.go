package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// meet is a barrier of the CTA or of a part of it; see the clock's meetNamed.
func (p *player) meet(in *assemble.Instr) {
	r := p.roles
	key, warps := 0, r.alive
	arrives := false
	if in.Source >= 0 {
		k := &p.c.p.Kernel.Instrs[in.Source]
		arrives = k.Mod&ir.ModArrive != 0
		if len(k.Src) > 1 && k.Src[1].Kind == ir.OperandImm {
			warps = math.Min(float64(k.Src[1].Imm/32), r.alive)
		}
		switch {
		case len(k.Src) > 0 && k.Src[0].Kind == ir.OperandImm:
			key = int(k.Src[0].Imm & 15)
		case len(k.Src) > 0:
			key = p.numbered(in.Source, 16+p.index/max(int(warps), 1))
		}
	}
	b := r.named[key]
	if b == nil {
		b = &mbarrier{}
		r.named[key] = b
	}
	p.phase = b.Phases
	b.Pending += p.count
	b.Last = math.Max(b.Last, p.now)
	if b.Pending >= warps {
		b.End()
	}
	switch {
	case arrives:
	case b.Phases == p.phase:
		p.held = b
	default:
		p.now = math.Max(p.now, b.Done) + p.c.f.Barrier + p.c.f.BarrierWarp*warps
	}
}

// numbered is the number of a barrier that a register has, by the trace, else another.
func (p *player) numbered(source int32, other int) int {
	for i := p.asyncLo; i < p.asyncHi; i++ {
		if a := &p.tr.Asyncs[i]; a.PC == source {
			return int(a.Count & 15)
		}
	}
	return other
}

// atMbarrier is an instruction on mbarriers that waits for nothing.
func (p *player) atMbarrier(source int32, k *ir.Instr) {
	f, n := p.c.f, 0
	for i := p.asyncLo; i < p.asyncHi; i++ {
		a := &p.tr.Asyncs[i]
		if a.PC != source || a.Barrier == trace.NoBarrier {
			continue
		}
		n++
		b := p.roles.mbarrier(a.Barrier)
		at, arrivals := p.now+f.Arrive, float64(cost.Arrivals(a.Lanes, a.Count))*p.count
		if a.CTA >= 0 {
			at = p.now + f.Remote
		}
		switch k.Op {
		case ir.MbarInit:
			*b = mbarrier{Expected: float64(a.Count), Pending: float64(a.Count), Done: p.now}
			continue
		case ir.MbarInval:
			continue
		case ir.MbarExpect:
			if k.Mod&ir.ModDone != 0 {
				b.Bytes -= float64(cost.Expected(a)) * p.count
			} else {
				p.expect(b, a)
			}
			arrivals, at = 0, p.now
		case ir.CpAsyncArrive:
			at = math.Max(p.now, p.copies.Latest()) + f.Arrive
			if k.Mod&ir.ModAll == 0 { // with .noinc the count has them
				arrivals = 0
			}
		default:
			p.expect(b, a)
			if k.Mod&ir.ModDrop != 0 {
				b.Expected -= arrivals
			}
		}
		b.Arrive(arrivals, at)
	}
	if n > 0 {
		p.now += math.Max(f.Arrival-1, 0)
	}
}

// expect adds to the bytes that an mbarrier expects; see the clock's.
func (p *player) expect(b *mbarrier, a *trace.Async) {
	b.Bytes += float64(cost.Expected(a)) * p.count
	if sent := p.roles.exchange[a.Barrier].Sent(a); sent > 0 {
		b.Bytes -= float64(sent) * p.count
		b.Last = math.Max(b.Last, p.now+p.c.spill.m.near+p.c.f.BulkExtra)
	}
}

// wait is a wait for a phase of an mbarrier.
func (p *player) wait(source int32) {
	f, n := p.c.f, 0
	at := p.now
	for i := p.asyncLo; i < p.asyncHi; i++ {
		a := &p.tr.Asyncs[i]
		if a.PC != source || a.Barrier == trace.NoBarrier {
			continue
		}
		n++
		b := p.roles.mbarrier(a.Barrier)
		if b.Holds(a.Parity) {
			p.held, p.phase = b, b.Phases
			return
		}
		if b.Done > p.now {
			at = math.Max(at, b.Done+f.Wake)
		}
	}
	if n > 0 {
		p.awaited()
		p.now = math.Max(p.now+math.Max(f.Wait-1, 0), at)
	}
}

// atCluster is the barrier of the cluster, whose other CTAs do as this one.
func (p *player) atCluster(k *ir.Instr) {
	b := &p.roles.cluster
	if k.Mod&ir.ModArrive != 0 {
		p.reached = b.Phases
		b.Pending += p.count
		if k.Mod&ir.ModRelaxed == 0 {
			if p.sent > 0 {
				p.now = math.Max(p.now, p.sent+p.c.spill.m.near)
			}
			p.now += math.Max(p.c.f.ClusterRelease-p.c.f.ClusterBarrier, 0) * p.c.releaseTimes
			p.awaited()
		}
		b.Last = math.Max(b.Last, p.now+p.c.f.ClusterBarrier)
		p.roles.loaded, p.loaded = math.Max(p.roles.loaded, math.Min(p.loaded, 1)), 0
		if b.Pending >= p.roles.alive {
			b.Expected = 0
			b.End()
			b.Done += p.roles.loaded * p.c.apart
			p.roles.loaded = 0
		}
		return
	}
	if b.Phases == p.reached {
		p.held, p.phase = b, b.Phases
		return
	}
	p.now = math.Max(p.now, b.Done)
	p.awaited()
}
