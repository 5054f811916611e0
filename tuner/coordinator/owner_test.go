package coordinator_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

var (
	bob = tuner.Caller{Name: "bob", Role: "submitter", Address: "10.0.0.2"}
	ada = tuner.Caller{Name: "ada", Role: "admin", Anything: true}
)

// Who submitted a sweep may steer and delete it, and so may an admin. What nobody is
// known to have submitted, any submitter may steer, and only an admin delete. That
// is so after a restart, too.
func TestWhoMay(t *testing.T) {
	st := store.NewMemory()
	c := start(t, st, nil)
	b := tunertest.Bundle{Size: 30}
	put(t, c, b)
	ids := map[string]string{}
	for owner, ctx := range map[string]context.Context{"ann": as(t, ann), "": t.Context()} {
		out, err := c.Submit(ctx, b.Spec("kernel"), "of "+owner)
		if err != nil || out.Sweep.Owner != owner {
			t.Fatalf("%+v (%v)", out, err)
		}
		ids[owner] = out.Sweep.ID
	}
	steer := func(to tuner.SweepState) func(context.Context, string) error {
		return func(ctx context.Context, id string) error { _, err := c.Steer(ctx, id, to); return err }
	}
	again := func(ctx context.Context, id string) error {
		s, err := c.Sweep(ctx, id)
		if err == nil {
			_, err = c.Submit(ctx, s.Spec, s.Key)
		}
		return err
	}
	steps := []struct {
		name string
		do   func(context.Context, string) error
	}{
		{"pause", steer(tuner.Paused)}, {"submit", again}, {"pause", steer(tuner.Paused)}, {"resume", steer(tuner.Running)}, {"cancel", steer(tuner.Cancelled)},
		{"resume", steer(tuner.Running)}, {"cancel", steer(tuner.Cancelled)}, {"submit", again}, {"cancel", steer(tuner.Cancelled)}, {"delete", c.Delete},
	}
	for i, step := range steps {
		if i == 3 { // of the same store
			c = start(t, st, nil)
			steps[len(steps)-1].do = c.Delete
		}
		for owner, id := range ids {
			before, _ := c.Sweep(t.Context(), id)
			denied := owner == "ann" || step.name == "delete"
			err := step.do(as(t, bob), id)
			if denied != (tuner.KindOf(err) == tuner.Denied) || !denied && err != nil {
				t.Errorf("%s of what is %q's by bob: %v", step.name, owner, err)
			}
			if after, _ := c.Sweep(t.Context(), id); denied && after.State != before.State {
				t.Errorf("%s by bob: it is %s, was %s", step.name, after.State, before.State)
			}
			who := ann
			if i%2 == 1 || owner == "" {
				who = ada
			}
			if err := step.do(as(t, who), id); err != nil {
				t.Errorf("%s of what is %q's by %s: %v", step.name, owner, who.Name, err)
			}
		}
	}
}

// Retrying what was given up is the owner's, and the sweep stays his.
func TestWhoMayRetry(t *testing.T) {
	c := start(t, store.NewMemory(), nil)
	b := tunertest.Bundle{Size: 40}
	put(t, c, b)
	out, err := c.Submit(as(t, ann), b.Spec("kernel"), "")
	if err != nil {
		t.Fatal(err)
	}
	id := out.Sweep.ID
	if _, err := c.Retry(as(t, ann), id); tuner.KindOf(err) != tuner.Conflict { // nothing was given up
		t.Errorf("ann: %v", err)
	}
	if s := giveUp(t, c, id, 7, tunertest.Worker("w", 1, 1)); !s.Incomplete() {
		t.Fatalf("the sweep is %v, %+v", s.State, s.Counts)
	}
	if _, err := c.Retry(as(t, bob), id); tuner.KindOf(err) != tuner.Denied {
		t.Errorf("bob: %v", err)
	}
	if s, err := c.Retry(as(t, ann), id); err != nil || s.Owner != "ann" || !s.State.Live() {
		t.Errorf("ann: %v, %q's (%v)", s.State, s.Owner, err)
	}
	acts := log(t, c)
	if got := told(acts[len(acts)-2:]); !strings.Contains(got, "bob@10.0.0.2 retry denied\nann@10.0.0.1 retry \n") {
		t.Errorf("the log ends in\n%s", got)
	}
}

// limited is a coordinator with small quotas.
func limited(t *testing.T, st store.Store) *coordinator.Coordinator {
	return start(t, st, func(o *coordinator.Options) {
		o.Quotas = coordinator.Quotas{Sweeps: 3, Configurations: 1000, BundleBytes: 50}
	})
}

// says checks that an error is a limit that names what is bounded and what to do.
func says(t *testing.T, err error, parts ...string) {
	t.Helper()
	if tuner.KindOf(err) != tuner.Limit {
		t.Errorf("%v, want a limit", err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
}

// However many are submitted at once, no caller has more live sweeps than he may.
// Others have theirs, admins and whoever is not asked for a credential any number.
func TestQuotaOfSweeps(t *testing.T) {
	st := store.NewMemory()
	c := limited(t, st)
	b := tunertest.Bundle{Size: 10}
	put(t, c, b)
	var all sync.WaitGroup
	var mu sync.Mutex
	made := 0
	for i := range 20 {
		all.Go(func() {
			_, err := c.Submit(as(t, ann), b.Spec("kernel"), fmt.Sprint(i))
			if err == nil {
				mu.Lock()
				made++
				mu.Unlock()
				return
			}
			says(t, err, "ann has as many sweeps", "may have, 3 ", "--max-caller-sweeps", "cancel one")
		})
	}
	all.Wait()
	if made != 3 {
		t.Errorf("%d were made, want 3", made)
	}
	for i := range 5 {
		for _, ctx := range []context.Context{as(t, ada), t.Context()} {
			if _, err := c.Submit(ctx, b.Spec("kernel"), fmt.Sprint("another ", i)); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := c.Submit(as(t, bob), b.Spec("kernel"), "bob"); err != nil {
		t.Error(err)
	}
	c = limited(t, st) // the same after a restart
	_, err := c.Submit(as(t, ann), b.Spec("kernel"), "more")
	says(t, err, "ann has as many sweeps", "may have, 3 ")
	for _, s := range c.Sweeps(t.Context()) {
		if s.Owner == "ann" {
			if _, err := c.Steer(as(t, ann), s.ID, tuner.Paused); err != nil {
				t.Fatal(err)
			}
			_, err := c.Submit(as(t, ann), b.Spec("kernel"), "more")
			says(t, err, "ann has as many sweeps", "may have, 3 ") // a paused one counts
			if _, err := c.Steer(as(t, ann), s.ID, tuner.Cancelled); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Submit(as(t, ann), b.Spec("kernel"), "more"); err != nil {
				t.Error(err)
			}
			_, err = c.Steer(as(t, ann), s.ID, tuner.Running)
			says(t, err, "ann has as many sweeps", "may have, 3 ") // one that is resumed, too
			break
		}
	}
}

func TestQuotaOfConfigurations(t *testing.T) {
	c := limited(t, store.NewMemory())
	first, second := tunertest.Bundle{Size: 600}, tunertest.Bundle{Size: 500}
	put(t, c, first)
	put(t, c, second)
	if _, err := c.Submit(as(t, ann), first.Spec("kernel"), ""); err != nil {
		t.Fatal(err)
	}
	_, err := c.Submit(as(t, ann), second.Spec("kernel"), "")
	says(t, err, "ann would have 1100 configurations", "1000", "--max-caller-configurations", "--budget")
	bounded := second.Spec("kernel")
	bounded.Budget = 400
	if _, err := c.Submit(as(t, ann), bounded, ""); err != nil {
		t.Errorf("with a budget: %v", err)
	}
	timed := second.Spec("kernel")
	timed.TimeBudget = 1e9
	if _, err := c.Submit(as(t, ann), timed, ""); err != nil {
		t.Errorf("with a time budget: %v", err)
	}
	timed.TimeBudget = 24 * time.Hour
	if _, err := c.Submit(as(t, ann), timed, ""); tuner.KindOf(err) == tuner.Limit && !strings.Contains(err.Error(), "--max-caller-sweeps") {
		t.Errorf("with a day: %v", err)
	}
}

// A budget of time that is as good as none evades no quota, before and after a start.
func TestQuotaOfConfigurationsCountsLongBudgets(t *testing.T) {
	st := store.NewMemory()
	c := limited(t, st)
	first, second := tunertest.Bundle{Size: 600}, tunertest.Bundle{Size: 500}
	put(t, c, first)
	put(t, c, second)
	long, short := first.Spec("kernel"), second.Spec("kernel")
	long.TimeBudget, short.TimeBudget = 24*time.Hour+time.Millisecond, 24*time.Hour
	if _, err := c.Submit(as(t, ann), long, ""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := c.Submit(as(t, ann), second.Spec("kernel"), "")
		says(t, err, "ann would have 1100 configurations", "1000")
		c = limited(t, st)
		put(t, c, second) // what no sweep is of has gone with the start
	}
	if _, err := c.Submit(as(t, ann), short, ""); err != nil {
		t.Errorf("with a day: %v", err)
	}
	longer := second.Spec("kernel")
	longer.TimeBudget = 1000 * time.Hour
	_, err := c.Submit(as(t, ann), longer, "")
	says(t, err, "ann would have 1100 configurations", "1000")
}

func TestQuotaOfConfigurationsCountsWhatIsLeft(t *testing.T) {
	c := limited(t, store.NewMemory())
	first, second := tunertest.Bundle{Size: 600}, tunertest.Bundle{Size: 500}
	put(t, c, first)
	put(t, c, second)
	if _, err := c.Submit(as(t, ann), first.Spec("kernel"), ""); err != nil {
		t.Fatal(err)
	}
	work(t, c, 100)
	if _, err := c.Submit(as(t, ann), second.Spec("kernel"), ""); err != nil {
		t.Errorf("with 500 of 600 left: %v", err)
	}
}

// Bundles count for whoever put them and whoever has sweeps of them, once each,
// until those sweeps are deleted.
func TestQuotaOfBundles(t *testing.T) {
	st := store.NewMemory()
	c := limited(t, st)
	putAs := func(who tuner.Caller, b tunertest.Bundle) error {
		content, digest := b.Content()
		return c.PutBundle(as(t, who), digest, content)
	}
	bundle := func(i int) tunertest.Bundle { return tunertest.Bundle{Size: int64(100 + i), Salt: 100} } // 23 bytes
	if content, _ := bundle(0).Content(); len(content) != 23 {
		t.Fatalf("a bundle is %s", content)
	}
	for i := range 2 {
		if err := putAs(ann, bundle(i)); err != nil {
			t.Fatal(err)
		}
	}
	says(t, putAs(ann, bundle(2)), "ann's kernel bundles", "69 bytes", "may take 50", "--max-caller-bundles", "warptune sweep delete")
	if err := putAs(ann, bundle(1)); err != nil {
		t.Errorf("what is stored already: %v", err)
	}
	if err := putAs(bob, bundle(2)); err != nil {
		t.Errorf("bob: %v", err)
	}
	_, err := c.Submit(as(t, ann), bundle(2).Spec("kernel"), "")
	says(t, err, "ann's kernel bundles") // what another has put
	var ids []string
	for i := range 2 {
		out, err := c.Submit(as(t, ann), bundle(i).Spec("kernel"), "")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, out.Sweep.ID)
	}
	work(t, c, 1000)
	c = limited(t, st) // it is not forgotten
	says(t, putAs(ann, bundle(3)), "ann's kernel bundles")
	if err := c.Delete(as(t, ann), ids[0]); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool { return putAs(ann, bundle(3)) == nil })
}

// waitUntil waits until something is so.
func waitUntil(t *testing.T, so func() bool) {
	t.Helper()
	for until := time.Now().Add(time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it does not become so")
		}
	}
}

// A put that fails takes nothing back of a bundle that was stored before: it counts, and
// is there for whoever is about to submit a sweep of it.
func TestFailedPutsOfStoredBundles(t *testing.T) {
	var fail atomic.Bool
	st := &store.Failing{Store: store.NewMemory(), Fail: func() error {
		if fail.Load() {
			return tuner.Errorf(tuner.DiskFull, "store bundle", "no space")
		}
		return nil
	}}
	c := limited(t, st)
	content, digest := tunertest.Bundle{Size: 100, Salt: 100}.Content() // 23 bytes
	putAnn := func() error { return c.PutBundle(as(t, ann), digest, content) }
	if err := putAnn(); err != nil {
		t.Fatal(err)
	}
	fail.Store(true)
	if err := putAnn(); tuner.KindOf(err) != tuner.DiskFull {
		t.Fatal(err)
	}
	other, otherDigest := tunertest.Bundle{Size: 101, Salt: 100}.Content()
	if err := c.PutBundle(as(t, ann), otherDigest, other); tuner.KindOf(err) != tuner.DiskFull {
		t.Fatal(err)
	}
	fail.Store(false)
	for i := range 2 { // what failed counts nothing
		content, digest := tunertest.Bundle{Size: int64(102 + i), Salt: 100}.Content()
		var err error
		waitUntil(t, func() bool { // housekeeping may have failed, too, and be tried again
			err = c.PutBundle(as(t, ann), digest, content)
			return tuner.KindOf(err) != tuner.DiskFull
		})
		if (err == nil) != (i == 0) {
			t.Errorf("put %d: %v", i, err)
		}
	}
	gone, err := c.Submit(t.Context(), tunertest.Bundle{Size: 102, Salt: 100}.Spec("kernel"), "")
	if err != nil {
		t.Fatal(err)
	}
	work(t, c, 1000)
	if err := c.Delete(t.Context(), gone.Sweep.ID); err != nil { // then bundles go that nobody needs
		t.Fatal(err)
	}
	_, other102 := tunertest.Bundle{Size: 102, Salt: 100}.Content()
	waitUntil(t, func() bool { return !c.HasBundle(other102) })
	if !c.HasBundle(digest) {
		t.Error("the bundle that was put has gone")
	}
}

// A sweep that is being read again after a start counts, too.
func TestQuotaOfSweepsThatAreAsleep(t *testing.T) {
	st := store.NewMemory()
	b := tunertest.Bundle{Size: 200, Batch: 8, Growing: true}
	first := start(t, st, nil)
	put(t, first, b)
	if _, err := first.Submit(as(t, ann), b.Spec("learns"), ""); err != nil {
		t.Fatal(err)
	}
	work(t, first, 100)
	gate := make(chan struct{})
	c, err := coordinator.New(st, coordinator.Options{Planner: gatedPlanner{gate: gate}, Quotas: coordinator.Quotas{Sweeps: 1}})
	if err != nil {
		t.Fatal(err)
	}
	stop := run(t, c)
	defer stop()
	defer close(gate)
	_, err = c.Submit(as(t, ann), b.Spec("learns"), "another")
	says(t, err, "ann has as many sweeps", "may have, 1 ")
}
