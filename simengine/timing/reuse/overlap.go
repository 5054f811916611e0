package reuse

// SharedStores says that a CTA surveyed in a direction wrote granules that an
// earlier one wrote: CTAs write bytes of their own, so several share a granule,
// and more of them must be surveyed to tell how many.
func (s *Survey) SharedStores(d Direction) bool {
	pcs := len(s.parent) / 2
	for id := pcs; id < 2*pcs; id++ {
		if s.fresh[id][d] < s.distinct[id][d] {
			return true
		}
	}
	return false
}
