package page

import (
	"context"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// Source tells what the page shows: a coordinator, as cmd sees it. It is safe for concurrent use.
type Source interface {
	// Name is where it all comes from, in words; Engine the version of the simulator that explains.
	Name() string
	Engine() string
	// Sweeps are all sweeps, newest first, without their failures, and how many records are damaged.
	Sweeps(ctx context.Context) (sweeps []tuner.Sweep, damaged int, err error)
	// Sweep is one of them, with its failures.
	Sweep(ctx context.Context, id string) (tuner.Sweep, error)
	Workers(ctx context.Context) ([]tuner.WorkerStatus, error)
	// Results sends the results of a sweep by their trials, from one on, at most limit (0: all), a batch at a time. Of the
	// metrics only those named are needed; nil: all.
	Results(ctx context.Context, id string, from, limit int64, metrics []string, take func(*Batch) error) error
	// Device is the architecture of a sweep.
	Device(ctx context.Context, s *tuner.Sweep) (*Device, error)
	// Explain simulates configurations of a sweep again. The schema, the sweep and the trials are the caller's to fill in.
	Explain(ctx context.Context, s *tuner.Sweep, configs []search.Config) (*Explained, error)
}

// Batch is some results of a sweep.
type Batch struct {
	Names   []string // of the parameters; in the first batch at least
	Results []Result
	// Damaged are trials whose records are damaged in the store.
	Damaged []int64
}

// Result is the end of one trial.
type Result struct {
	tuner.Result
	Values []search.Value
	Level  string
}

// Device is what documents need to know of an architecture.
type Device struct {
	Arch
	Expected ExpectedError
	Caution  string
	// Ties reports whether a configuration may as well be as fast as the one predicted fastest: over is its time over that
	// one's, sampling the errors that both say sampling adds.
	Ties func(over float64, sampling ...float64) bool
	// Use is how near units come to their peaks by an outcome's counters, the nearest first.
	Use func(*tuner.Outcome) []NamedNumber
}

// unitOf are the names of Use that levels of memory are.
var unitOf = map[string]string{"shared": "lsu", "l1": "lsu", "l2": "l2", "dram": "dram"}
