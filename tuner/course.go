package tuner

import (
	"github.com/warptune/warptune/search"
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
	state    TrialState
	attempts int
	token    uint64 // of the last grant, 0: never granted
	holder   string // session of the last grant
	worker   string // its worker
	reason   string // why the last attempt that failed did
	obs      search.Observation
}

func (t *trial) ended() bool { return t.state == Done || t.state == Abandoned }

// course drives a strategy so that its questions do not depend on when answers
// arrive: question s is asked once the observations of all trials up to
// s-ahead(s) are told, in order, and no others. Trials exist from their question
// until they are told.
type course struct {
	strategy search.Strategy
	size     int64 // of the space
	limit    int64 // most questions
	window   int64 // Sweep.Window

	told   int64   // trials before it are told and forgotten
	trials []trial // trials[head+i] is trial told+i
	head   int
	needed int64 // how many must be told before the next question
	over   bool  // nothing is left to ask
}

func newCourse(plan *Plan, budget, window int64) course {
	c := course{strategy: plan.Strategy, size: plan.Space.Size(), window: window}
	c.limit = c.size
	if budget > 0 {
		c.limit = min(c.limit, budget)
	}
	return c
}

// ahead is how far question seq may run ahead of the answers.
func (c *course) ahead(seq int64) int64 {
	const least = 4
	if c.window > 0 {
		return c.window
	}
	return min(max(seq/8, least), WideWindow)
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
		if seq >= c.limit {
			c.over = true
			break
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
			c.over = true
			break
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

// tell tells the strategy what it needs before the next question; false if
// some of that is not known yet.
func (c *course) tell() bool {
	for c.told < c.needed {
		t := &c.trials[c.head]
		if !t.ended() {
			return false
		}
		c.strategy.Tell(t.obs)
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
