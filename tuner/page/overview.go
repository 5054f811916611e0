package page

import (
	"context"
	"time"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// Overview is all sweeps and who works on them.
type Overview struct {
	Schema string `json:"schema"`
	// Source is where it comes from, in words: a database file, a coordinator's address, or "report".
	Source string `json:"source"`
	// Static says that it is a report: nothing changes, and explanations are there for the best few only.
	Static bool `json:"static,omitempty"`
	// User is who is logged in, "" where nobody has to.
	User string `json:"user,omitempty"`
	Role string `json:"role,omitempty"`
	// Engine is the version of the simulator that explains.
	Engine  string   `json:"engine"`
	Sweeps  []Sweep  `json:"sweeps"` // newest first
	Workers []Worker `json:"workers"`
	// DamagedSweeps is how many sweeps' records are damaged in the store and not listed.
	DamagedSweeps int `json:"damaged_sweeps,omitempty"`
}

// Sweep is the state of one sweep.
type Sweep struct {
	ID      string  `json:"id"`
	Kernel  string  `json:"kernel"`
	Problem []int64 `json:"problem"`
	Arch    Arch    `json:"arch"`
	// Strategy is the search strategy; Levels are "cycle", "model", or both: the first ranks, the last evaluates.
	Strategy string   `json:"strategy"`
	Levels   []string `json:"levels"`
	Owner    string   `json:"owner,omitempty"` // of the credential that it was submitted with
	// State is "running", "paused", "completed", "cancelled", "failed" or "deleting"; Message says why, if it failed, or
	// on what workers disagree.
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
	Counts  Counts `json:"counts"`
	// SubmittedMS and EndedMS are Unix milliseconds, EndedMS 0 while it has not.
	SubmittedMS int64 `json:"submitted_ms"`
	EndedMS     int64 `json:"ended_ms"`
	// ResultsPerSecond is evaluated lately; LeftSeconds how long the rest takes as things go, null where that is not known
	// (too little is evaluated yet, or nothing goes on). LeftAtMost says that the sweep may end before: that its strategy or a rule decides.
	ResultsPerSecond float64  `json:"results_per_second"`
	LeftSeconds      *float64 `json:"left_seconds"`
	LeftAtMost       bool     `json:"left_at_most,omitempty"`
	Workers          int      `json:"workers"` // that hold trials of it
	Best             *Best    `json:"best"`    // null: none is valid so far
	// Failures has one example of each kind; data/sweeps/ID/failures has all.
	Failures []Failure `json:"failures"`
	// SetAside are workers that could evaluate for it and are given nothing for a while, DistrustedWorkers those found
	// wrong: no outcome is theirs.
	SetAside          []Aside `json:"set_aside,omitempty"`
	DistrustedWorkers []Aside `json:"distrusted_workers,omitempty"`
	// Caution says what is not verified of the architecture, "" for nothing.
	Caution string `json:"caution,omitempty"`
	// ProvenGapShare: the best takes at most 1 + this times as long as the fastest of those looked at; null: not known.
	ProvenGapShare *float64 `json:"proven_gap_share"`
	// ExpectedGainShare is what the strategy believes is left to gain of the best time, null where it does not say.
	ExpectedGainShare *float64 `json:"expected_gain_share"`
	// Revision changes whenever the documents of the sweep do.
	Revision string `json:"revision"`
}

// Counts are numbers of trials.
type Counts struct {
	Space     int64 `json:"space"`     // configurations in the space
	Total     int64 `json:"total"`     // most trials there can be
	Asked     int64 `json:"asked"`     // by the strategy so far
	Queued    int64 `json:"queued"`    // of those, waiting
	Leased    int64 `json:"leased"`    // of those, with workers
	Done      int64 `json:"done"`      // of those, with an outcome of any kind
	Abandoned int64 `json:"abandoned"` // of those, given up
	Reused    int64 `json:"reused"`    // of those done, answered by results stored earlier
	Requeued  int64 `json:"requeued"`  // leases that were lost or ended in a worker's fault
	// ByValidity counts those done: correct, constraints, compile, runtime, timeout, correctness.
	ByValidity map[string]int64 `json:"by_validity"`
}

// Best is the best configuration so far.
type Best struct {
	Trial      int64         `json:"trial"`
	Parameters search.Config `json:"parameters"`
	TimeUS     float64       `json:"time_us"` // predicted
	Bound      string        `json:"bound"`
	// Confirmed says that another worker came to the same outcome.
	Confirmed bool `json:"confirmed"`
}

// Failure is one configuration that is not valid.
type Failure struct {
	Trial    int64  `json:"trial"`
	Validity string `json:"validity"` // or "abandoned"
	// Config is "NAME=V,NAME=V", "" where it is not known.
	Config  string `json:"config"`
	Message string `json:"message"`
}

// Aside is a worker that is not used, and why.
type Aside struct {
	Worker string `json:"worker"`
	Why    string `json:"why"`
}

// Worker is a worker seen lately.
type Worker struct {
	Name     string `json:"name"`
	Slots    int    `json:"slots"` // evaluations at a time
	Engine   string `json:"engine"`
	Held     int    `json:"held"`     // trials that it holds
	Reported int64  `json:"reported"` // results in this session
	// SilentSeconds is since it was last heard of, whole seconds.
	SilentSeconds int64             `json:"silent_seconds"`
	Draining      bool              `json:"draining,omitempty"`  // it takes no more
	Refused       string            `json:"refused,omitempty"`   // why it is given nothing of some sweep
	SetAside      string            `json:"set_aside,omitempty"` // why it is given nothing for a while
	Labels        map[string]string `json:"labels,omitempty"`
}

// fresh is how long an overview is answered again: so many browsers ask no more often than one.
const fresh = 500 * time.Millisecond

// overview is all sweeps and workers now, or half a second ago.
func (s *sweeps) overview(ctx context.Context) (*Overview, error) {
	s.overviewMu.Lock()
	defer s.overviewMu.Unlock()
	now := s.now()
	if s.last == nil || now.Sub(s.lastAt) >= fresh || now.Before(s.lastAt) {
		o, err := s.look(ctx)
		if err != nil {
			return nil, err
		}
		s.last, s.lastAt = o, now
	}
	o := *s.last
	return &o, nil
}

func (s *sweeps) look(ctx context.Context) (*Overview, error) {
	all, damaged, err := s.source.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	workers, err := s.source.Workers(ctx)
	if err != nil {
		return nil, err
	}
	o := &Overview{Schema: OverviewSchema, Source: s.source.Name(), Engine: s.source.Engine(), Sweeps: []Sweep{}, Workers: []Worker{}, DamagedSweeps: damaged}
	examples := map[string]examples{}
	for i := range all {
		t := &all[i]
		if failed(t) {
			examples[t.ID] = s.examplesOf(ctx, t)
			t.Examples = examples[t.ID].list
		}
		d, err := s.source.Device(ctx, t)
		if err != nil {
			return nil, err
		}
		o.Sweeps = append(o.Sweeps, sweepOf(t, d))
	}
	s.examples = examples
	for i := range workers {
		o.Workers = append(o.Workers, workerOf(&workers[i]))
	}
	return o, nil
}

// examples are a sweep's failures at a revision.
type examples struct {
	revision string
	list     []tuner.Example
}

// examplesOf are a sweep's failures, which are asked for when it has changed. Without them it is shown nevertheless.
func (s *sweeps) examplesOf(ctx context.Context, t *tuner.Sweep) examples {
	now := revision(t)
	if known, ok := s.examples[t.ID]; ok && known.revision == now {
		return known
	}
	full, err := s.source.Sweep(ctx, t.ID)
	if err != nil {
		return s.examples[t.ID]
	}
	return examples{now, full.Examples}
}

// failed reports whether any trial of a sweep is not valid.
func failed(s *tuner.Sweep) bool {
	return s.Counts.Abandoned > 0 || s.Counts.Done > s.Counts.ByValidity[tuner.Correct]
}

func sweepOf(s *tuner.Sweep, d *Device) Sweep {
	c := &s.Counts
	o := Sweep{
		ID: s.ID, Kernel: s.Spec.Kernel, Problem: s.Spec.Problem, Arch: d.Arch, Strategy: s.Spec.Strategy, Levels: s.Spec.Levels(), Owner: s.Owner,
		State: s.State.String(), Message: s.Message, SubmittedMS: s.Submitted.UnixMilli(), ResultsPerSecond: s.Rate, Workers: s.Workers,
		Counts: Counts{
			Space: c.Space, Total: c.Total, Asked: c.Asked, Queued: c.Queued, Leased: c.Leased, Done: c.Done, Abandoned: c.Abandoned,
			Reused: c.Reused, Requeued: c.Requeued, ByValidity: map[string]int64{},
		},
		Failures: []Failure{}, Caution: d.Caution, Revision: revision(s),
	}
	if o.Problem == nil {
		o.Problem = []int64{}
	}
	for _, v := range tuner.Validities() {
		o.Counts.ByValidity[v.String()] = c.ByValidity[v]
	}
	if !s.Ended.IsZero() {
		o.EndedMS = s.Ended.UnixMilli()
	}
	if s.State == tuner.Running && s.TimeLeft > 0 {
		seconds := s.TimeLeft.Seconds()
		o.LeftSeconds = &seconds
		o.LeftAtMost = s.Spec.Patience > 0 || s.Spec.Negligible > 0 || s.Spec.TimeBudget > 0
	}
	if s.Best != nil {
		o.Best = bestOf(s)
	}
	for _, e := range s.Examples {
		o.Failures = append(o.Failures, Failure{Trial: e.Seq, Validity: e.Kind, Config: e.Config, Message: e.Message})
	}
	for _, a := range s.Aside {
		o.SetAside = append(o.SetAside, Aside{a.Worker, a.Why})
	}
	for _, w := range s.Distrusted {
		o.DistrustedWorkers = append(o.DistrustedWorkers, Aside{w.Worker, w.Why})
	}
	if s.Proof.Gap >= 0 && s.Proof.Of > 0 {
		o.ProvenGapShare = &s.Proof.Gap
	}
	if s.Left != nil {
		o.ExpectedGainShare = &s.Left.Gain
	}
	return o
}

// bestOf is the best of a sweep that has one.
func bestOf(s *tuner.Sweep) *Best {
	b := s.Best
	return &Best{Trial: b.Seq, Parameters: search.Config{Names: s.Names, Values: s.BestValues}, TimeUS: b.Outcome.TimeUS, Bound: b.Outcome.Bound, Confirmed: s.Confirmed}
}

func workerOf(w *tuner.WorkerStatus) Worker {
	return Worker{
		Name: w.Worker.ID, Slots: w.Worker.Slots, Engine: w.Worker.Engine, Held: w.Held, Reported: w.Reported, SilentSeconds: int64(w.Silent.Seconds()),
		Draining: w.Draining, Refused: w.Refused, SetAside: w.Aside, Labels: w.Worker.Labels,
	}
}
