package coordinator_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// held is a store in which nothing is durable before it is let.
type held struct {
	store.Store
	let chan struct{} // one for each write
}

func (g *held) Commit(c *tuner.Changes) error {
	<-g.let
	return g.Store.Commit(c)
}

func (g *held) Remove(sweep uint64, limit int) (bool, error) {
	<-g.let
	return g.Store.Remove(sweep, limit)
}

// Nobody is answered, and nobody is shown anything, before what the answer rests
// on is durable: a sweep, a grant, an acknowledgement, a state, a best.
func TestAnswersComeAfterTheCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &held{store.NewMemory(), make(chan struct{})}
		c := start(t, st, func(o *coordinator.Options) { o.Alone = true })
		b := tunertest.Bundle{Size: 4}
		put(t, c, b)
		var shown []tuner.Sweep // before each call
		// waits has a call made, and checks that it returns once its commit has been let
		// through and not before.
		waits := func(what string, call func() error) {
			t.Helper()
			shown = c.Sweeps(t.Context())
			answered := make(chan error, 1)
			go func() { answered <- call() }()
			synctest.Wait()
			select {
			case err := <-answered:
				t.Fatalf("%s is answered before it is durable (%v)", what, err)
			default:
			}
			if now := c.Sweeps(t.Context()); !slices.EqualFunc(now, shown, func(a, b tuner.Sweep) bool { return a.State == b.State && a.Counts == b.Counts }) {
				t.Errorf("%s is shown before it is durable: %+v", what, now)
			}
			for {
				select {
				case st.let <- struct{}{}:
				case err := <-answered:
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					return
				}
			}
		}
		var id string
		waits("a sweep", func() error {
			out, err := c.Submit(t.Context(), b.Spec("kernel"), "")
			id = out.Sweep.ID
			return err
		})
		in := &tuner.Sync{Worker: tunertest.Worker("w", 1, 4), Want: 2}
		synchronize := func() error {
			reply, err := c.Synchronize(t.Context(), in, 0)
			if err != nil {
				return err
			}
			in.Reports = nil
			for _, g := range reply.Grants {
				o := tunertest.Oracle(g.Index)
				in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &o})
			}
			return nil
		}
		waits("a grant", synchronize)
		waits("an acknowledgement", synchronize)
		waits("a pause", func() error { _, err := c.Steer(t.Context(), id, tuner.Paused); return err })
		waits("going on", func() error { _, err := c.Steer(t.Context(), id, tuner.Running); return err })
		waits("the last acknowledgements", synchronize)
		if _, err := c.Best(t.Context(), coordinator.BestQuery{Kernel: "kernel", Arch: tunertest.Arch, Problem: b.Spec("kernel").Problem}); err != nil {
			t.Errorf("the best of it: %v", err)
		}
		waits("a deletion", func() error { return c.Delete(t.Context(), id) })
		close(st.let)
	})
}
