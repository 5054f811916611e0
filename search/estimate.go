package search

// Estimator is a strategy that says what it believes is left to gain, as
// strategies do that learn a model of the objective.
type Estimator interface {
	// Estimate returns what is believed now; false: too little is known, or the
	// strategy learns no model. It does not change what is asked next, and
	// costs as much as some questions.
	Estimate() (Estimate, bool)
}

// Estimate is a belief about the best configuration not told yet, as a share of
// the best objective told: 0.05 says that the best one there is takes 95 % of
// the time of the best one known. It is a model's belief and no bound: a model
// that has gone astray is wrong about that too.
type Estimate struct {
	Gain   float64 // expected, 0 to 1; nothing better counts as 0
	AtMost float64 // believed to be exceeded with a probability of 5 %
}
