package coordinator

import (
	"context"
	"iter"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
)

// Results returns up to limit results of a sweep from trial seq on, and the trials
// among them whose rows are damaged; where both are empty there are no more.
func (c *Coordinator) Results(_ context.Context, num uint64, seq int64, limit int) (page []tuner.Result, lost []int64, err error) {
	page, lost, err = c.store.Salvage(num, seq, limit)
	if err == nil {
		err = c.whole(num)
	}
	return page, lost, err
}

// salvaged yields a sweep's stored results from trial seq on, and appends to lost the
// trials whose rows are damaged.
func salvaged(st store.Store, num uint64, seq int64, lost *[]int64) iter.Seq2[tuner.Result, error] {
	return func(yield func(tuner.Result, error) bool) {
		for {
			page, damaged, err := st.Salvage(num, seq, store.PageLimit)
			if err != nil {
				yield(tuner.Result{}, err)
				return
			}
			*lost = append(*lost, damaged...)
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			if len(page)+len(damaged) == 0 {
				return
			}
			seq = After(page, damaged)
		}
	}
}

// After returns the trial that comes after a page of Results.
func After(page []tuner.Result, lost []int64) int64 {
	last := int64(-1)
	if len(page) > 0 {
		last = page[len(page)-1].Seq
	}
	if len(lost) > 0 {
		last = max(last, lost[len(lost)-1])
	}
	return last + 1
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
func (c *Coordinator) Space(ctx context.Context, num uint64) (tuner.Space, error) {
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
	plan, err := c.plan(ctx, s.Planned(), 0)
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
