package coordinator

import (
	"sync"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
)

// commitBounds are the upper bounds of the buckets of Stats.CommitSeconds.
var commitBounds = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5}

// Stats are counters since the coordinator started, and how things stand, for
// monitoring. Only what is durable is counted.
type Stats struct {
	Results   map[string]int64 // by validity, or "abandoned"
	Reused    int64            // of those, answered by stored outcomes
	Granted   int64            // leases granted
	Requeued  int64            // leases lost, faults, trials returned
	Commits   int64
	Failed    int64 // commits that failed
	Records   int64 // stored by commits
	Histogram Histogram

	Checks     tuner.CheckCounts // since the ledger was last made
	Distrusted int64             // workers that are not believed
	Aside      []tuner.Aside     // workers that are set aside
	Incomplete int64             // sweeps that have completed without some configurations

	Sweeps  map[string]int64 // by state
	Queued  int64            // trials ready to be granted
	Left    int64            // trials of live sweeps that have not ended
	Leased  int64
	Workers map[string]int64 // heard of lately, by engine version
	Slots   int64            // of those that are not draining
	Waiting int64            // calls held until there is work
	Down    string           // why nothing can be changed; "" when it can
	Usage   store.Usage      // zero when the store does not say
}

// Histogram counts durations in seconds.
type Histogram struct {
	Bounds []float64 // upper bounds
	Counts []int64   // at most the bound; not cumulative; one more for the rest
	Sum    float64
}

func (h *Histogram) add(seconds float64) {
	if h.Counts == nil {
		h.Bounds, h.Counts = commitBounds, make([]int64, len(commitBounds)+1)
	}
	i := 0
	for i < len(h.Bounds) && seconds > h.Bounds[i] {
		i++
	}
	h.Counts[i]++
	h.Sum += seconds
}

// meter keeps the counters.
type meter struct {
	mu    sync.Mutex
	stats Stats
}

// committed counts what one commit made durable, or that it failed.
func (m *meter) committed(c *tuner.Changes, took time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.stats
	if err != nil {
		s.Failed++
		return
	}
	s.Commits++
	s.Records += int64(c.Len())
	s.Histogram.add(took.Seconds())
	if s.Results == nil {
		s.Results = map[string]int64{}
	}
	for i := range c.Results {
		r := &c.Results[i].Result
		kind := r.Outcome.Validity.String()
		if r.Abandoned {
			kind = tuner.Abandoned.String()
		}
		s.Results[kind]++
		if r.Reused {
			s.Reused++
		}
	}
	for i := range c.Leases {
		if c.Leases[i].Held {
			s.Granted++
		} else {
			s.Requeued++
		}
	}
}

func (m *meter) snapshot() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats
	s.Results = map[string]int64{}
	for k, n := range m.stats.Results {
		s.Results[k] = n
	}
	s.Histogram.Counts = append([]int64(nil), m.stats.Histogram.Counts...)
	return s
}

// Stats returns the counters and how things stand.
func (c *Coordinator) Stats() Stats {
	s := c.meter.snapshot()
	s.Sweeps, s.Workers = map[string]int64{}, map[string]int64{}
	for _, sweep := range c.board.all() {
		s.Sweeps[sweep.State.String()]++
		if sweep.Incomplete() {
			s.Incomplete++
		}
		if n := &sweep.Counts; sweep.State.Live() {
			s.Left += n.Total - n.Done - n.Abandoned
			s.Leased += n.Leased
		}
	}
	c.mu.Lock()
	s.Checks, s.Distrusted = c.ledger.Checks(), c.ledger.Distrusted()
	s.Aside = c.ledger.SetAside()
	s.Queued, s.Waiting = c.ledger.Queued(), int64(c.waiting.len())
	for _, w := range c.ledger.Workers() {
		s.Workers[w.Worker.Engine]++
		if !w.Draining {
			s.Slots += int64(w.Worker.Slots)
		}
	}
	if c.down != nil {
		s.Down = c.down.Error()
	}
	c.mu.Unlock()
	if u, ok := c.store.(interface{ Usage() (store.Usage, error) }); ok {
		s.Usage, _ = u.Usage()
	}
	return s
}
