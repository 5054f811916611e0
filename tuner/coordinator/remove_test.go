package coordinator

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// Nothing of a sweep is removed before it is durable that it is to be: a crash in
// between would leave a sweep that says it has results which are gone.
func TestDeletionIsDurableFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, c, sweeps := completed(t, 1)
		deleted := make(chan error, 1)
		go func() { deleted <- c.Delete(t.Context(), sweeps[0].ID) }()
		synctest.Wait() // until it waits to be durable, which only flush makes it
		left := func() int {
			rows, err := st.Results(1, 0, store.PageLimit)
			if err != nil {
				t.Fatal(err)
			}
			return len(rows)
		}
		step(t, c.removeSome)
		if n := left(); n != 8 {
			t.Errorf("%d of 8 results are left of a sweep whose deletion may still be lost", n)
		}
		step(t, c.flush, c.removeSome)
		if err, n := <-deleted, left(); err != nil || n != 0 {
			t.Errorf("%d results are left of a deleted sweep (%v)", n, err)
		}
	})
}

// Who reads a sweep that is deleted meanwhile is told so: what is gone is not taken
// for the end.
func TestDeletedWhileRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c, sweeps := completed(t, 1)
		if page, _, err := c.Results(t.Context(), sweeps[0].Num, 0, 4); err != nil || len(page) != 4 {
			t.Fatal(page, err)
		}
		if page, _, err := c.Results(t.Context(), sweeps[0].Num, 8, 4); err != nil || len(page) != 0 {
			t.Fatal(page, err)
		}
		go func() { _ = c.Delete(t.Context(), sweeps[0].ID) }()
		synctest.Wait()
		step(t, c.flush)
		if top, _, err := c.Top(t.Context(), sweeps[0].ID, 8); tuner.KindOf(err) != tuner.Conflict {
			t.Errorf("while it is deleted: %v (%v)", top, err)
		}
		step(t, c.removeSome)
		if page, _, err := c.Results(t.Context(), sweeps[0].Num, 4, 4); tuner.KindOf(err) != tuner.Conflict {
			t.Errorf("after it was deleted: %v (%v)", page, err)
		}
	})
}

// A bundle of which nobody submits a sweep goes after a while, and at a start.
func TestBundlesThatNobodySubmits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMemory()
		content, digest := tunertest.Bundle{Size: 9}.Content()
		kept := func() bool {
			_, err := st.Bundle(digest)
			return err == nil
		}
		run := func(f func(c *Coordinator)) {
			c, err := New(st, Options{Planner: tunertest.Planner{}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- c.Run(ctx) }()
			f(c)
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		run(func(c *Coordinator) {
			if err := c.PutBundle(t.Context(), digest, content); err != nil {
				t.Fatal(err)
			}
			time.Sleep(bundleGrace - time.Minute)
			if !kept() {
				t.Error("it is gone before a sweep of it could be submitted")
			}
			time.Sleep(2 * time.Minute)
			if kept() {
				t.Error("it stays for ever")
			}
			if err := c.PutBundle(t.Context(), digest, content); err != nil {
				t.Fatal(err)
			}
		})
		run(func(*Coordinator) {
			time.Sleep(2 * time.Second)
			if kept() {
				t.Error("it outlives a start")
			}
		})
	})
}

// A bundle goes with the last sweep that is of it, and not while somebody submits.
func TestBundlesGoWithTheirSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, c, sweeps := completed(t, 2)
		remove := func(s tuner.Sweep) (kept bool) {
			deleted := make(chan error, 1)
			go func() { deleted <- c.Delete(t.Context(), s.ID) }()
			synctest.Wait()
			step(t, c.flush, c.removeSome, c.removeSome)
			if err := <-deleted; err != nil {
				t.Fatal(err)
			}
			_, err := st.Bundle(s.Spec.Bundle)
			return err == nil
		}
		if !remove(sweeps[0]) {
			t.Error("the bundle of a sweep that is there is gone")
		}
		c.submitting.RLock()
		if !remove(sweeps[1]) {
			t.Error("the bundle of a sweep that is being submitted is gone")
		}
		c.submitting.RUnlock()
		step(t, c.removeSome)
		if c.HasBundle(sweeps[1].Spec.Bundle) {
			t.Error("a bundle is left, and no sweep")
		}
	})
}

// completed returns a coordinator that does not run, and its store of n completed
// sweeps of one bundle, of 8 results each.
func completed(t *testing.T, n uint64) (store.Store, *Coordinator, []tuner.Sweep) {
	t.Helper()
	st := store.NewMemory()
	b := tunertest.Bundle{Size: 8}
	content, digest := b.Content()
	changes := tuner.Changes{}
	for num := range n {
		s := tuner.Sweep{Num: num + 1, Spec: b.Spec("kernel"), State: tuner.Completed}
		s.ID, s.Counts.Done = s.Spec.ID(string(rune('a'+num))), 8
		changes.Sweeps = append(changes.Sweeps, s)
		for seq := range int64(8) {
			r := tuner.Result{Seq: seq, Index: seq, Outcome: tunertest.Oracle(seq)}
			changes.Results = append(changes.Results, tuner.ResultChange{Sweep: s.Num, Result: r})
		}
	}
	step(t, func() error { _, err := st.PutBundle(digest, content, tuner.Act{}); return err }, func() error { return st.Commit(&changes) })
	c, err := New(st, Options{Planner: tunertest.Planner{}})
	if err != nil {
		t.Fatal(err)
	}
	return st, c, changes.Sweeps
}

func step(t *testing.T, steps ...func() error) {
	t.Helper()
	for _, f := range steps {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
}
