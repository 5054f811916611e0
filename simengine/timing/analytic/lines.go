package analytic

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// lines sends the lines of a request on their way.
func (t *traffic) lines(u *turn) {
	a, plan := u.a, t.plan
	for k := a.First; k < a.First+int32(a.NLines); k++ {
		l := &u.w.Lines[k]
		fresh := float64(t.granules(l.Sectors & u.first[k]))
		switch u.class {
		case assemble.Store:
			sectors := l.Sectors
			if a.Space != ir.Local {
				sectors = u.writes.Add(l.Addr, sectors, l.Full)
			}
			due := fresh * plan.Write[a.PC]
			if share := plan.WriteAgain[a.PC]; share > 0 && a.Space == ir.Global {
				more := math.Max(float64(t.granules(sectors))-fresh, 0) * share
				u.y.again += u.n * more * float64(t.c.f.Granule)
				due += more
			}
			u.y.l2 += u.n * float64(bits.OnesCount8(sectors))
			if sectors != 0 {
				t.m.writeLine(&u.one, bits.OnesCount8(sectors), dram.PartOf(sectors, l.Full), due, 1)
			}
		case assemble.Atomic:
			float := t.c.p.Kernel.Instrs[a.PC].Type.IsFloat()
			if t.c.p.IsElected(a.PC) {
				one := cost.Elect(a)
				a = &one
			}
			cost := t.m.atomics.Line(a, l.Sectors, plan.RowSegments[a.PC], plan.Broadcast[a.PC], float)
			if l.Sectors != 0xf {
				u.y.partialLines += u.n * float64(bits.OnesCount8(l.Sectors))
			}
			due := fresh * (plan.Read[a.PC] + plan.Write[a.PC]) * t.m.dram
			u.one.busy[t.hot(a.PC)] += cost + due // see dram.Share.Update
			u.one.busy[l2Slices] += t.m.atomics.Mean(l.Sectors)
			if t.c.p.Kernel.Instrs[a.PC].Op != ir.Red {
				u.one.blocking[t.hot(a.PC)] += cost
			}
			u.one.busy[dramBus] += due
			u.r.latency = max(u.r.latency, float32(t.c.f.AtomicL2+cost))
		default:
			t.load(u, l, fresh)
		}
	}
	if plan.Awaits[a.PC] {
		u.r.latency += float32(t.gridBarrier)
	}
	u.r.lockstep.latency = u.r.latency
	u.r.addWait(t.m, 1)
	u.r.lockstep.addWait(t.m, cost.LockstepWait(plan.LockstepSharers[a.PC]))
}

// load looks up a line in L1 and asks L2 for what is not there; so many granules of it are
// touched for the first time.
func (t *traffic) load(u *turn, l *trace.Line, granules float64) {
	miss, latency, times := l.Sectors, t.m.near, 1.0
	if t.plan.Broadcast[u.a.PC] && u.a.Space == ir.Global {
		times = 1 / t.sharers
		if t.stays {
			latency = t.c.f.L1
		}
	} else if n := t.sharersAlong[t.plan.DistinctAlong[u.a.PC]]; n > 1 && u.a.Space == ir.Global {
		times = 1 / n
	}
	own := times == 1
	if over := t.plan.Over[u.a.PC]; over.Last > over.First && u.a.Space == ir.Global {
		// Scattered over a buffer: what of it fits L1 is there, whoever read it.
		times = 1 - math.Min(float64(t.l1Lines)/float64(over.Last-over.First+1), 1)
	}
	asked, bypass := times, t.bypassesL1(u.a.PC) // of L2
	if bypass {
		asked = 1
	} else {
		e := t.l1.load(l.Addr, own)
		hit := e.valid & l.Sectors
		miss &^= hit
		if hit != 0 && e.round == u.round {
			u.r.latency = max(u.r.latency, e.latency) // on its way
		}
		if miss != 0 {
			e.valid |= miss
			e.round, e.latency = u.round, float32(latency)
		}
		u.y.hits += u.n * float64(bits.OnesCount8(hit))
	}
	if miss == 0 {
		return
	}
	sectors := bits.OnesCount8(miss) + l.Again()
	due := granules * t.plan.Read[u.a.PC] * times
	if share := t.plan.ReadAgain[u.a.PC]; share > 0 && u.a.Space == ir.Global {
		more := math.Max(float64(t.granules(miss))-granules, 0) * share * times
		u.y.again += u.n * more * float64(t.c.f.Granule)
		due += more
	}
	held := t.held[u.a.PC][min(sectors, cost.MostSectors)]
	if l.Twice != 0 {
		held = 1 // halves of sectors are not coalesced
	}
	t.m.readLine(&u.one, sectors, due, t.plan.Readers[u.a.PC], asked, held)
	t.m.contend(&u.one, due*t.plan.Contended[u.a.PC])
	if bypass && u.class == assemble.AsyncCopy {
		u.one.busy[inPort] += math.Max(float64(cost.CopyTurns(l))/dram.Fraction-t.m.port[sectors], 0)
	}
	// What comes in takes turns of the data banks, too.
	u.one.busy[lsu] += asked * float64(sectors) * t.c.f.Fill(u.class == assemble.AsyncCopy, bypass)
	u.y.l2 += u.n * asked * float64(sectors)
	if miss != 0xf {
		u.y.partialLines += u.n * asked * float64(sectors)
	}
	u.y.hits += u.n * (1 - asked) * float64(sectors)
	if latency > t.c.f.L1 {
		if granules > 0 {
			latency += t.plan.Remote * t.m.half // half of the lines are at home in the farther half
		}
		p := l.Addr / t.c.f.LinesPerRowSegment
		fresh := p != u.rowSegment || u.r.rowSegments == 0
		u.rowSegment = p
		u.r.addDue(due, fresh)
		if front := t.plan.LeaderReads[u.a.PC]; granules > 0 && t.plan.LockstepSharers[u.a.PC] > 1 {
			u.r.lockstep.addShared(float32(front), fresh)
		} else {
			u.r.lockstep.addDue(due, fresh)
		}
	}
	if u.a.Texels > 0 {
		_, hit := t.c.f.Texture(u.a)
		latency += hit - t.c.f.L1
	}
	u.r.latency = max(u.r.latency, float32(latency))
}

// hot is the slices of L2 that an atomic falls on.
func (t *traffic) hot(pc int32) resource {
	return hotSlices + resource(t.plan.Buffer[pc]%dram.AtomicBuffers)
}

// bypassesL1 is cost.BypassesL1 of a PTX instruction.
func (t *traffic) bypassesL1(pc int32) bool { return cost.BypassesL1(&t.c.p.Kernel.Instrs[pc]) }

// granules is how many units of L2 and DRAM traffic a set of sectors needs.
func (t *traffic) granules(sectors uint8) int { return cost.Granules(t.c.f.Granule, sectors) }
