package calibrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"sort"
)

// Result is one line of the suite's output.
type Result struct {
	Name   string         `json:"name"`
	Params map[string]any `json:"params"` // numbers are float64
	Value  float64        `json:"value"`
	Unit   string         `json:"unit"`
}

// Results is a suite's output in its order.
type Results []Result

// Parse reads JSON lines. Empty lines are skipped; anything else that is not a
// result is an error naming its line.
func Parse(content []byte) (Results, error) {
	var all Results
	for i, line := range bytes.Split(content, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		var r Result
		if err := dec.Decode(&r); err != nil {
			return nil, fmt.Errorf("calibration results, line %d: %w", i+1, err)
		}
		if r.Name == "" {
			return nil, fmt.Errorf("calibration results, line %d: no name", i+1)
		}
		all = append(all, r)
	}
	return all, nil
}

// where returns the results of a name whose params hold every given pair:
// where("pipe.rate", "op", "ffma", "warps", 16).
func (r Results) where(name string, pairs ...any) Results {
	var found Results
	for _, one := range r {
		if one.Name == name && one.has(pairs) {
			found = append(found, one)
		}
	}
	return found
}

func (r *Result) has(pairs []any) bool {
	for i := 0; i+1 < len(pairs); i += 2 {
		want := pairs[i+1]
		if n, ok := want.(int); ok {
			want = float64(n)
		}
		if r.Params[pairs[i].(string)] != want {
			return false
		}
	}
	return true
}

// param is a numeric parameter, NaN when it is missing.
func (r *Result) param(name string) float64 {
	if v, ok := r.Params[name].(float64); ok {
		return v
	}
	return math.NaN()
}

// between keeps results whose parameter lies in [low, high].
func (r Results) between(param string, low, high float64) Results {
	var found Results
	for _, one := range r {
		if v := one.param(param); v >= low && v <= high {
			found = append(found, one)
		}
	}
	return found
}

// by sorts a copy by a parameter.
func (r Results) by(param string) Results {
	sorted := append(Results(nil), r...)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].param(param) < sorted[j].param(param) })
	return sorted
}

// The summaries are NaN for no results, so that a missing measurement never
// becomes a figure.

func (r Results) first() float64 {
	if len(r) == 0 {
		return math.NaN()
	}
	return r[0].Value
}

func (r Results) most() float64 {
	best := math.NaN()
	for _, one := range r {
		if !(one.Value <= best) {
			best = one.Value
		}
	}
	return best
}

func (r Results) median() float64 {
	if len(r) == 0 {
		return math.NaN()
	}
	values := make([]float64, len(r))
	for i, one := range r {
		values[i] = one.Value
	}
	sort.Float64s(values)
	return values[len(values)/2]
}
