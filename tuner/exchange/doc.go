// Package exchange reads and writes the results of other tuners: T4 result
// files (the tuning community's JSON, schema 1.0.0) and Kernel Tuner's cache
// files; KTT's own results it reads. Each holds one run: what became of
// configurations of one kernel on one device at one problem size.
//
// It knows these formats only. It does not decide what a foreign time is
// worth: times measured elsewhere rank configurations, they are not results of
// this simulator.
package exchange

import (
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// Run is the content of a file.
type Run struct {
	Kernel  string // "" when the format or the file does not say
	Device  string // product name, e.g. "NVIDIA A100-PCIE-40GB"; "" when not said
	Problem []int64
	Params  []string // the parameters' names, in the order of every Trial's Config
	Trials  []Trial
	Odd     Odd // entries that no trial could be made of
	// Provenance says who made the times and how, as text by name. It is
	// written under the key "warptune", which other tools pass over, and read
	// back from there.
	Provenance map[string]string
}

// Trial is one configuration and what became of it.
type Trial struct {
	Config   []search.Value
	Validity tuner.Validity
	TimeUS   float64 // microseconds; 0 unless Correct
	// Measurements are further numbers by name; files of others have many.
	Measurements []Measurement
}

// Measurement is a further number of a trial.
type Measurement struct {
	Name  string
	Value float64
	Unit  string
}

// perMS is how many microseconds both formats' unit, the millisecond, has.
const perMS = 1000
