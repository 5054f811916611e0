package coordinator

import (
	"container/heap"
	"context"
	"slices"

	"github.com/warptune/warptune/tuner"
)

// MaxTop is the most results Top returns.
const MaxTop = 10000

// Bounds on what is kept of answers of Top.
const (
	maxRanked   = 100 // results of a sweep; who wants more has all rows read
	maxRankings = 32  // sweeps
)

// ranking is what Top knows of a sweep: what a trial has come to does not change, so
// trials before the first that is under way need not be read again. Whoever asks while
// somebody else does waits, and finds most of the work done.
type ranking struct {
	place chan struct{} // held by who reads; capacity 1
	next  int64         // trials before it have been read
	best  worst         // of those, at most maxRanked
}

// ranking returns what is known of a sweep, which the caller holds until release.
func (c *Coordinator) ranking(ctx context.Context, num uint64) (r *ranking, release func(), err error) {
	c.rankedMu.Lock()
	if r = c.ranked[num]; r == nil {
		if len(c.ranked) >= maxRankings {
			clear(c.ranked)
		}
		r = &ranking{place: make(chan struct{}, 1)}
		c.ranked[num] = r
	}
	c.rankedMu.Unlock()
	select {
	case r.place <- struct{}{}:
		return r, func() { <-r.place }, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

// Top returns the best n results of a sweep, best first, of those at its last
// level, and the trials whose rows are damaged: they may be among the best.
func (c *Coordinator) Top(ctx context.Context, id string, n int) (best []tuner.Result, lost []int64, err error) {
	s, _, err := c.board.find(id)
	if err != nil {
		return nil, nil, err
	}
	if n > MaxTop {
		return nil, nil, tuner.Errorf(tuner.Limit, "list best trials", "%d asked for, at most %d", n, MaxTop)
	}
	r, release, err := c.ranking(ctx, s.Num)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	// While a sweep still ranks, or rows are damaged, nothing of it is kept.
	kept := n <= maxRanked && (s.Spec.Level == s.Spec.LastLevel() || s.Ranked > 0)
	from, top := int64(0), worst{}
	if kept {
		from = r.next
	}
	for res, err := range salvaged(c.store, s.Num, from, &lost) {
		if err != nil {
			return nil, nil, err
		}
		if kept && res.Seq == r.next && len(lost) == 0 {
			r.next++
			if s.Decides(res.Seq) {
				r.best.take(res, maxRanked)
			}
		} else if s.Decides(res.Seq) {
			top.take(res, n)
		}
		if res.Seq%100 == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
	}
	if err := c.whole(s.Num); err != nil {
		return nil, nil, err
	}
	if kept {
		for _, res := range r.best {
			top.take(res.Clone(), n)
		}
	}
	slices.SortFunc(top, func(a, b tuner.Result) int {
		if a.Less(&b) {
			return -1
		}
		return 1
	})
	return top, lost, nil
}

// worst is a heap of results with the worst on top.
type worst []tuner.Result

func (w worst) Len() int           { return len(w) }
func (w worst) Less(i, j int) bool { return w[j].Less(&w[i]) }
func (w worst) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }

// Push is for package heap.
func (w *worst) Push(x any) { *w = append(*w, x.(tuner.Result)) }

// Pop is for package heap.
func (w *worst) Pop() any {
	old := *w
	x := old[len(old)-1]
	*w = old[:len(old)-1]
	return x
}

// take adds a result, of which there are n then at most: the worst goes.
func (w *worst) take(r tuner.Result, n int) {
	if len(*w) < n {
		heap.Push(w, r)
	} else if n > 0 && r.Less(&(*w)[0]) {
		(*w)[0] = r
		heap.Fix(w, 0)
	}
}
