package coordinator

import (
	"container/heap"
	"context"
	"math"
	"slices"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
)

// Match says by which rule Best found its answer. The zero value is invalid.
type Match uint8

// Rules of Best, in the order they are tried.
const (
	MatchInvalid      Match = iota
	MatchExact              // kernel, architecture and problem are as asked
	MatchOtherProblem       // the nearest problem on the same architecture
	MatchOtherArch          // another architecture of the same compute capability
)

// String returns the rule in words.
func (m Match) String() string {
	return [...]string{"invalid", "exact", "other problem size", "other architecture of the same compute capability"}[m%4]
}

// Best returns the best configuration known for a kernel, architecture and
// problem (nil: any), or the nearest there is: that of the nearest problem,
// then that of one of the similar architectures.
func (c *Coordinator) Best(_ context.Context, kernel, arch string, problem []int64, similar []string) (tuner.Best, Match, error) {
	for i, a := range append([]string{arch}, similar...) {
		all, err := c.store.Bests(kernel, a)
		if err != nil {
			return tuner.Best{}, MatchInvalid, err
		}
		if len(all) == 0 {
			continue
		}
		b := slices.MinFunc(all, func(x, y tuner.Best) int {
			return compareNearness(x.Spec.Problem, y.Spec.Problem, problem)
		})
		if s, ok := c.board.number(b.Sweep); ok {
			b.Missing = s.Counts.Abandoned
		}
		switch {
		case i > 0:
			return b, MatchOtherArch, nil
		case len(problem) == 0 || slices.Equal(b.Spec.Problem, problem):
			return b, MatchExact, nil
		}
		return b, MatchOtherProblem, nil
	}
	_, err := c.store.Best(kernel, arch, problem)
	return tuner.Best{}, MatchInvalid, err
}

// compareNearness orders problems by their distance from want, then by size.
func compareNearness(a, b, want []int64) int {
	da, db := distance(a, want), distance(b, want)
	switch {
	case da < db:
		return -1
	case da > db:
		return 1
	}
	return slices.Compare(a, b)
}

// distance is the sum over dimensions of |log2(a/b)|; a missing dimension
// counts as size 1.
func distance(a, b []int64) float64 {
	if len(b) == 0 {
		return 0
	}
	d := 0.0
	for i := range max(len(a), len(b)) {
		x, y := int64(1), int64(1)
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		d += math.Abs(math.Log2(float64(x)) - math.Log2(float64(y)))
	}
	return d
}

// MaxTop is the most results Top returns.
const MaxTop = 10000

// Top returns the best n results of a sweep, best first, of those at its last
// level.
func (c *Coordinator) Top(ctx context.Context, id string, n int) ([]tuner.Result, error) {
	s, _, err := c.board.find(id)
	if err != nil {
		return nil, err
	}
	if n > MaxTop {
		return nil, tuner.Errorf(tuner.Limit, "list best trials", "%d asked for, at most %d", n, MaxTop)
	}
	top := worst{}
	for r, err := range results(c.store, s.Num, 0) {
		if err != nil {
			return nil, err
		}
		if !s.Decides(r.Seq) {
			continue
		}
		if len(top) < n {
			heap.Push(&top, r)
		} else if n > 0 && r.Less(&top[0]) {
			top[0] = r
			heap.Fix(&top, 0)
		}
		if r.Seq%store.PageLimit == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if err := c.whole(s.Num); err != nil {
		return nil, err
	}
	slices.SortFunc(top, func(a, b tuner.Result) int {
		if a.Less(&b) {
			return -1
		}
		return 1
	})
	return top, nil
}

// Results returns up to limit results of a sweep from trial seq on; an empty
// answer means that there are no more.
func (c *Coordinator) Results(_ context.Context, num uint64, seq int64, limit int) ([]tuner.Result, error) {
	page, err := c.store.Results(num, seq, limit)
	if err == nil {
		err = c.whole(num)
	}
	return page, err
}

// whole says whether what was just read of a sweep is all of it: nothing of it was
// removed before.
func (c *Coordinator) whole(num uint64) error {
	if s, ok := c.board.number(num); !ok || s.State == tuner.Deleting {
		return tuner.Errorf(tuner.Conflict, "read results", "the sweep was deleted, or has started over, while it was read: try again")
	}
	return nil
}

// maxSpaces is how many spaces are kept before those of ended sweeps go.
const maxSpaces = 64

// Space returns the space of a sweep, to tell the configurations of results.
func (c *Coordinator) Space(num uint64) (tuner.Space, error) {
	c.mu.Lock()
	space, ok := c.spaces[num]
	c.mu.Unlock()
	if ok {
		return space, nil
	}
	s, ok := c.board.number(num)
	if !ok {
		return nil, tuner.Errorf(tuner.NotFound, "find sweep", "none has the number %d", num)
	}
	plan, err := c.plan(s.Planned())
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.spaces) >= maxSpaces {
		for n := range c.spaces {
			if _, live := c.ledger.Sweep(n); !live {
				delete(c.spaces, n)
			}
		}
	}
	c.spaces[num] = plan.Space
	return plan.Space, nil
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
