package tuner

import (
	"fmt"
	"slices"
	"time"

	"github.com/warptune/warptune/search"
)

// SweepState is where a sweep stands. The zero value is invalid.
type SweepState uint8

// States of a sweep.
const (
	SweepInvalid SweepState = iota
	Running
	Paused
	Completed
	Cancelled
	Failed
	Deleting
	numSweepStates
)

var sweepStateNames = [numSweepStates]string{"invalid", "running", "paused", "completed", "cancelled", "failed", "deleting"}

// String returns the state's name.
func (s SweepState) String() string {
	if s < numSweepStates {
		return sweepStateNames[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// MarshalText writes the state as String does.
func (s SweepState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *SweepState) UnmarshalText(text []byte) error {
	for i, name := range sweepStateNames {
		if i > 0 && name == string(text) {
			*s = SweepState(i)
			return nil
		}
	}
	return Errorf(Invalid, "read sweep state", "%q is no state", text)
}

// Live reports whether the sweep still has work ahead: Running or Paused.
func (s SweepState) Live() bool { return s == Running || s == Paused }

// Ended reports whether the sweep has ended.
func (s SweepState) Ended() bool { return s == Completed || s == Cancelled || s == Failed }

// moves lists the transitions users and events may cause.
var moves = map[SweepState][]SweepState{
	Running:   {Paused, Completed, Cancelled, Failed},
	Paused:    {Running, Completed, Cancelled, Failed},
	Cancelled: {Running, Deleting},
	Failed:    {Running, Deleting},
	Completed: {Deleting},
}

// CanBecome reports whether a sweep in state s may go to state t.
func (s SweepState) CanBecome(t SweepState) bool {
	for _, m := range moves[s] {
		if m == t {
			return true
		}
	}
	return false
}

// Counts are numbers of trials of a sweep.
type Counts struct {
	Space     int64 `json:"space"`     // configurations in the space
	Total     int64 `json:"total"`     // most trials there can be
	Asked     int64 `json:"asked"`     // asked for by the strategy
	Queued    int64 `json:"queued"`    // of those, waiting
	Leased    int64 `json:"leased"`    // of those, with workers
	Done      int64 `json:"done"`      // of those, with an outcome
	Abandoned int64 `json:"abandoned"` // of those, given up
	Reused    int64 `json:"reused"`    // of Done, answered by stored outcomes
	Requeued  int64 `json:"requeued"`  // leases lost or ended in a worker's fault
	// ByValidity counts Done by the outcome's kind.
	ByValidity [numValidities]int64 `json:"by_validity"`
}

// Example stands for all failures of one kind.
type Example struct {
	Kind    string `json:"kind"` // a validity's name, or "abandoned"
	Seq     int64  `json:"seq"`
	Message string `json:"message"`
	// Config is the configuration as Config.String writes it; "": not known.
	Config string `json:"config,omitempty"`
}

// Sweep is a sweep's record: what is stored of it besides its results, and
// what is shown.
type Sweep struct {
	// Num is the sweep's number in its store, never used twice.
	Num uint64 `json:"num"`
	ID  string `json:"id"` // Spec.ID(Key)
	Key string `json:"key,omitempty"`
	// Owner is the name of the credential that it was submitted with; "": none was
	// asked for, or a program of before did not say.
	Owner string `json:"owner,omitempty"`
	Spec  Spec   `json:"spec"`
	// Transferred are the configurations that were asked for first because they
	// are the best of other sweeps, as Config.String writes them. They were
	// chosen when the sweep was made.
	Transferred []string `json:"transferred,omitempty"`
	// Ranked is how many trials, the first ones, rank configurations at the
	// first of two levels; the others are evaluated at the last. 0: ranking goes
	// on, or there is one level.
	Ranked int64 `json:"ranked,omitempty"`
	// Spent is the time during which trials were under way, kept up to a second
	// or so when the spec limits it.
	Spent time.Duration `json:"spent,omitempty"`
	// Proof is what is known of how far Best is from the fastest.
	Proof Proof `json:"proof,omitzero"`
	// Window fixes how far questions may run ahead of answers: question s is asked once the outcomes of all trials
	// up to s-Window are known to the strategy, and no others are. A window of 0 grows with what is known: an
	// eighth of the questions asked. So a strategy learns from nearly all that many workers found, and a few
	// workers are busy from the start. It makes a sweep's course independent of the number and speed of workers.
	Window  int64      `json:"window"`
	Names   []string   `json:"names"` // of the parameters, in the order of Config.Values
	State   SweepState `json:"state"`
	Message string     `json:"message,omitempty"` // why it has failed, or on what workers disagree
	Counts  Counts     `json:"counts"`
	Best    *Result    `json:"best,omitempty"`
	// BestWorker is the worker that evaluated Best.
	BestWorker string `json:"best_worker,omitempty"`
	// Confirmed says that a second worker came to the same outcome of Best.
	Confirmed bool `json:"confirmed,omitempty"`
	// Independent says that the second worker called with another credential: that
	// nobody confirmed himself under two names.
	Independent bool `json:"independent,omitempty"`
	// BestValues is the configuration of Best.
	BestValues []search.Value `json:"best_values,omitempty"`
	Examples   []Example      `json:"examples,omitempty"`
	// Distrusted are workers that were found to be wrong while it ran. It has no
	// outcome of theirs.
	Distrusted []Distrust `json:"distrusted,omitempty"`
	// FailedOn are the workers that failed at what was given up, a line each: name,
	// tab, host; Deadly says that some of it ended them. Retries is how often that
	// was tried again by itself.
	FailedOn string `json:"failed_on,omitempty"`
	Deadly   bool   `json:"deadly,omitempty"`
	Retries  int    `json:"retries,omitempty"`
	// Left is what the strategy believes is left to gain, nil when it does not
	// say. It is brought up to date now and then while the sweep runs.
	Left      *search.Estimate `json:"left,omitempty"`
	Submitted time.Time        `json:"submitted"` // informative
	Ended     time.Time        `json:"ended,omitzero"`

	// Workers and Rate (results per second, lately) are for show and are not
	// stored.
	Workers int `json:"-"`
	// Aside are workers that suit it and are set aside.
	Aside []Aside `json:"-"`
	Rate  float64 `json:"-"`
	// TimeLeft is how long the rest takes as things go, 0: not known. It is not stored.
	TimeLeft time.Duration `json:"-"`
}

// Proof is what is known of how far a sweep's best is from the fastest
// configuration by the sweep's last level.
type Proof struct {
	// Of are the configurations that it speaks of: those with an outcome at some
	// level. The rest of the space was never looked at.
	Of        int64 `json:"of"`
	Evaluated int64 `json:"evaluated"` // at the last level, or failed
	Pruned    int64 `json:"pruned"`    // not evaluated: their floors are above the best
	Open      int64 `json:"open"`      // not evaluated, and might be faster
	// Gap: the best takes at most 1+Gap times as long as the fastest of them. 0:
	// it is the fastest; -1: nothing is known.
	Gap float64 `json:"gap"`
}

// LevelOf returns the level at which a trial is evaluated.
func (s *Sweep) LevelOf(seq int64) string {
	levels := s.Spec.Levels()
	if len(levels) == 1 || s.Decides(seq) {
		return levels[len(levels)-1]
	}
	return levels[0]
}

// Decides reports whether a trial is evaluated at the spec's last level, so
// that its outcome counts.
func (s *Sweep) Decides(seq int64) bool {
	return s.Spec.Level == s.Spec.LastLevel() || s.Ranked > 0 && seq >= s.Ranked
}

// Planned returns the spec with the configurations transferred among those to
// ask for first.
func (s *Sweep) Planned() Spec {
	spec := s.Spec.Clone()
	spec.Start = append(spec.Start, s.Transferred...)
	return spec
}

// Best is the best configuration known for a kernel, an architecture and a
// problem, with all that an answer needs.
type Best struct {
	Sweep  uint64         `json:"sweep"` // Sweep.Num
	ID     string         `json:"id"`    // Sweep.ID
	Spec   Spec           `json:"spec"`
	Result Result         `json:"result"`
	Names  []string       `json:"names"`
	Values []search.Value `json:"values"`
	// Confirmed and Independent are those of Sweep.
	Confirmed   bool `json:"confirmed,omitempty"`
	Independent bool `json:"independent,omitempty"`
	// Missing is how many configurations the sweep has had to give up by now; it is
	// for show and is not stored.
	Missing int64 `json:"-"`
}

// BestOf returns what a sweep's record says of its best; false where it does not say
// all of it.
func BestOf(s *Sweep) (Best, bool) {
	if s.Best == nil || s.BestValues == nil || s.State == Deleting || s.Spec.Strategy == StrategyListed {
		return Best{}, false
	}
	return Best{
		Sweep: s.Num, ID: s.ID, Spec: s.Spec.Clone(), Result: s.Best.Clone(),
		Names: slices.Clone(s.Names), Values: slices.Clone(s.BestValues), Confirmed: s.Confirmed, Independent: s.Independent,
	}, true
}

// unconfirm notes that the best is what one worker says.
func (s *Sweep) unconfirm() { s.Confirmed, s.Independent = false, false }

// outranks reports whether b comes before c, which is for the same kernel, architecture and problem, before their
// times are compared. What is measured comes before cycle-level predictions, and these before model-level ones. The
// later sweep knows better, since kernel, descriptor or engine may have changed.
func (b *Best) outranks(c *Best) bool {
	if bc, cc := levelStanding[b.Spec.LastLevel()], levelStanding[c.Spec.LastLevel()]; bc != cc {
		return bc > cc
	}
	return b.Sweep > c.Sweep
}

// levelStanding orders levels by how much they say.
var levelStanding = map[string]int{"cycle": 1, LevelMeasured: 2}

// Replaces reports whether b should stand in place of c, which is of the same
// scope, kernel, architecture and problem.
func (b *Best) Replaces(c *Best) bool {
	switch bt, ct := b.Result.Outcome.TimeUS, c.Result.Outcome.TimeUS; {
	case bt != ct:
		return bt < ct
	case b.Sweep != c.Sweep:
		return b.Sweep < c.Sweep
	case b.Result.Index != c.Result.Index:
		return b.Result.Index < c.Result.Index
	}
	if b.Independent != c.Independent {
		return b.Independent
	}
	return b.Confirmed && !c.Confirmed
}

// Stands returns which of all, for one kernel, architecture and problem, stands:
// the fastest of those of the scope of the one that outranks the others. There
// must be one.
func Stands(all []Best) Best {
	first := &all[0]
	for i := range all {
		if all[i].outranks(first) {
			first = &all[i]
		}
	}
	best, scope := first, first.Spec.Scope()
	for i := range all {
		if all[i].Spec.Scope() == scope && all[i].Replaces(best) {
			best = &all[i]
		}
	}
	return *best
}
