package footprint

// Ambiguous reports whether CTAs surveyed in a direction touched granules of earlier CTAs and
// may have done so because several CTAs share a granule, each using a part: then more CTAs must
// be surveyed to tell how many. It is so where CTAs write the same granules, since each writes
// bytes of its own, and where they read nothing new by an instruction that reads parts of
// granules (partial, by instruction).
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
