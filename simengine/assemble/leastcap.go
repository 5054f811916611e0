package assemble

import "github.com/warptune/warptune/simengine/assemble/target"

// LeastCap returns the smallest register cap, per thread, that the assembler honours
// for a compute capability: a smaller one is raised to it. 0: it is not modelled.
func LeastCap(cc [2]int) int {
	t, err := target.For(cc)
	if err != nil {
		return 0
	}
	return t.MinCap
}
