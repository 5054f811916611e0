// Package measured reads, for tests, the results of the microbenchmarks on GPUs.
package measured

import (
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
)

// Of reads the microbenchmark results of a name, of an H200.
func Of(t *testing.T, name string) []Measurement {
	t.Helper()
	return On(t, "h200", name)
}

// On reads those of a GPU.
func On(t *testing.T, gpu, name string) []Measurement {
	t.Helper()
	records, err := results.Read[Measurement]("../../../deploy/calibrate/results/" + gpu + ".jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	var out []Measurement
	for _, m := range records {
		if m.Name == name {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no measurement of %s", name)
	}
	return out
}

// Measurement is one result: its parameters, and a value in the unit of its benchmark.
type Measurement struct {
	Name   string
	Params map[string]any
	Value  float64
}

// Int is a parameter that is a whole number, 0 where there is none of the name.
func (m *Measurement) Int(name string) int {
	v, _ := m.Params[name].(float64)
	return int(v)
}

// Text is a parameter that is text, empty where there is none of the name.
func (m *Measurement) Text(name string) string {
	v, _ := m.Params[name].(string)
	return v
}
