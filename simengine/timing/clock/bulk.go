package clock

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// bulk starts the bulk copies of an op's threads, and returns when their warp can go on.
func (s *sm) bulk(w *warp, o *op, fetch int64) int64 {
	in := &s.c.program.Kernel.Instrs[o.source]
	from, issue := w.accLo, int64(1)
	if o.turns {
		issue = s.m.BulkIssue
	}
	n := s.asyncs(w, o.source, func(a *trace.Async, bar int32) {
		var access *trace.Access
		for ; from < w.accHi && access == nil; from++ {
			if k := &w.tr.Accesses[from]; k.PC == o.source {
				access = k
			}
		}
		switch {
		case in.Bulk == nil:
		case in.Bulk.To == ir.Global && in.Bulk.From != ir.Global:
			issue = s.m.BulkStoreIssue
			taken := s.bulkStore(w, in, access)
			w.read.Add(taken)
			w.stored.Add(taken + s.m.BulkStored)
		default:
			at := s.bulkLoad(w, in, a, access) + s.m.BulkExtra
			s.deliver(w.cta, bar, s.delivered(w.cta, bar, a), at)
			if bar < 0 {
				w.read.Add(at)
				w.stored.Add(at)
			}
		}
	})
	if n == 0 {
		return fetch
	}
	return max(fetch, s.now+int64(n)*issue)
}

// bulkLoad is when the data of a bulk copy is in shared memory.
func (s *sm) bulkLoad(w *warp, in *ir.Instr, c *trace.Async, a *trace.Access) int64 {
	if a == nil || in.Bulk.From != ir.Global && in.Op == ir.BulkCopy {
		lines := int64(c.Bytes+cache.LineBytes-1) / cache.LineBytes
		_, end := s.network.Serve(s.now, lines*s.m.ClusterStorePass)
		return end + s.m.ClusterLoad
	}
	st := &s.stats.byPC[a.PC]
	before := *st
	begin, end := s.copies.Serve(s.now, int64(a.Sectors)*s.m.BulkSector)
	done := end + s.m.LatL2
	shift := s.shift(w, a)
	due := s.copyDue(w, a)
	for k := a.First; k < a.First+int32(a.NLines); k++ {
		l := &w.tr.Lines[k]
		done = max(done, s.bulkLine(begin, s.address(w, a, l.Addr, shift), l, w.first[k], a, st, due))
	}
	if st.dramSectors != before.dramSectors {
		s.ctas[w.cta].loaded = true
	}
	st.repeat(&before, w.weight[w.step])
	return done
}

// A fence of the device takes copyFence cycles longer while the copy engine is busy, and copyBacklog times as long as L2
// is behind with what was asked of it: it goes the way of the copies. On an H100 it takes 721 cycles alone. Beside 1, 2,
// 4 and 8 copies of 16 KiB in flight in each SM it takes 1159, 1749, 3369 and 7251, when L2 is behind by 0, 427, 1457 and
// 3474; beside as many of one SM, of which L2 is never behind, 859 to 985 (deploy/calibrate release.beside).
const (
	copyFence   = 265
	copyBacklog = 1.8
)

// behindCopies is how much longer a fence of the device takes for the bulk copies on their way.
func (s *sm) behindCopies() (more int64) {
	if s.copies.Free() > s.now {
		more = copyFence
	}
	return more + int64(copyBacklog*float64(s.mem.Backlog(s.now)))
}

// bulkWaits is how many of the quantiles of waits for DRAM a bulk copy's lines meet. With all of them the longest
// wait of a copy of 16 KiB is a third longer than measured (deploy/calibrate tma.bulk_latency from DRAM, 1 CTA: 918,
// 1104 and 1234 cycles for 4, 16 and 32 KiB).
const bulkWaits = 15

// copyDue is which share of what a copy's warp touches for the first time comes from DRAM, of unit. CTAs that read the same
// copy the same tiles, so that all lines of a tile are in L2, or none is.
func (s *sm) copyDue(w *warp, a *trace.Access) int32 {
	for k := a.First; k < a.First+int32(a.NLines); k++ {
		if w.first[k] == 0 {
			continue
		}
		if s.take(&s.coldAcc[a.PC], s.cold[a.PC], 1) > 0 {
			return s.coldDue[a.PC]
		}
		break
	}
	return 0
}

// bulkLine reads sectors of a line past L1. L2 brings whole lines of what tensor maps ask for (their L2 promotion): a
// copy that begins within a line finds the line there.
func (s *sm) bulkLine(at int64, addr uint64, l *trace.Line, first uint8, a *trace.Access, st *pcStats, due int32) int64 {
	n := int64(bits.OnesCount8(l.Sectors))
	fromDRAM := int64(0)
	if first != 0 && due > 0 {
		fromDRAM = s.takeLine(&s.readAcc[a.PC], due, s.granules(first&l.Sectors))
	}
	if again := l.Sectors &^ first; again != 0 {
		m := s.takeLine(&s.againAcc[0][a.PC], s.againDue[0][a.PC], s.granules(again))
		st.again += m * int64(s.m.Granule()/32)
		fromDRAM += m
	}
	h := cache.Hash(addr)
	remote := h&1 == 1 && first != 0 && h>>1&0xffff < s.remote
	wait := fromDRAM
	if l.Sectors&1 == 0 { // it came with the first sector of its line
		wait = 0
		s.mem.Fetch(at, fromDRAM)
	}
	arrives := s.mem.Read(at, &dram.Request{
		Sectors: n, FromDRAM: wait, Held: s.set.held[a.PC][min(n, cost.MostSectors)], Far: remote, Apart: true,
		RowSegment: cache.Hash(addr/s.m.LinesPerRowSegment) >> 24 % bulkWaits, Noise: h >> 24,
	})
	st.sectors += n
	st.l2Sectors += n
	st.dramSectors += fromDRAM * int64(s.m.Granule()/32)
	return arrives
}

// bulkStore is when L2 has taken what a bulk copy stores.
func (s *sm) bulkStore(w *warp, in *ir.Instr, a *trace.Access) int64 {
	if a == nil {
		return s.now
	}
	st := &s.stats.byPC[a.PC]
	before, sent := *st, w.sent
	w.sent = s.now
	shift := s.shift(w, a)
	for k := a.First; k < a.First+int32(a.NLines); k++ {
		l := &w.tr.Lines[k]
		st.sectors += int64(bits.OnesCount8(l.Sectors))
		if in.Bulk.Reduce != ir.AtomNone {
			one := *a
			one.NLines, one.Words = 1, uint8(min(bits.OnesCount8(l.Sectors)*8, 32))
			w.sent = max(w.sent, s.atomic(s.now, &one, l, w.first[k], in.Type.IsFloat()))
			continue
		}
		st.l2Sectors += s.store(w, s.now, a, l, s.address(w, a, l.Addr, shift), w.first[k])
	}
	st.repeat(&before, w.weight[w.step])
	taken := w.sent
	w.sent = max(taken, sent)
	return taken
}
