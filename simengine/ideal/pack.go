package ideal

import (
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/trace"
)

// sectors is the sectors of a line.
const sectors = cache.LineBytes / cache.SectorBytes

// scatter is the requests of one instruction by a CTA of which some touch more sectors or lines than their bytes fill.
type scatter struct {
	lines map[uint64]uint8 // touched, and their sectors
	asked int              // sectors that all requests would touch, coalesced
	some  bool             // some request is scattered
	pool  []uint64         // the lines that coalesced requests go through, one after another
	at    int              // sectors of them given out
}

// packScattered packs the lanes of each scattered load and store of a CTA into as few sectors and lines as their bytes fill. What
// requests share stays shared: they go through as many sectors, all together, as were touched or asked for, what is less.
func packScattered(k *ir.Kernel, c *trace.CTA) {
	of := map[int32]*scatter{}
	for i := range c.Warps {
		w := &c.Warps[i]
		for j := range w.Accesses {
			if a := &w.Accesses[j]; packable(k, a) {
				s := of[a.PC]
				if s == nil {
					s = &scatter{lines: map[uint64]uint8{}}
					of[a.PC] = s
				}
				s.add(w, a)
			}
		}
	}
	for i := range c.Warps {
		w := &c.Warps[i]
		w.Lines = slices.Clone(w.Lines)
		for j := range w.Accesses {
			a := &w.Accesses[j]
			if s := of[a.PC]; packable(k, a) && s.some && scattered(a) {
				s.pack(w, a, k.Instrs[a.PC].Op == ir.St)
			}
		}
	}
}

// packable reports whether an access is a load or store of device memory.
func packable(k *ir.Kernel, a *trace.Access) bool {
	op := k.Instrs[a.PC].Op
	return a.Space == ir.Global && a.NLines > 0 && (isLoad(op) || op == ir.St)
}

// packed is the sectors that the bytes of a request fill.
func packed(a *trace.Access) int {
	bytes := bits.OnesCount32(a.Mask) * int(a.Width)
	return min((bytes+cache.SectorBytes-1)/cache.SectorBytes, int(a.Sectors))
}

// scattered reports whether a request touches more sectors, or lines, than its bytes fill.
func scattered(a *trace.Access) bool {
	n := packed(a)
	return n < int(a.Sectors) || (n+sectors-1)/sectors < int(a.NLines)
}

func (s *scatter) add(w *trace.Warp, a *trace.Access) {
	for _, l := range w.Lines[a.First : a.First+int32(a.NLines)] {
		s.lines[l.Addr] |= l.Sectors
	}
	s.asked += packed(a)
	s.some = s.some || scattered(a)
}

// choose picks the lines of the pool: as many as the sectors fill, from all over what is touched. CTAs that touch other
// sectors of the same lines pick others of the lines, so that together they go through all of them.
func (s *scatter) choose() {
	all := make([]uint64, 0, len(s.lines))
	touched := 0
	for addr, mask := range s.lines {
		all = append(all, addr)
		touched += bits.OnesCount8(mask)
	}
	slices.Sort(all)
	n := min((min(s.asked, touched)+sectors-1)/sectors, len(all))
	skew := bits.TrailingZeros8(s.lines[all[0]])
	s.pool = make([]uint64, n)
	for i := range s.pool {
		s.pool[i] = all[(i*len(all)/n+skew)%len(all)]
	}
}

// pack moves a request to the next sectors of the pool.
func (s *scatter) pack(w *trace.Warp, a *trace.Access, store bool) {
	if s.pool == nil {
		s.choose()
	}
	n := packed(a)
	lines := w.Lines[a.First:a.First]
	for left := n; left > 0; {
		first := s.at % sectors
		some := min(sectors-first, left)
		mask := uint8(1<<some-1) << first
		l := trace.Line{Addr: s.pool[s.at/sectors%len(s.pool)], Sectors: mask}
		if store {
			l.Full = mask
		}
		if len(lines) == int(a.NLines) {
			break // no more lines than before
		}
		lines = append(lines, l)
		s.at += some
		left -= some
	}
	got := 0
	for _, l := range lines {
		got += bits.OnesCount8(l.Sectors)
	}
	a.NLines, a.Sectors = uint16(len(lines)), uint16(got)
	passes := uint16(max((bits.OnesCount32(a.Mask)*int(a.Width)+cache.LineBytes-1)/cache.LineBytes, 1))
	a.Passes, a.Ideal = min(a.Passes, passes), min(a.Ideal, passes)
	if a.Wavefronts > 0 {
		a.Wavefronts = min(a.Wavefronts, uint16(len(lines)))
	}
}
