package replay

import "math"

// Score is what a strategy achieved on a record, over seeds.
type Score struct {
	Space    string  `json:"space"`
	Strategy string  `json:"strategy"`
	Seeds    int     `json:"seeds"`
	Budget   int     `json:"budget"`
	Delay    int     `json:"delay"`
	Used     float64 `json:"evaluations"` // mean; less than Budget if the strategy stopped early
	Points   []Point `json:"points"`
	Last     Point   `json:"last"` // after Budget evaluations
	Within5  Reach   `json:"within_5_percent"`
	Within1  Reach   `json:"within_1_percent"`
	// Area is the field's score (Willemsen et al., "A methodology for comparing optimization algorithms for
	// auto-tuning", FGCS 159, 2024), in evaluations instead of time. It is the part that is closed of the gap
	// between random search and the optimum. It is a mean over the evaluations (at most Budget) until random search
	// would be 95 % of the way from the median to the optimum. 0 is random search, 1 the optimum at once.
	Area float64 `json:"area"`
	// Curve is the mean over seeds of best over optimum, by evaluation.
	Curve []float64 `json:"curve"`
	// ratios are best over optimum by point and seed.
	ratios [][]float64
}

// Point is the mean of best over optimum after so many evaluations.
type Point struct {
	Evaluations int     `json:"evaluations"`
	Ratio       float64 `json:"best_over_optimum"`
	Error       float64 `json:"standard_error"` // of the mean
}

// Reach says how soon seeds came near the optimum.
type Reach struct {
	Seeds       int     `json:"seeds"`       // that did within the budget
	Evaluations float64 `json:"evaluations"` // mean; those that did not count as the budget
}

// Marks are the numbers of evaluations that scores quote.
var Marks = []int{25, 50, 100, 200, 400}

// NewScore scores the curves of a strategy, one a seed, each of at most budget
// evaluations. Until a run has a valid observation its best counts as the worst
// time of the record.
func NewScore(r *Record, strategy string, budget, delay int, curves []Curve) Score {
	s := Score{Space: r.Name, Strategy: strategy, Seeds: len(curves), Budget: budget, Delay: delay}
	optimum, worst := r.Optimum(), r.sorted[len(r.sorted)-1]
	for n := 1; n <= budget; n++ {
		sum := 0.0
		for _, c := range curves {
			sum += min(c.at(n), worst)
		}
		s.Curve = append(s.Curve, sum/float64(len(curves))/optimum)
	}
	after := func(n int) (ratios []float64, p Point) {
		ratios = make([]float64, len(curves))
		for k, c := range curves {
			ratios[k] = min(c.at(n), worst) / optimum
		}
		return ratios, Point{n, s.Curve[n-1], standardError(ratios)}
	}
	for _, n := range Marks {
		if n > budget {
			break
		}
		ratios, p := after(n)
		s.ratios, s.Points = append(s.ratios, ratios), append(s.Points, p)
	}
	_, s.Last = after(budget)
	used := 0
	for _, c := range curves {
		used += len(c)
	}
	s.Used = float64(used) / float64(len(curves))
	s.Within5 = reach(curves, 1.05*optimum, budget)
	s.Within1 = reach(curves, 1.01*optimum, budget)
	s.Area = r.area(s.Curve)
	return s
}

// standardError returns that of the mean of a sample; 0 for a single one.
func standardError(sample []float64) float64 {
	n, sum, square := float64(len(sample)), 0.0, 0.0
	for _, v := range sample {
		sum += v
	}
	for _, v := range sample {
		square += (v - sum/n) * (v - sum/n)
	}
	if n < 2 {
		return 0
	}
	return math.Sqrt(square / (n - 1) / n)
}

func reach(curves []Curve, bound float64, budget int) Reach {
	var r Reach
	for _, c := range curves {
		n, ok := c.to(bound)
		if ok {
			r.Seeds++
		} else {
			n = budget
		}
		r.Evaluations += float64(n) / float64(len(curves))
	}
	return r
}

// area returns the mean share of the gap closed by a curve of best over optimum.
func (r *Record) area(curve []float64) float64 {
	optimum := r.Optimum()
	enough := r.Median() - 0.95*(r.Median()-optimum)
	sum, n := 0.0, 0
	for k, best := range curve {
		random := r.Random(k + 1)
		if random <= optimum {
			break
		}
		sum += (random - best*optimum) / (random - optimum)
		n++
		if random <= enough {
			break
		}
	}
	return sum / math.Max(1, float64(n))
}

// Random returns the expected best time of n evaluations drawn without
// repetition, exactly: the k-th best of N is the best drawn with probability
// C(N-k, n-1) / C(N, n). Draws without a valid configuration count as the worst
// time.
func (r *Record) Random(n int) float64 {
	total := len(r.Time)
	if n >= total {
		return r.Optimum()
	}
	p, rest, mean := float64(n)/float64(total), 1.0, 0.0
	for k, t := range r.sorted {
		mean += p * t
		rest -= p
		p *= max(0, float64(total-k-n)) / float64(total-k-1)
	}
	return mean + max(rest, 0)*r.sorted[len(r.sorted)-1]
}
