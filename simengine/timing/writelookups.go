package timing

// WriteLookups is how often a sector that is stored is looked up in an L2 of which data that all SMs touch can use
// effective bytes. What is at home in the far half, half of all there is, is looked up in both halves.
func WriteLookups(effective, l2 int) float64 {
	if effective > 0 && effective < l2 {
		return 1.5
	}
	return 1
}
