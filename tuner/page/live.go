package page

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/warptune/warptune/tuner"
)

// sweeps keeps the tables of sweeps that somebody looks at. It is safe for concurrent use.
type sweeps struct {
	source Source
	mu     sync.Mutex
	all    map[string]*sweep
	used   uint64

	now        func() time.Time
	overviewMu sync.Mutex // held while it is made, so that it is made once
	last       *Overview
	lastAt     time.Time
	examples   map[string]examples // of sweeps with failures
}

// mostRows is how many rows are kept in all, but for those of the sweep looked at last; a row takes about 300 bytes.
const mostRows = 2_000_000

// sweep is one sweep's table, and what was last heard of it.
type sweep struct {
	id     string
	used   uint64
	mu     sync.Mutex // held while it is read on
	rows   *rows
	last   tuner.Sweep
	epochs int
	err    error
	// reading is closed when whoever reads results now has read them all; nil: nobody does.
	reading chan struct{}

	importance    *Importance // of a state of the table
	importanceTag string
}

// of returns the sweep with an identity, not read yet.
func (s *sweeps) of(id string) *sweep {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used++
	w := s.all[id]
	if w == nil {
		if s.all == nil {
			s.all = map[string]*sweep{}
		}
		w = &sweep{id: id, rows: newRows(id + ".0")}
		s.all[id] = w
		s.evict(w)
	}
	w.used = s.used
	return w
}

// evict forgets the tables that were looked at longest ago while there are too many rows.
func (s *sweeps) evict(keep *sweep) {
	for {
		total := 0
		var oldest *sweep
		for _, w := range s.all {
			w.mu.Lock()
			total += w.rows.len()
			w.mu.Unlock()
			if w != keep && (oldest == nil || w.used < oldest.used) {
				oldest = w
			}
		}
		if total <= mostRows || oldest == nil {
			return
		}
		delete(s.all, oldest.id)
	}
}

// patience is how long a request waits for results to be read before it answers with those that are.
const patience = 400 * time.Millisecond

// view is a sweep as it is now, and its table as far as it is read; complete reports whether that is all of it. The caller
// unlocks w.mu.
func (s *sweeps) view(ctx context.Context, id string, wait time.Duration) (w *sweep, complete bool, err error) {
	now, err := s.source.Sweep(ctx, id)
	if err != nil {
		return nil, false, err
	}
	w = s.of(now.ID)
	w.mu.Lock()
	w.heard(&now)
	ended := now.Counts.Done + now.Counts.Abandoned
	if w.reading == nil && int64(w.rows.len()+len(w.rows.damaged)) < ended {
		w.reading = make(chan struct{})
		go s.read(context.WithoutCancel(ctx), w, w.reading)
	}
	if reading := w.reading; reading != nil {
		w.mu.Unlock()
		timer := time.NewTimer(wait)
		select {
		case <-reading:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		w.mu.Lock()
	}
	if err := w.err; err != nil {
		w.err = nil
		w.mu.Unlock()
		return nil, false, err
	}
	return w, w.reading == nil, nil
}

// heard takes note of a sweep's state. A table of a sweep that has started over is void.
func (w *sweep) heard(now *tuner.Sweep) {
	was := &w.last
	over := was.ID != "" && (now.Counts.Done+now.Counts.Abandoned < was.Counts.Done+was.Counts.Abandoned || now.Counts.Abandoned < was.Counts.Abandoned ||
		len(now.Distrusted) != len(was.Distrusted) || !now.Submitted.Equal(was.Submitted) || !was.Ended.IsZero() && !now.Ended.Equal(was.Ended))
	if over {
		w.epochs++
		w.rows = newRows(w.id + "." + strconv.Itoa(w.epochs))
	}
	w.last = *now
}

// read reads the results that are not in the table yet.
func (s *sweeps) read(ctx context.Context, w *sweep, done chan struct{}) {
	w.mu.Lock()
	into := w.rows
	from := into.next
	w.mu.Unlock()
	err := s.source.Results(ctx, w.id, from, 0, tableMetrics, func(b *Batch) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.rows != into {
			return errStartedOver
		}
		into.add(b)
		return nil
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && w.rows == into {
		w.err = err
	}
	w.reading = nil
	close(done)
}

var errStartedOver = tuner.Errorf(tuner.Unavailable, "read results", "the sweep has started over meanwhile")

// result is one trial of a sweep, as it is stored.
func (s *sweeps) result(ctx context.Context, id string, trial int64) (names []string, found Result, err error) {
	there := false
	err = s.source.Results(ctx, id, trial, 1, nil, func(b *Batch) error {
		if len(b.Names) > 0 {
			names = b.Names
		}
		for i := range b.Results {
			if b.Results[i].Seq == trial {
				found, there = b.Results[i], true
			}
		}
		return nil
	})
	if err == nil && !there {
		err = tuner.Errorf(tuner.NotFound, "trial", "sweep %s has no result of trial %d", id, trial)
	}
	return names, found, err
}

// revision names what the documents of a sweep depend on.
func revision(s *tuner.Sweep) string {
	c := &s.Counts
	return fmt.Sprintf("%d.%d.%d.%s.%d", c.Done, c.Abandoned, len(s.Distrusted), s.State, s.Ended.UnixMilli())
}
