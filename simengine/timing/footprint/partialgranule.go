package footprint

// Ambiguous says that CTAs surveyed in a direction touched granules of earlier
// ones and may have done so because several share a granule, each using a part
// of it: then more of them must be surveyed to tell how many. Where CTAs write
// the same granules that is so, for each writes bytes of its own; where they
// read nothing new, if partial says that the instruction reads parts.
func (s *Survey) Ambiguous(d Direction, partial []bool) bool {
	pcs := len(s.parent) / 2
	for pc := range pcs {
		store := pcs + pc
		if s.fresh[store][d] < s.distinct[store][d] {
			return true
		}
		if partial[pc] && s.fresh[pc][d] == 0 && s.distinct[pc][d] > 0 {
			return true
		}
	}
	return false
}
