// Package search knows search spaces and strategies: parameters, constraints
// and configurations, how to count, index, enumerate and sample the valid ones
// without materialising them, and the Ask/Tell interface of strategies.
//
// It does not know kernels, GPUs, files or clocks: it is pure, and everything
// random is seeded by an argument.
package search

// Observation is what came of one configuration, told to a strategy.
type Observation struct {
	Index     int64   // of the configuration in the space
	Objective float64 // to be minimised; meaningless unless Valid
	Valid     bool    // false: the configuration has no objective (failed)
}

// Prior has objectives that were predicted, by index of the configuration. What is no positive
// finite number, or of no configuration, is none.
type Prior map[int64]float64

// Strategy decides which configurations to evaluate next. It is pure: the
// space, the seed and the observations in the order told determine the
// questions. It never asks for a configuration twice. It is not safe for
// concurrent use.
type Strategy interface {
	// Ask returns up to n indices to evaluate next. An empty answer while
	// Done is false means that observations are needed first.
	Ask(n int) []int64
	// Tell reports observations of configurations asked earlier, or of others
	// known already.
	Tell(obs ...Observation)
	// Done reports that nothing is left to ask.
	Done() bool
}

// Shedder is a Strategy that keeps what it could compute again.
type Shedder interface {
	// Shed lets go of it. Questions stay the same; the next takes longer.
	Shed()
}
