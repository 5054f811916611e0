package footprint

import "math"

// touch records the touch of a granule in a run, of which a request uses so many sectors. It reports whether it is the CTA's
// first.
func (s *Survey) touch(id int32, e *entry, run *lineRun, granule uint64, store bool, sectors int) (first bool) {
	stamp, owner, n := &e.read, &e.reader, s.now.stands
	if s.serial[id] && n > 0 {
		// Of the iterations that this one stands for not each begins a granule.
		n = max(n*int64(sectors)*sectorBytes/int64(s.granule), 1)
	}
	if store {
		stamp, owner = &e.written, &e.writer
		s.sharing.store(e)
	}
	if *stamp != 0 {
		s.parent.Join(id, *owner)
		if !store && *stamp != s.cta {
			s.meet(id, e, n)
		}
		if !store && s.order <= e.first.order {
			s.precede(e, sectors)
		}
		if *stamp == s.cta {
			s.serial[id] = s.serial[id] || !store && id == *owner && s.warp == e.first.warp && s.order > e.first.order
			return false
		}
	} else {
		s.fresh[id][s.dir] += n
		if e.read == 0 && e.written == 0 {
			s.extra[id][s.dir] += n
		}
		*owner = id
		if !store {
			s.read(e, id, run, granule, sectors)
		}
	}
	*stamp = s.cta
	s.distinct[id][s.dir] += n
	s.made += n
	if s.cta == 1 {
		s.life = s.made
	}
	return true
}

// pass records a read of a granule that the CTA has read before, in an iteration left out, so many lines ago.
func (s *Survey) pass(id int32, e *entry, ago int64) {
	if e.read == 0 {
		e.reader = id
	}
	e.read = s.cta
	if s.dir == Base {
		if s.again[id] == nil {
			s.again[id] = new(spans)
		}
		s.again[id][class(max(ago, 0))] += s.now.stands
	}
}

// meet counts a CTA's first read of a granule that another CTA has read, n times.
func (s *Survey) meet(id int32, e *entry, n int64) {
	if s.order == e.first.order {
		s.inStep[id][s.dir] += n
	}
	if e.after > 0 {
		s.met[id][s.dir] += n
		if s.now.iteration == 0 || s.now.iteration != e.iteration { // else it is the same of those that an iteration stands for
			s.later[id][s.dir] += n * (s.made + n - int64(e.after))
		}
	}
}

// read records the first read of a granule.
func (s *Survey) read(e *entry, id int32, run *lineRun, granule uint64, sectors int) {
	if s.dir >= Far {
		return
	}
	if s.cta == 1 && s.now.stands > 0 {
		e.after, e.iteration = int32(min(s.made+s.now.stands, math.MaxInt32)), s.now.iteration
	} else if s.cta == 1 { // of an iteration left out it is not known
		e.after = -1
	}
	e.first = request{order: s.order, twice: uint8(2 * sectors), warp: s.warp}
	s.asked[id] += int64(2*sectors) * s.now.stands
	p := s.segment(run, granule)
	switch {
	case !p.read:
		p.read, p.reader = true, id
		s.rowSegments[id] += s.now.stands
	case p.reader != id:
		s.beside[id] = p.reader
	}
}

// precede records a read of a granule that comes before the one known as the first, or in the
// same turn: then either may be the first, and their mean counts.
func (s *Survey) precede(e *entry, sectors int) {
	if s.dir >= Far {
		return
	}
	twice := uint8(2 * sectors)
	if s.order == e.first.order {
		twice = (twice + e.first.twice) / 2
	}
	s.asked[e.reader] += (int64(twice) - int64(e.first.twice)) * s.now.stands
	e.first = request{order: s.order, twice: twice, warp: s.warp}
}
