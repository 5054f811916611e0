package analytic

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// bulk sends the lines of a bulk copy on their way. No warp waits for one of them by itself: what they hold is not
// blocking.
func (t *traffic) bulk(u *turn) {
	a, plan := u.a, t.plan
	in := &t.c.p.Kernel.Instrs[a.PC]
	store := in.Op == ir.BulkCopy && in.Bulk.To == ir.Global && in.Bulk.From != ir.Global
	u.r.latency = float32(t.m.near)
	for k := a.First; k < a.First+int32(a.NLines); k++ {
		l := &u.w.Lines[k]
		sectors := bits.OnesCount8(l.Sectors)
		fresh := float64(t.granules(l.Sectors & u.first[k]))
		again := math.Max(float64(t.granules(l.Sectors))-fresh, 0)
		u.y.l2 += u.n * float64(sectors)
		if store && in.Bulk.Reduce == ir.AtomNone {
			due := fresh*plan.Write[a.PC] + again*plan.WriteAgain[a.PC]
			u.y.again += u.n * again * plan.WriteAgain[a.PC] * float64(t.c.f.Granule)
			t.m.writeLine(&u.one, sectors, dram.PartOf(l.Sectors, l.Full), due, 1)
			continue
		}
		due := fresh*plan.Read[a.PC] + again*plan.ReadAgain[a.PC]
		u.y.again += u.n * again * plan.ReadAgain[a.PC] * float64(t.c.f.Granule)
		if store {
			one := *a
			one.NLines, one.Words = 1, uint8(min(8*sectors, 32))
			u.one.busy[t.hot(a.PC)] += t.m.atomics.Line(&one, l.Sectors, plan.RowSegments[a.PC], plan.Broadcast[a.PC], in.Type.IsFloat())
			u.one.busy[l2Slices] += t.m.atomics.Mean(l.Sectors)
			continue
		}
		t.m.readLine(&u.one, sectors, due, 1, 1, t.held[a.PC][sectors])
		if l.Sectors&1 == 0 { // it came with the first sector of its line: see the clock's bulkLine
			continue
		}
		p := l.Addr / t.c.f.LinesPerRowSegment
		row := p != u.rowSegment || u.r.rowSegments == 0
		u.rowSegment = p
		u.r.addDue(due, row)
		if front := plan.LeaderReads[a.PC]; fresh > 0 && plan.LockstepSharers[a.PC] > 1 {
			u.r.lockstep.addShared(float32(front), row)
		} else {
			u.r.lockstep.addDue(due, row)
		}
	}
	for r := l2Slices; r < numResources; r++ {
		u.one.blocking[r] = 0
	}
	u.r.lockstep.latency = u.r.latency
	u.r.addWait(t.m, 1)
	u.r.lockstep.addWait(t.m, cost.LockstepWait(plan.LockstepSharers[a.PC]))
}
