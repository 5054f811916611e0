package racecheck

// Warps is the most warps of a CTA.
const Warps = 32

// Clock is a vector clock (C. Fidge; F. Mattern, 1988): a tick for every warp of a CTA.
type Clock [Warps]uint32

// Join makes c the later of both, for each warp.
func (c *Clock) Join(d *Clock) {
	for i, v := range d {
		c[i] = max(c[i], v)
	}
}

// history is one execution of a CTA: what its warps learnt of other CTAs by strong accesses.
type history struct {
	cta    int64
	learnt []learnt
}

// learnt is that a warp, at a tick, acquired a release.
type learnt struct {
	warp int
	tick uint32
	from *release
}

// release is what the strong accesses of a CTA to one address release: all that its warps had done
// by the clock, and what these had acquired.
type release struct {
	by    *history
	run   int32
	clock Clock
	heard int   // of by.learnt, how many there were
	seen  int64 // the last question in which it was asked
}

// Exchange orders a warp after earlier strong accesses to an address, and later strong accesses
// after it. known is what the warp knows of the warps of its CTA, itself included.
func (s *Series) Exchange(addr uint64, warp int, tick uint32, known *Clock) {
	last := s.places[addr]
	if last == nil || last.run != s.run { // other warps of this CTA learn of it from the first one
		if last != nil {
			s.now.learnt = append(s.now.learnt, learnt{warp, tick, last})
		}
		last = &release{by: s.now, run: s.run}
		s.places[addr] = last
	}
	last.clock.Join(known)
	last.clock[warp] = max(last.clock[warp], tick)
	last.heard = len(s.now.learnt)
}

// after reports whether what a warp of the current CTA does comes after an access of an earlier CTA.
func (s *Series) after(old *Touch, warp int, known *Clock) bool {
	s.question++
	s.ask = s.ask[:0]
	hear := func(h *history, heard int, warp int, clock *Clock) {
		for i := heard - 1; i >= 0; i-- {
			if l := &h.learnt[i]; l.from.seen != s.question && (l.warp == warp || clock[l.warp] >= l.tick) {
				l.from.seen = s.question
				s.ask = append(s.ask, l.from)
			}
		}
	}
	hear(s.now, len(s.now.learnt), warp, known)
	for n := len(s.ask); n > 0; n = len(s.ask) {
		r := s.ask[n-1]
		s.ask = s.ask[:n-1]
		if r.run == old.Run && r.clock[int(old.Thread)/warpSize] >= old.Tick {
			return true
		}
		hear(r.by, r.heard, -1, &r.clock)
	}
	return false
}
