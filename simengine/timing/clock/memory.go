package clock

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// isLG reports whether an access goes through the queue for local and global memory.
func isLG(s ir.Space) bool { return s == ir.Global || s == ir.Local || s == ir.Generic }

// memory sends an op into the memory input/output (MIO) queue. It returns when its result can
// be used, and which stall a consumer shows until then.
func (s *sm) memory(p *subPartition, w *warp, o *op) (int64, cost.ResultKind) {
	at := s.now
	var begin, result int64
	kind := o.kind
	switch {
	case o.class == assemble.S2R:
		begin, _ = s.lsu.Serve(at, s.m.Addressing)
		result = begin + int64(o.latency)
	case o.class == assemble.Shuffle:
		begin, _ = s.lsu.Serve(at, s.m.Addressing)
		result = begin + int64(o.latency)
	case o.class == assemble.LDC:
		begin, result = s.constant(w, o, at)
	case o.source < 0:
		begin, result, kind = s.spill(w, o, at)
	default:
		a := w.access(o.source)
		switch {
		case a == nil: // no lane took it: a turn all the same
			begin, _ = s.lsu.Serve(at, s.m.Addressing)
			result = begin + int64(o.latency) + 1
		case a.Space == ir.Shared && o.class != assemble.AsyncCopy:
			begin, result = s.shared(p, o, a, at)
			kind = cost.ResultShort
		case a.Space == ir.SharedCluster:
			begin, result = s.remoteShared(o, a, at)
			kind = cost.ResultLong
		case a.Space == ir.Const || a.Space == ir.ParamSpace:
			begin, result = s.constantAccess(a, at)
			kind = cost.ResultConstant
		case o.class == assemble.AsyncCopy:
			begin, result = s.global(w, o, a, at)
			w.copies.Add(result)
			result, kind = at+1, cost.ResultFixed
		default:
			begin, result = s.global(w, o, a, at)
			kind = cost.ResultLong
		}
	}
	if o.lead > 0 { // issued earlier
		result = max(result-(at-w.recent[(w.pc-int32(o.lead))%cost.RecentIssues]), at+1)
	}
	p.began = begin
	if o.port == portLG {
		p.lg.take(begin)
	} else {
		p.mio.take(begin)
	}
	return result, kind
}

// constant is a load from constant memory by an address in a register.
func (s *sm) constant(w *warp, o *op, at int64) (begin, result int64) {
	if a := w.access(o.source); o.source >= 0 && a != nil {
		if o.walksTable {
			at, _ = s.idc.Serve(at, s.set.constHold)
		}
		return s.constantAccess(a, at)
	}
	return at, at + s.m.LatConst
}

// constantAccess serialises over the distinct words of a request.
func (s *sm) constantAccess(a *trace.Access, at int64) (begin, result int64) {
	hold := int64(max(a.Passes, 1)) * s.m.ConstPass
	if a.Passes > 1 && a.Space == ir.Const {
		miss := s.set.constMiss[0]
		if a.Drawn {
			miss = s.set.constMiss[1]
		}
		hold += int64(a.Visits) * miss
	}
	begin, _ = s.idc.Serve(at, hold)
	return begin, begin + s.m.LatConst + (hold-s.m.ConstPass)/dram.Fraction
}

// shared is a request to shared memory. It serialises over bank conflicts; atomics also over
// the lanes of one word.
func (s *sm) shared(p *subPartition, o *op, a *trace.Access, at int64) (begin, result int64) {
	passes := int64(max(a.Passes, 1))
	latency := s.m.LatShared
	if o.class == assemble.Atomic {
		latency = s.m.LatAtomicShared
		switch {
		case s.c.program.IsSwapped(a.PC):
			loop := cost.CASLoopOf(&s.c.program.Kernel.Instrs[a.PC], a)
			p.open = max(p.open, at*dram.Fraction) + loop.Issued*dram.Fraction
			begin, _ = s.lsu.Serve(at, loop.Passes*s.m.SharedPass)
			return begin, begin + latency + loop.Rounds*s.m.LatCASRound + loop.Waits
		case !s.c.program.IsCounted(a.PC):
			passes = int64(max(a.Turns, 1))
		}
	}
	begin, _ = s.lsu.Serve(at, max(passes*s.m.SharedPass, s.m.Addressing))
	return begin, begin + latency + (passes-1)*s.m.SharedPass/dram.Fraction
}

// global is a request to global or local memory. It returns when the load/store unit begins
// with it and when its result is there.
func (s *sm) global(w *warp, o *op, a *trace.Access, at int64) (begin, result int64) {
	lines := int64(max(a.NLines, 1))
	unit, hold, latency := &s.lsu, int64(0), s.m.LatL1
	if a.Texels > 0 {
		unit, hold, latency = &s.texture, s.m.TextureCost(a), s.m.TextureLatency(a)
	} else {
		hold = s.m.RequestCost(o.class, o.bypassesL1, lines, int64(a.Passes))
	}
	begin, _ = unit.Serve(at, hold)
	if o.class != assemble.AsyncCopy || !o.bypassesL1 || !s.c.specific {
		begin = s.admit(o, unit, begin)
	} else {
		begin, _ = s.copied.Serve(begin, lines*cost.CopyLineSteps)
	}
	st := &s.stats.byPC[a.PC]
	shift := s.shift(w, a)
	if a.Space == ir.Local {
		st = &s.stats.local[0]
		if o.class == assemble.Store {
			st = &s.stats.local[1]
		}
	}
	result = begin + latency
	before := *st
	for i := range lines {
		k := a.First + int32(i)
		if int(a.NLines) == 0 {
			break
		}
		l := &w.tr.Lines[k]
		when := begin + i*s.m.TagNext/dram.Fraction
		addr := s.address(w, a, l.Addr, shift)
		switch {
		case o.class == assemble.Store:
			st.stored(l.Sectors, s.l1.Store(addr, l.Sectors, l.Full))
			st.l2Sectors += s.store(w, when, a, l, addr, w.first[k])
		case o.class == assemble.Atomic:
			st.sectors += int64(bits.OnesCount8(l.Sectors))
			if l.Sectors != 0xf {
				st.partialLines += int64(bits.OnesCount8(l.Sectors))
			}
			result = max(result, s.atomic(when, a, l, w.first[k], o.float))
		default:
			t := s.load(when, addr, l, w.first[k], a, st, o)
			result = max(result, t)
		}
	}
	if s.set.plan.Awaits[a.PC] {
		result += s.gridBarrier
	}
	if st.dramSectors != before.dramSectors {
		s.ctas[w.cta].loaded = true
	}
	st.repeat(&before, w.weight[w.step])
	return begin, result
}

// shift is what a warp adds to the lines of an access, so that CTAs of the clocked SM have in
// common what they have in common on the device.
func (s *sm) shift(w *warp, a *trace.Access) uint64 {
	if a.Space == ir.Local {
		return w.declared
	}
	if s.set.plan.Broadcast[a.PC] {
		return w.round
	}
	if along := s.set.plan.DistinctAlong[a.PC]; along != 0 {
		return s.ctas[w.cta].shift[along]
	}
	return w.shift
}

// address is where a warp finds a line of an access, given its shift.
func (s *sm) address(w *warp, a *trace.Access, line, shift uint64) uint64 {
	if over := &s.set.plan.Over[a.PC]; over.Last > over.First && a.Space != ir.Local {
		return scatter(line, w.shift, *over)
	}
	return line + shift
}

// scatter gives a replica addresses of its own where they depend on data: anywhere in the
// buffer, the same for the same line of the traced CTA. What a CTA finds again stays so, and
// what it finds of other CTAs is chance.
func scatter(line, replica uint64, over timing.Extent) uint64 {
	h := cache.Hash(bits.RotateLeft64(cache.Hash(line)^replica, 28))
	return over.First + cache.Hash(h)%(over.Last-over.First+1)
}

// admit holds a request, and the unit behind it, until a miss or a store of it can
// be sent. It returns the cycle.
func (s *sm) admit(o *op, unit *dram.Server, at int64) int64 {
	free := s.loads.free()
	if o.class == assemble.Store {
		free = s.stores.free()
	}
	if free > at {
		at = free
		unit.Delay(at)
	}
	return at
}

// load reads sectors of a line through L1.
func (s *sm) load(at int64, addr uint64, l *trace.Line, first uint8, a *trace.Access, st *pcStats, o *op) int64 {
	sectors, copied := l.Sectors, o.class == assemble.AsyncCopy
	var hit uint8
	var ready int64
	entry := -1
	if !o.bypassesL1 {
		hit, ready, entry = s.l1.Load(addr, sectors)
	}
	st.sectors += int64(bits.OnesCount8(sectors))
	st.l1Hits += int64(bits.OnesCount8(hit))
	later := int64(0) // than a load's
	if a.Texels > 0 {
		later = s.m.TextureLatency(a) - s.m.LatL1
	}
	result := at + s.m.LatL1 + later
	if hit != 0 {
		result = max(result, ready+later)
	}
	miss := sectors &^ hit
	fromDRAM := int64(0)
	if a.Space != ir.Local && first != 0 {
		// Charged where the trace touches a granule first, although another
		// warp may have come before it here and found it in L2.
		fromDRAM = s.takeLine(&s.readAcc[a.PC], s.readDue[a.PC], s.granules(first&sectors))
	}
	if miss == 0 {
		s.mem.Fetch(at, fromDRAM)
		return result
	}
	inShared := copied && o.bypassesL1 && s.c.specific // it holds no place in L1
	if !inShared {
		at = max(at, s.loads.free())
	}
	n := int64(bits.OnesCount8(miss) + l.Again())
	if again := miss &^ first; a.Space != ir.Local && again != 0 {
		m := s.takeLine(&s.againAcc[0][a.PC], s.againDue[0][a.PC], s.granules(again))
		st.again += m * int64(s.m.Granule()/32)
		fromDRAM += m
	}
	if a.Space == ir.Local {
		fromDRAM = s.localDue(0, s.granules(miss))
		s.stats.localDRAM[0] += fromDRAM
	}
	if share := s.set.plan.Contended[a.PC]; share > 0 && fromDRAM > 0 && a.Space != ir.Local {
		s.mem.Contend(at, fromDRAM, share)
	}
	h := cache.Hash(addr)
	remote := h&1 == 1 && first&miss != 0 && h>>1&0xffff < s.remote
	ask := dram.Request{Sectors: n, FromDRAM: fromDRAM, Askers: s.set.askers[a.PC], Held: s.set.held[a.PC][min(n, cost.MostSectors)], Far: remote, RowSegment: cache.Hash(addr/s.m.LinesPerRowSegment) >> 24, Noise: h >> 24}
	if copied && o.bypassesL1 {
		ask.Turns = cost.CopyTurns(l)
	}
	if inShared {
		ask.RowSegment %= bulkWaits
	}
	if l.Twice != 0 {
		ask.Held = dram.Fraction // nothing merges with the halves of sectors
	}
	arrives := s.mem.Read(at, &ask)
	s.lsu.Serve(at, n*s.m.FillSteps(copied, o.bypassesL1)) // what comes in takes turns of the data banks, too
	st.l2Sectors += n
	if copied && o.bypassesL1 {
		st.joined += int64(bits.OnesCount8(s.asked.Ask(addr, miss, at, arrives) &^ first))
	}
	if miss != 0xf {
		st.partialLines += n
	}
	st.dramSectors += fromDRAM * int64(s.m.Granule()/32)
	s.l1.Fill(entry, miss, arrives)
	if inShared {
		return max(result, arrives)
	}
	for range reserved(n, hit) {
		s.loads.take(arrives)
	}
	return max(result, arrives+later)
}

// reserved is how many sectors of L1's storage a miss holds until its data arrives. A line that
// was absent takes the place of a whole line, whichever of its sectors are fetched.
func reserved(fetched int64, hit uint8) int64 {
	if hit == 0 {
		return cache.LineBytes / cache.SectorBytes
	}
	return fetched
}

// store writes a line through to L2, and returns how many sectors go there.
func (s *sm) store(w *warp, at int64, a *trace.Access, l *trace.Line, addr uint64, first uint8) (sent int64) {
	sectors := l.Sectors
	if a.Space != ir.Local {
		sectors = s.writes.Add(addr, sectors, l.Full)
	}
	if sectors == 0 {
		return 0
	}
	g := s.granules(sectors)
	toDRAM := int64(0)
	if a.Space == ir.Local {
		toDRAM = s.localDue(1, g)
		s.stats.localDRAM[1] += toDRAM
	} else {
		f := s.granules(first & l.Sectors)
		toDRAM = s.take(&s.writeAcc[a.PC], s.writeDue[a.PC], f)
		m := s.take(&s.againAcc[1][a.PC], s.againDue[1][a.PC], max(g-f, 0))
		s.stats.byPC[a.PC].again += m * int64(s.m.Granule()/32)
		toDRAM += m
	}
	sent = int64(bits.OnesCount8(sectors))
	taken := s.mem.Write(max(at, s.stores.free()), sent, dram.PartOf(sectors, l.Full), toDRAM)
	s.stores.take(taken)
	c := &s.ctas[w.cta]
	c.sent, w.sent = max(c.sent, taken), max(w.sent, taken)
	return sent
}

// spill is a load or store of spilled registers. Local memory is interleaved over lanes, so
// that each word of a warp is one line.
func (s *sm) spill(w *warp, o *op, at int64) (begin, result int64, kind cost.ResultKind) {
	words := max(int64(o.width)/4, 1)
	begin, _ = s.lsu.Serve(at, s.m.RequestCost(o.class, false, words, words))
	begin = s.admit(o, &s.lsu, begin)
	result = begin + s.m.LatL1
	a := trace.Access{Space: ir.Local}
	st := &s.stats.local[0]
	if o.class == assemble.Store {
		st = &s.stats.local[1]
	}
	before := *st
	for k := range words {
		line := trace.Line{Addr: w.local + uint64(int64(max(o.spill, 0))+k), Sectors: 0xf, Full: 0xf}
		if o.class == assemble.Store {
			st.stored(0xf, s.l1.Store(line.Addr, 0xf, 0xf))
			st.l2Sectors += s.store(w, begin+k, &a, &line, line.Addr, 0xf)
			s.stats.spillSectors[1] += 4
			continue
		}
		s.stats.spillSectors[0] += 4
		result = max(result, s.load(begin+k, line.Addr, &line, 0xf, &a, st, o))
	}
	st.repeat(&before, w.weight[w.step])
	if o.class == assemble.Store {
		s.stats.spillRequests[1]++
		return begin, result, cost.ResultFixed
	}
	s.stats.spillRequests[0]++
	return begin, result, cost.ResultLong
}
