package sampling

import "github.com/warptune/warptune/simengine/trace"

// CTAs are looked at in three rounds, each only where the one before leaves doubt: a few probes; if
// these are like the CTA in the middle, glances at more; if any differs, a survey of the grid.
const (
	// probes is how many CTAs are compared with the one in the middle at first. They may use
	// one part in probeShare of the work: the rest must do for the CTAs that are chosen and for
	// the neighbours of the one in the middle.
	probes, probeShare = 3, 8
	// veryLongWork is the work of a CTA from which one probe is enough: tens of milliseconds.
	veryLongWork = 2_000_000
	// maxGlances is how many CTAs are looked at where the probes did the same, and glanceWork
	// the work after which no more are. They cost nothing that shows in BenchmarkDataset; 32 and
	// 10,000 cost an eighth of the median at level model.
	maxGlances, glanceWork = 16, 4_000
	// dataWork is the same where data decides what CTAs do: a few may differ much. Of decode_split in 32 parts a fifth of
	// the CTAs have nothing to do, the last ones of short sequences, and nine others were alike (shared/hopper).
	dataWork = 60_000
	// surveyWork is the work of the survey: some milliseconds, as long as the tracing of those
	// chosen.
	surveyWork = 250_000
	// surveyWarps is how many warps of a CTA the survey executes, where they are independent.
	surveyWarps = 4
)

// probe compares CTAs with the one in the middle, and returns how long they are; nil if they
// do the same.
func (s *sampler) probe(middle Length) ([]point, error) {
	var points []point
	differs, before := false, s.Executor.Work()
	done := func() int64 { return s.Executor.Work() - before }
	long := s.Executor.PathWork(s.Middle) > veryLongWork
	for k := 0; k < probes && (!differs || done() < longWork) && done() < s.Limit/probeShare && !(long && k > 0); k++ {
		one, err := s.length(s.cta(k))
		if err != nil {
			return nil, err
		}
		differs = differs || one.off(middle) > tolerance
		points = append(points, point{k, one})
	}
	switch {
	case differs:
		return points, nil
	case long && len(points) > 0:
		return nil, nil
	}
	traced, err := s.Executor.Trace(s.Middle)
	if err != nil {
		return nil, err
	}
	return s.glance(points, traced)
}

// glance looks at further CTAs, at one warp of each where warps are independent, until one differs
// from the one traced. It returns the points with those it looked at; nil if none differs.
func (s *sampler) glance(points []point, traced *trace.CTA) ([]point, error) {
	if s.SamePath {
		return nil, nil
	}
	stride := 1
	if s.IndependentWarps {
		stride = s.Warps
	}
	before := s.Executor.Work()
	limit := int64(glanceWork)
	if s.DataDecides {
		limit = dataWork
	}
	for k := len(points); k < maxGlances && s.Executor.Work()-before < limit; k++ {
		one, err := s.strided(s.cta(k), k%stride, stride)
		if err != nil {
			return nil, err
		}
		like := traced.Warps
		if stride > 1 {
			like = like[k%stride:][:1]
		}
		points = append(points, point{k, one})
		if one.off(LengthOf(s.Kernel, like).times(float64(len(traced.Warps)/len(like)))) > tolerance {
			return points, nil
		}
	}
	return nil, nil
}

// survey adds CTAs all over the grid to the points. each is the work that a point took.
func (s *sampler) survey(points []point, each int64) ([]point, error) {
	stride := 1
	if s.IndependentWarps {
		stride = max(s.Warps/surveyWarps, 1)
	}
	if surveyWork*int64(stride) < each*most {
		return points, nil // no more than are traced
	}
	seen := map[int64]bool{}
	for _, p := range points {
		seen[s.cta(p.k)] = true
	}
	before := s.Executor.Work()
	for k := len(points); k < Points; k++ {
		if k&(k-1) == 0 && 2*(s.Executor.Work()-before) > surveyWork {
			break // the next as many, which would cover the grid evenly again, are too much work
		}
		id := s.cta(k)
		if seen[id] {
			continue
		}
		seen[id] = true
		one, err := s.strided(id, k%stride, stride)
		if err != nil {
			return nil, err
		}
		points = append(points, point{k, one})
	}
	return points, nil
}

// traced is the length of a CTA by its trace.
func (s *sampler) traced(id int64) (Length, error) {
	cta, err := s.Executor.Trace(id)
	if err != nil {
		return Length{}, err
	}
	return LengthOf(s.Kernel, cta.Warps), nil
}

// length is the length of a CTA, without a trace of it unless there is one. The path
// of the CTA in the middle, which was traced, is that of all CTAs where these have the same.
func (s *sampler) length(id int64) (Length, error) {
	if s.Executor.Traced(id) {
		return s.traced(id)
	}
	if work := s.Executor.PathWork(s.Middle); s.SamePath && work < s.left() {
		s.Executor.Charge(work)
		s.sample.Work += work
		return s.traced(s.Middle)
	}
	return s.path(id, 0)
}

// strided is the length of a CTA by each stride-th of its warps from first on. Other strides
// than 1 are for independent warps.
func (s *sampler) strided(id int64, first, stride int) (Length, error) {
	if stride == 1 {
		return s.path(id, 0)
	}
	some, n := uint32(0), 0
	for w := first; w < s.Warps; w += stride {
		some |= 1 << w
		n++
	}
	sum, err := s.path(id, some)
	return sum.times(float64(s.Warps) / float64(n)), err
}

// path is the length of some warps of a CTA, of all for 0, without a trace.
func (s *sampler) path(id int64, warps uint32) (Length, error) {
	before := s.Executor.Work()
	w, err := s.Executor.Path(id, warps)
	if err != nil {
		return Length{}, err
	}
	s.sample.Work += s.Executor.Work() - before
	return LengthOf(s.Kernel, w), nil
}
