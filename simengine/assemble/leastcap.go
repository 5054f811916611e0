package assemble

// LeastCap returns the smallest register cap, per thread, that the assembler honours
// for a compute capability: a smaller one is raised to it. 0: it is not modelled.
func LeastCap(cc [2]int) int {
	t, err := targetFor(cc)
	if err != nil {
		return 0
	}
	return t.minCap
}
