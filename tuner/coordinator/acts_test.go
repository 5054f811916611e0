package coordinator_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// ann is somebody who submits.
var ann = tuner.Caller{Name: "ann", Role: "submitter", Address: "10.0.0.1"}

// as is a context in which somebody calls.
func as(t *testing.T, who tuner.Caller) context.Context {
	return coordinator.WithCaller(t.Context(), who)
}

// log returns the audit log, oldest first.
func log(t *testing.T, c *coordinator.Coordinator) []tuner.Act {
	t.Helper()
	acts, lost, err := c.Acts(t.Context(), 0, 1000)
	if err != nil || len(lost) > 0 {
		t.Fatalf("%v, damaged %v", err, lost)
	}
	slices.Reverse(acts)
	return acts
}

// told is the log in short: who, what, whether it was refused.
func told(acts []tuner.Act) string {
	var out strings.Builder
	for _, a := range acts {
		who := "-"
		if a.By != nil {
			who = a.By.Name + "@" + a.By.Address
		}
		fmt.Fprintf(&out, "%s %s %s\n", who, strings.TrimSpace(a.What+" "+a.Worker), a.Refused)
	}
	return out.String()
}

// joint is a store that notes which acts came with which states of sweeps.
type joint struct {
	store.Store
	mu    sync.Mutex
	pairs []string
}

func (j *joint) Commit(c *tuner.Changes) error {
	j.mu.Lock()
	for _, s := range c.Sweeps {
		what := ""
		for _, a := range c.Acts {
			if a.Sweep == s.ID {
				what = a.What
			}
		}
		j.pairs = append(j.pairs, fmt.Sprintf("%s: %s", s.State, what))
	}
	j.mu.Unlock()
	return j.Store.Commit(c)
}

// Each change of a sweep is recorded in the transaction that makes it, with who
// made it; what changes nothing is not.
func TestActsAreRecorded(t *testing.T) {
	j := &joint{Store: store.NewMemory()}
	c := start(t, j, nil)
	b := tunertest.Bundle{Size: 30}
	content, digest := b.Content()
	ctx := as(t, ann)
	if err := c.PutBundle(ctx, digest, content); err != nil {
		t.Fatal(err)
	}
	out, err := c.Submit(ctx, b.Spec("kernel"), "")
	if err != nil {
		t.Fatal(err)
	}
	id := out.Sweep.ID
	again := func(f func() error) {
		t.Helper()
		for range 2 { // the second changes nothing
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}
	}
	steer := func(to tuner.SweepState) func() error {
		return func() error { _, err := c.Steer(ctx, id[:8], to); return err }
	}
	submit := func() error { _, err := c.Submit(ctx, b.Spec("kernel"), ""); return err }
	again(submit)
	again(steer(tuner.Paused))
	again(submit)
	again(steer(tuner.Cancelled))
	again(steer(tuner.Running))
	if err := c.Delete(ctx, id); tuner.KindOf(err) != tuner.Conflict {
		t.Errorf("delete of what runs: %v", err)
	}
	work(t, c, 30)
	work(t, c, 0)
	again(func() error {
		if err := c.Delete(ctx, id); tuner.KindOf(err) != tuner.NotFound { // it may be gone by now
			return err
		}
		return nil
	})
	const who = "ann@10.0.0.1 "
	want := "- start \n" + who + "put bundle \n" + who + "submit \n" + who + "pause \n" + who + "submit \n" + who + "cancel \n" + who + "resume \n" + who + "delete conflict\n- complete \n" + who + "delete \n"
	acts := log(t, c)
	if got := told(acts); got != want {
		t.Errorf("the log is\n%swant\n%s", got, want)
	}
	for i, a := range acts {
		if a.Num != uint64(i+1) || time.Since(a.At) > time.Hour || i > 1 && (a.Sweep != id || a.Owner != "ann" || a.Number != 1) {
			t.Errorf("act %d is %+v", i, a)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, pair := range []string{"running: submit", "paused: pause", "cancelled: cancel", "running: resume", "completed: complete", "deleting: delete"} {
		if !slices.Contains(j.pairs, pair) {
			t.Errorf("no transaction has %q: %q", pair, j.pairs)
		}
	}
}

// waiting is a store whose commits wait for a place.
type waiting struct {
	store.Store
	place chan struct{}
}

func (w waiting) Commit(c *tuner.Changes) error {
	w.place <- struct{}{}
	defer func() { <-w.place }()
	return w.Store.Commit(c)
}

// Of several that do a thing at once one does it, and is recorded. The others are
// answered that it is so.
func TestActsOfSeveralAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := waiting{store.NewMemory(), make(chan struct{}, 1)}
		c, err := coordinator.New(h, coordinator.Options{Planner: tunertest.Planner{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		put(t, c, tunertest.Bundle{Size: 10})
		id := submit(t, c, tunertest.Bundle{Size: 10}.Spec("kernel")).Sweep.ID
		steer := func(to tuner.SweepState) func(context.Context) error {
			return func(ctx context.Context) error { _, err := c.Steer(ctx, id, to); return err }
		}
		for _, step := range []struct {
			what string
			do   func(context.Context) error
		}{
			{"pause", steer(tuner.Paused)}, {"resume", steer(tuner.Running)}, {"cancel", steer(tuner.Cancelled)},
			{"resume", steer(tuner.Running)}, {"cancel", steer(tuner.Cancelled)}, {"delete", func(ctx context.Context) error { return c.Delete(ctx, id) }},
		} {
			before := len(log(t, c))
			h.place <- struct{}{}
			errs := make(chan error, 5)
			for range cap(errs) {
				go func() { errs <- step.do(as(t, ada)) }()
			}
			synctest.Wait() // all see what was before
			<-h.place
			for range cap(errs) {
				if err := <-errs; err != nil {
					t.Errorf("%s: %v", step.what, err)
				}
			}
			if got, want := told(log(t, c)[before:]), "ada@ "+step.what+" \n"; got != want {
				t.Errorf("%s: recorded is\n%swant\n%s", step.what, got, want)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Nobody fills the log with what is refused to him.
func TestRefusalsDoNotFillTheAuditLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMemory()
		c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		put(t, c, tunertest.Bundle{Size: 10})
		id := submit(t, c, tunertest.Bundle{Size: 10}.Spec("kernel")).Sweep.ID
		before := len(log(t, c))
		for minute := 1; minute <= 3; minute++ {
			for _, who := range []string{"ann", "bob"} {
				for range 100 {
					if err := c.Delete(as(t, tuner.Caller{Name: who, Anything: true}), id); tuner.KindOf(err) != tuner.Conflict {
						t.Fatal(err)
					}
				}
			}
			acts := log(t, c)
			if n := len(acts) - before; n != minute*2*20 || !strings.Contains(acts[len(acts)-1].Detail, "is not recorded") {
				t.Errorf("minute %d: %d refusals are recorded, the last as %q", minute, n, acts[len(acts)-1].Detail)
			}
			time.Sleep(time.Minute)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// What an act says has bounds, and no line breaks.
func TestActsAreClean(t *testing.T) {
	c := start(t, store.NewMemory(), nil)
	long := strings.Repeat("é\n\x1b[31m", 1000)
	if err := c.Note(t.Context(), tuner.Act{What: tuner.ActBackUp, By: &tuner.Caller{Name: long, Certificate: long}, Worker: long, Detail: long}); err != nil {
		t.Fatal(err)
	}
	acts := log(t, c)
	a := acts[len(acts)-1]
	for _, s := range []string{a.By.Name, a.By.Certificate, a.Worker, a.Detail} {
		if len(s) > 512 || strings.ContainsAny(s, "\n\x1b") || !strings.HasPrefix(s, "é ") {
			t.Errorf("it says %q", s)
		}
	}
}

// A worker that knows of a coordinator which the store does not says that the store
// is an older copy: that is recorded, once.
func TestOlderCopyIsRecorded(t *testing.T) {
	c := start(t, store.NewMemory(), nil)
	other := c.ID() + "." + strings.Repeat("A", 16)
	for _, name := range []string{c.Incarnation(), c.ID(), "another store", other, other} {
		if err := c.Foreign(t.Context(), "w", name); err != nil {
			t.Fatal(err)
		}
	}
	acts := log(t, c)
	if got, want := told(acts), "- start \n- restore w \n"; got != want {
		t.Errorf("the log is\n%swant\n%s", got, want)
	}
	if detail := acts[len(acts)-1].Detail; !strings.HasPrefix(detail, "the database is an older copy, or was replaced: ") {
		t.Errorf("it says %q", detail)
	}
}

// Where the store has forgotten its first starts, one of those is no proof of an older
// copy, and none is claimed.
func TestForgottenStartsAreNoOlderCopies(t *testing.T) {
	st := store.NewMemory()
	var first string
	for i := range tuner.MaxPast + 2 {
		c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = c.Incarnation()
		}
	}
	c := start(t, st, nil)
	if err := c.Foreign(t.Context(), "w", first); err != nil {
		t.Fatal(err)
	}
	acts := log(t, c)
	if detail := acts[len(acts)-1].Detail; !strings.Contains(detail, "or has been started more than 64 times since") {
		t.Errorf("it says %q", detail)
	}
}
