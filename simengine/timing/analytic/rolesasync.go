package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/pending"
	"github.com/warptune/warptune/simengine/trace"
)

// async issues an instruction of the asynchronous units.
func (p *player) async(in *assemble.Instr) {
	k := &p.c.p.Kernel.Instrs[in.Source]
	switch in.Class {
	case assemble.Wgmma:
		p.product(in, k)
	case assemble.Bulk:
		p.issue(in)
		p.bulk(in.Source, k, cost.LaneLoop(p.c.p.Blocks[p.block].Instrs, p.at-1))
	case assemble.Mbarrier:
		p.issue(in)
		p.atMbarrier(in.Source, k)
	case assemble.MbarWait:
		p.issue(in)
		p.wait(in.Source)
	case assemble.ClusterBarrier:
		p.issue(in)
		p.atCluster(k)
	}
}

// product starts a product of the warpgroup as soon as it finds a place in the queue of the tensor core.
func (p *player) product(in *assemble.Instr, k *ir.Instr) {
	w := p.c.f.Wgmma(k)
	port := &p.ports[p.c.f.Classes[in.Class].Port]
	at, _ := p.ready(in)
	at = math.Max(at, *port-cost.QueuedProducts*w.Hold)
	start := math.Max(at, *port)
	*port = start + w.Hold*p.beside
	p.now = at + math.Max(p.c.f.Slots(in), w.Next)
	p.products.Add(start + w.Latency)
}

// control is what waits for groups; see the clock's asyncControl.
func (p *player) control(in *assemble.Instr) bool {
	k := &p.c.p.Kernel.Instrs[in.Source]
	left := 0
	if len(k.Src) > 0 && k.Src[0].Kind == ir.OperandImm {
		left = int(min(k.Src[0].Imm, pending.MaxGroups))
	}
	at := 0.0
	switch k.Op {
	case ir.WgmmaCommit:
		p.products.Commit()
	case ir.WgmmaWait:
		at = p.products.Until(left)
	case ir.BulkCommit:
		p.stored.Commit()
		p.read.Commit()
	case ir.BulkWait:
		if k.Mod&ir.ModRead != 0 {
			at = p.read.Until(left)
		} else {
			at = p.stored.Until(left)
		}
	case ir.WgmmaFence:
		at = p.now + p.c.f.WgmmaFence
	case ir.Setmaxnreg:
		at = p.now + p.c.f.Setmaxnreg
	case ir.FenceProxy:
		at = p.now + p.c.f.FenceProxy
	default:
		return false
	}
	p.issueAlone(in)
	switch k.Op {
	case ir.WgmmaWait, ir.BulkWait:
		p.cur.waits++
	}
	p.now = math.Max(p.now, at)
	return true
}

// awaited counts a wait for others, whether it takes time or not: what comes to the units of the memory system comes in
// so many rounds.
func (p *player) awaited() {
	p.cur.waits++
	p.cur.fromL2++
	p.endStage()
}

// issueAlone takes an issue slot and nothing else.
func (p *player) issueAlone(in *assemble.Instr) {
	at, _ := p.ready(in)
	p.now = at + p.c.f.Slots(in)
}

// bulk starts the bulk copies of an instruction, at which lanes may take turns.
func (p *player) bulk(source int32, k *ir.Instr, turns bool) {
	f, r := p.c.f, p.roles
	from, n, issue := p.accLo, 0, 1.0
	if turns {
		issue = f.BulkIssue
	}
	for i := p.asyncLo; i < p.asyncHi; i++ {
		a := &p.tr.Asyncs[i]
		if a.PC != source {
			continue
		}
		n++
		var q *request
		var bytes float64
		for ; from < p.accHi && q == nil; from++ {
			if x := &p.tr.Accesses[from]; x.PC == source {
				q, bytes = &p.reqs[from], 32*float64(x.Sectors)
			}
		}
		begin := math.Max(p.now, r.engine)
		latency := f.ClusterLoad
		if q == nil {
			bytes = float64(a.Bytes)
		} else {
			p.send(q)
			latency = float64(q.latency)
			if p.lockstep {
				latency = float64(q.lockstep.latency)
			}
		}
		if k.Bulk != nil && k.Bulk.To == ir.Global && k.Bulk.From != ir.Global {
			issue = f.BulkStoreIssue
			taken := p.now + bytes*f.StoreByte
			p.read.Add(taken)
			p.stored.Add(taken + f.BulkStored)
			continue
		}
		if q != nil {
			p.loaded = math.Max(p.loaded, float64(q.fromDRAM))
			latency += r.queue.wait(p.c.spill.m, q, begin, p.count)
		}
		r.engine = begin + bytes/32*f.BulkSector
		at := r.engine + latency + f.BulkExtra
		if a.Barrier != trace.NoBarrier {
			b := r.mbarrier(a.Barrier)
			b.Bytes -= float64(r.exchange[a.Barrier].Delivered(a.Bytes, a.To)) * p.count
			b.Arrive(0, at)
		} else {
			p.read.Add(at)
			p.stored.Add(at)
		}
	}
	if n > 0 {
		p.now += math.Max(float64(n)*issue-1, 0)
	}
}

// send adds what a request asks of the memory system to what the warp does.
func (p *player) send(q *request) {
	for i, b := range [...]float32{q.l2Slices, q.inPort, q.outWay, q.dram} {
		p.stage[i] += float64(b)
		p.cur.busy[l2Slices+resource(i)] += float64(b)
	}
	p.flight += float64(q.inFlight)
}
