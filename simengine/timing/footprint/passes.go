package footprint

import "slices"

// A CTA that walks its data twice, as a norm that takes the mean first, comes back to all of it. Where iterations of the
// first walk are left out of the trace, and none of the second, the second comes to lines that the first has passed over
// unseen. They are told by the range of the first one, which as many granules as it stands for fill.

// walk is where the CTA surveyed reads by an instruction.
type walk struct {
	cta          int16
	low, high    uint64 // lines
	granules     int64  // that it stands for
	began, ended int64  // granules that the CTA had touched
	from, to     int64  // lines that the first CTA had, each as often as touched
}

// walks records that the CTA reads of a line by an instruction.
func (s *Survey) walks(pc int32, line uint64, granules int64) {
	w := &s.walked[pc]
	if w.cta != s.cta {
		*w = walk{cta: s.cta, low: line, high: line, began: s.made, from: s.distances.total.stands}
	}
	if s.skipped[pc] && !slices.Contains(s.leftOut, pc) {
		s.leftOut = append(s.leftOut, pc)
	}
	w.low, w.high, w.granules = min(w.low, line), max(w.high, line), w.granules+granules
	w.ended, w.to = s.made, s.distances.total.stands
}

// filled is the share of the granules of its range from which on a walk is taken to have been everywhere.
const filled = 0.8

// passed reports whether earlier walks of the CTA, of which iterations are left out, have passed over a line that an
// instruction reads, and how many lines ago.
func (s *Survey) passed(pc int32, line uint64) (ago int64, found bool) {
	if len(s.leftOut) == 0 || s.skipped[pc] {
		return 0, false
	}
	began := s.made
	if w := &s.walked[pc]; w.cta == s.cta {
		began = w.began
	}
	var granules int64
	for _, p := range s.leftOut {
		w := &s.walked[p]
		if p == pc || w.ended > began || line < w.low || w.high < line {
			continue
		}
		granules += w.granules
		if length := w.high - w.low + 1; float64(granules) >= filled*float64(length*s.perLine) {
			then := w.from + int64(float64(w.to-w.from)*float64(line-w.low)/float64(length))
			s.parent.Join(pc, p)
			return s.distances.total.stands - then, true
		}
	}
	return 0, false
}
