package tuner

import (
	"math"
	"time"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/halving"
)

// TrialState is where a trial stands. The zero value is invalid.
type TrialState uint8

// States of a trial.
const (
	TrialInvalid TrialState = iota
	Queued
	Leased
	Done
	Abandoned
)

// String returns the state's name.
func (s TrialState) String() string {
	return [...]string{"invalid", "queued", "leased", "done", "abandoned"}[s%5]
}

// trial is a question that the strategy asked and has not been told the answer
// of.
type trial struct {
	index    int64
	token    uint64         // of the last grant, 0: never granted
	granted  time.Duration  // Ledger.awake at the last grant
	holder   string         // session of the last grant
	reason   string         // why the last attempt that failed did
	values   []search.Value // of the configuration; nil until they are first wanted
	time     float64        // Outcome.TimeUS
	floor    float64        // Outcome.FloorUS
	attempts int32          // how often it was granted
	doubt    *doubt
	state    TrialState
	valid    bool // the outcome is Correct
	returned bool // by its last holder, who has failed or given it back
}

// worker returns the worker it was granted to last.
func (t *trial) worker() string { return workerOf(t.holder) }

func (t *trial) ended() bool { return t.state == Done || t.state == Abandoned }

// course drives a strategy so that its questions do not depend on when answers
// arrive: question s is asked once the observations of all trials up to
// s-ahead(s) are told, in order, and no others. Trials exist from their question
// until they are told.
//
// With two levels the first questions, the strategy's, rank; when all of them
// are told the others follow, those of the ranking.
type course struct {
	strategy search.Strategy
	size     int64 // of the space
	limit    int64 // most questions
	window   int64 // Sweep.Window
	goal     halving.Goal

	ranks  bool  // the present questions rank, and others will follow
	ranked int64 // how many questions ranked, once they are over
	narrow int64 // how far questions may run ahead then
	// candidates are the configurations that ranking has told.
	candidates []halving.Candidate
	cut        bool // ranking is to end with what has been asked
	// proof keeps what is known of the candidates; nil while there is nothing.
	proof *halving.Ledger

	told   int64   // trials before it are told and forgotten
	trials []trial // trials[head+i] is trial told+i
	head   int
	one    [1]search.Observation // what is being told
	needed int64                 // how many must be told before the next question
	over   bool                  // nothing is left to ask
}

func newCourse(plan *Plan, spec *Spec, window int64) course {
	c := course{strategy: plan.Strategy, size: plan.Space.Size(), window: window, goal: halving.Goal{Most: spec.Budget, Within: -1}}
	if spec.Within != nil {
		c.goal.Within = *spec.Within
	}
	c.ranks = len(spec.Levels()) > 1
	c.limit = c.size
	switch {
	case spec.Budget == 0:
	case c.ranks && spec.Budget < c.size/halving.Share:
		c.limit = spec.Budget * halving.Share // of which that share is evaluated
	case !c.ranks:
		c.limit = min(c.limit, spec.Budget)
	}
	return c
}

// ahead is how far question seq may run ahead of the answers.
func (c *course) ahead(seq int64) int64 {
	const least = 4
	switch {
	case c.narrow > 0:
		return c.narrow
	case c.window > 0:
		return c.window
	}
	return min(max(seq/8, least), WideWindow)
}

// total is how many questions there will be at most, as far as that is known:
// of those that follow ranking, those that are sure to be.
func (c *course) total() int64 {
	switch {
	case c.over:
		return c.next()
	case c.ranks:
		return c.limit + c.evaluations(c.limit)
	case c.ranked > 0:
		return max(c.next(), min(c.limit, c.ranked+c.evaluations(int64(len(c.candidates)))))
	}
	return c.limit
}

// evaluations is how many of n ranked configurations are evaluated at least.
func (c *course) evaluations(n int64) int64 {
	most := int64(halving.First(int(n)))
	if c.goal.Most > 0 {
		most = min(most, c.goal.Most)
	}
	return most
}

// next returns the number of the next question.
func (c *course) next() int64 { return c.told + int64(len(c.trials)-c.head) }

// at returns a trial, nil if it is forgotten or was not asked yet.
func (c *course) at(seq int64) *trial {
	if seq < c.told || seq >= c.next() {
		return nil
	}
	return &c.trials[c.head+int(seq-c.told)]
}

// ask has the strategy ask the next question. False means that there is none
// now: for ever if c.over, else until more trials have ended.
func (c *course) ask() (seq int64, ok bool, err error) {
	for !c.over {
		seq = c.next()
		if seq >= c.limit || c.ranks && c.cut {
			if !c.ascend() {
				return 0, false, nil
			}
			continue
		}
		c.needed = max(c.needed, seq-c.ahead(seq)+1)
		if !c.tell() {
			return 0, false, nil
		}
		asked := c.strategy.Ask(1)
		if len(asked) > 0 {
			if asked[0] < 0 || asked[0] >= c.size {
				return 0, false, Errorf(Internal, "ask strategy", "it asks for configuration %d of %d", asked[0], c.size)
			}
			c.trials = append(c.trials, trial{index: asked[0], state: Queued})
			return seq, true, nil
		}
		if c.strategy.Done() || c.told == seq { // it asks nothing though it was told all
			if !c.ascend() {
				return 0, false, nil
			}
			continue
		}
		c.needed = c.told + 1
	}
	return 0, false, nil
}

// estimate returns what the strategy believes is left to gain; nil when it does
// not say, or nothing is left.
func (c *course) estimate() *search.Estimate {
	e, ok := c.strategy.(search.Estimator)
	if !ok || c.told == c.size {
		return nil
	}
	if left, ok := e.Estimate(); ok {
		return &left
	}
	return nil
}

// rank notes what ranking told of a configuration. One that failed fails at any
// level; one that was given up may not.
func (c *course) rank(t *trial) {
	switch {
	case t.valid:
		c.candidates = append(c.candidates, halving.Candidate{Index: t.index, Time: t.time, Floor: t.floor})
	case t.state == Abandoned:
		c.candidates = append(c.candidates, halving.Candidate{Index: t.index, Time: math.Inf(1)})
	}
}

// ascend goes from ranking to what follows it, once all of it is told, or ends
// the course. False: more must be told first.
func (c *course) ascend() bool {
	if !c.ranks {
		c.over = true
		return true
	}
	c.needed = c.next()
	if !c.tell() {
		return false
	}
	c.ranks, c.ranked = false, c.next()
	if len(c.candidates) == 0 {
		c.over = true
		return true
	}
	c.strategy, c.proof = halving.New(c.candidates, c.goal), halving.NewLedger(c.candidates)
	c.limit = c.ranked + int64(len(c.candidates))
	c.narrow = int64(halving.Ahead(len(c.candidates)))
	return true
}

// letGo tells a strategy that ignores what it is told of all trials that it can
// be told of, so that they are not kept until a window that is wide has passed.
func (c *course) letGo() {
	if c.window != WideWindow || c.narrow > 0 {
		return
	}
	for c.head < len(c.trials) && c.trials[c.head].ended() {
		c.needed = max(c.needed, c.told+1)
		c.tell()
	}
}

// tell tells the strategy what it needs before the next question; false if
// some of that is not known yet.
func (c *course) tell() bool {
	for c.told < c.needed {
		t := &c.trials[c.head]
		if !t.ended() {
			return false
		}
		c.one[0] = search.Observation{Index: t.index, Objective: t.time, Valid: t.valid}
		c.strategy.Tell(c.one[:]...)
		if c.ranks {
			c.rank(t)
		}
		*t = trial{}
		c.head++
		c.told++
	}
	if c.head > 1024 && c.head > len(c.trials)/2 {
		n := copy(c.trials, c.trials[c.head:])
		clear(c.trials[n:])
		c.trials, c.head = c.trials[:n], 0
	}
	return true
}
