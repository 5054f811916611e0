package replay

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/search"
)

// Belief is what a strategy believed was left to gain at one moment of a run,
// and what was.
type Belief struct {
	search.Estimate
	Left float64 // share of the best time told that the optimum is below it
}

// Beliefs lets a strategy ask and answers it, up to budget questions, and
// returns what it believed after every so many answers; none of a strategy that
// believes nothing.
func Beliefs(r *Record, s search.Strategy, budget, every int) []Belief {
	e, ok := s.(search.Estimator)
	if !ok {
		return nil
	}
	var list []Belief
	best := math.Inf(1)
	for n := 1; n <= budget; n++ {
		next := s.Ask(1)
		if len(next) == 0 {
			break
		}
		best = min(best, r.Time[next[0]])
		s.Tell(r.Observation(next[0]))
		if n%every > 0 {
			continue
		}
		if left, ok := e.Estimate(); ok {
			list = append(list, Belief{left, 1 - r.Optimum()/best})
		}
	}
	return list
}

// Calibration is how beliefs of about the same size compare with what was left.
type Calibration struct {
	Space    string  `json:"space"`
	Strategy string  `json:"strategy"`
	Above    float64 `json:"above"` // least gain believed of these
	Count    int     `json:"count"`
	Believed float64 `json:"believed"` // mean
	Left     float64 `json:"left"`     // mean
	Covered  float64 `json:"covered"`  // share of which no more was left than was said with odds of 95 %
}

// Sizes are the least beliefs of the classes of calibrations.
var Sizes = []float64{0, 0.001, 0.003, 0.01, 0.03, 0.1}

// Calibrate sorts beliefs into classes, of which those that are empty are left
// out.
func Calibrate(space, strategy string, list []Belief) []Calibration {
	classes := make([]Calibration, len(Sizes))
	for _, b := range list {
		k := len(Sizes) - 1
		for Sizes[k] > b.Gain {
			k--
		}
		c := &classes[k]
		c.Count++
		c.Believed += b.Gain
		c.Left += b.Left
		if b.Left <= b.AtMost {
			c.Covered++
		}
	}
	var out []Calibration
	for k, c := range classes {
		if c.Count == 0 {
			continue
		}
		n := float64(c.Count)
		out = append(out, Calibration{space, strategy, Sizes[k], c.Count, c.Believed / n, c.Left / n, c.Covered / n})
	}
	return out
}

// CalibrationTable returns calibrations as text, a row each.
func CalibrationTable(list []Calibration) (header []string, rows [][]string) {
	percent := func(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }
	header = []string{"SPACE", "STRATEGY", "BELIEVED", "TIMES", "MEAN", "LEFT", "COVERED"}
	for _, c := range list {
		rows = append(rows, []string{
			c.Space, c.Strategy, "from " + percent(c.Above), fmt.Sprint(c.Count),
			percent(c.Believed), percent(c.Left), fmt.Sprintf("%.0f %%", 100*c.Covered),
		})
	}
	return header, rows
}
