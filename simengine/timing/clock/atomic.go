package clock

import (
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// atomic sends the part of an atomic request that goes to line l to L2, and returns when the
// result is there.
func (s *sm) atomic(at int64, a *trace.Access, l *trace.Line, first uint8, float bool) int64 {
	plan := s.set.plan
	if s.c.program.IsElected(a.PC) {
		one := cost.Elect(a)
		a = &one
	}
	cost := dram.Ticks(s.atomics.Line(a, l.Sectors, plan.RowSegments[a.PC], plan.Broadcast[a.PC], float))
	var fromDRAM, toDRAM int64
	if f := s.granules(first & l.Sectors); f > 0 {
		fromDRAM, toDRAM = s.take(&s.readAcc[a.PC], s.readDue[a.PC], f), s.take(&s.writeAcc[a.PC], s.writeDue[a.PC], f)
	}
	begin := s.mem.Update(max(at, s.loads.free()), plan.Buffer[a.PC], cost, dram.Ticks(s.atomics.Mean(l.Sectors)), fromDRAM+toDRAM)
	s.mem.WriteBack(begin, toDRAM)
	done := begin + s.m.LatAtomicL2 + cost/dram.Fraction
	if fromDRAM > 0 {
		h := cache.Hash(l.Addr)
		done = max(done, s.mem.Read(begin, &dram.Request{Sectors: fromDRAM, FromDRAM: fromDRAM, Held: dram.Fraction, RowSegment: h >> 24, Noise: h >> 24}))
	}
	s.loads.take(done)
	return done
}
