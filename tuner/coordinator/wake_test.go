package coordinator_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// gatedPlanner plans strategies that learn so that no question is asked before
// the gate is open.
type gatedPlanner struct {
	tunertest.Planner
	gate chan struct{}
}

// Plan is in tuner.Planner.
func (p gatedPlanner) Plan(ctx context.Context, spec tuner.Spec, files tuner.Files) (tuner.Plan, error) {
	plan, err := p.Planner.Plan(ctx, spec, files)
	if err == nil && plan.Window == 0 {
		plan.Strategy = &gated{plan.Strategy, p.gate}
	}
	return plan, err
}

type gated struct {
	search.Strategy
	gate chan struct{}
}

// Ask is in search.Strategy.
func (g *gated) Ask(n int) []int64 {
	<-g.gate
	return g.Strategy.Ask(n)
}

func opened() chan struct{} {
	gate := make(chan struct{})
	close(gate)
	return gate
}

// idOf returns the identity of the sweep that learns.
func idOf(b tunertest.Bundle) string {
	spec := b.Spec("learns")
	return spec.ID("")
}

// reportsOf evaluates grants.
func reportsOf(grants []tuner.Grant) (all []tuner.Report) {
	for _, g := range grants {
		o := tunertest.OracleAt(g.Level, g.Index)
		all = append(all, tuner.Report{Held: g.Held, Outcome: &o})
	}
	return all
}

// learnt makes a store with a sweep that learns and has 100 results, and what a
// worker holds of it.
func learnt(t *testing.T) (store.Store, tunertest.Bundle, []tuner.Grant) {
	st := store.NewMemory()
	b := tunertest.Bundle{Size: 200, Batch: 8, Growing: true}
	c, err := coordinator.New(st, coordinator.Options{Planner: gatedPlanner{gate: opened()}})
	if err != nil {
		t.Fatal(err)
	}
	stop := run(t, c)
	put(t, c, b)
	submit(t, c, b.Spec("learns"))
	work(t, c, 100)
	reply, err := c.Synchronize(t.Context(), &tuner.Sync{Worker: tunertest.Worker("holder", 1, 2), Want: 3}, 0)
	if err != nil || len(reply.Grants) == 0 {
		t.Fatalf("%+v (%v)", reply, err)
	}
	stop()
	return st, b, reply.Grants
}

// run runs a coordinator until it is told to stop.
func run(t *testing.T, c *coordinator.Coordinator) (stop func()) {
	t.Helper()
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ended <- c.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// While a sweep that learns is rebuilt after a start everybody else is served,
// nothing that is said of it is lost or taken, and what steers it waits.
func TestServesWhileSweepsAreAsleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, b, held := learnt(t)
		gate := make(chan struct{})
		c, err := coordinator.New(st, coordinator.Options{Planner: gatedPlanner{gate: gate}})
		if err != nil {
			t.Fatal(err)
		}
		defer run(t, c)()
		if s := c.Sweeps(t.Context())[0]; s.State != tuner.Running {
			t.Fatalf("it is shown as %s", s.State)
		}
		other := tunertest.Bundle{Size: 10}
		put(t, c, other)
		submit(t, c, other.Spec("other"))

		in := &tuner.Sync{Worker: tunertest.Worker("holder", 1, 2), Want: 8, Reports: reportsOf(held[:1])}
		for _, g := range held[1:] {
			in.Held = append(in.Held, g.Held)
		}
		reply, err := c.Synchronize(t.Context(), in, 0)
		if err != nil || !reply.Unanswered || len(reply.Acks)+len(reply.Drops) > 0 || len(reply.Grants) == 0 || reply.Finished {
			t.Fatalf("while it is asleep: %+v (%v)", reply, err)
		}
		began := time.Now()
		c.Linger(t.Context())
		if took := time.Since(began); took != time.Second {
			t.Errorf("a worker may repeat its reports after %s", took)
		}
		steered := make(chan error, 1)
		go func() {
			_, err := c.Steer(t.Context(), idOf(b), tuner.Paused)
			steered <- err
		}()
		synctest.Wait()
		if again := submit(t, c, b.Spec("learns")); again.Created || again.Resumed { // it runs
			t.Errorf("submitted again: %+v", again)
		}
		select {
		case err := <-steered:
			t.Fatalf("steered while asleep: %v", err)
		default:
		}

		close(gate)
		if err := <-steered; err != nil {
			t.Fatal(err)
		}
		in.Held = append(in.Held, heldOf(reply.Grants)...)
		reply, err = c.Synchronize(t.Context(), in, 0)
		if err != nil || len(reply.Acks) != 1 || reply.Acks[0].Status != tuner.Recorded || len(reply.Drops) > 0 {
			t.Fatalf("once it is awake: %+v (%v)", reply, err)
		}
		if s, _ := c.Sweep(t.Context(), idOf(b)); s.State != tuner.Paused || s.Counts.Done != 101 {
			t.Errorf("it is %s with %d results", s.State, s.Counts.Done)
		}
	})
}

func heldOf(grants []tuner.Grant) (all []tuner.Held) {
	for _, g := range grants {
		all = append(all, g.Held)
	}
	return all
}

// A sweep that was rebuilt while others were served ends as if it had never
// been interrupted; one whose strategy has changed is said to have failed.
func TestSleepersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := func(st store.Store) (all []tuner.Result) {
			for seq := int64(0); ; seq = all[len(all)-1].Seq + 1 {
				page, err := st.Results(1, seq, store.PageLimit)
				if err != nil {
					t.Fatal(err)
				}
				if len(page) == 0 {
					return all
				}
				all = append(all, page...)
			}
		}
		undisturbed := store.NewMemory()
		b := tunertest.Bundle{Size: 200, Batch: 8, Growing: true}
		c, err := coordinator.New(undisturbed, coordinator.Options{Planner: tunertest.Planner{}})
		if err != nil {
			t.Fatal(err)
		}
		stop := run(t, c)
		put(t, c, b)
		submit(t, c, b.Spec("learns"))
		work(t, c, 200)
		stop()

		st, _, _ := learnt(t)
		c, err = coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}, Alone: true})
		if err != nil {
			t.Fatal(err)
		}
		stop = run(t, c)
		for s, _ := c.Sweep(t.Context(), idOf(b)); s.State == tuner.Running; s, _ = c.Sweep(t.Context(), s.ID) {
			work(t, c, 50)
			time.Sleep(10 * time.Millisecond) // virtual
		}
		stop()
		same := func(a, b tuner.Result) bool {
			return a.Seq == b.Seq && a.Index == b.Index && a.Outcome.Validity == b.Outcome.Validity && a.Outcome.TimeUS == b.Outcome.TimeUS
		}
		if got, want := table(st), table(undisturbed); !slices.EqualFunc(got, want, same) {
			t.Errorf("%d results, not the %d of an undisturbed sweep", len(got), len(want))
		}

		st, _, _ = learnt(t)
		c, err = coordinator.New(st, coordinator.Options{Planner: otherPlanner{}})
		if err != nil {
			t.Fatal(err)
		}
		defer run(t, c)()
		synctest.Wait()
		if s, err := c.Sweep(t.Context(), idOf(b)); err != nil || s.State != tuner.Failed || s.Message == "" {
			t.Errorf("%+v (%v)", s, err)
		}
	})
}

// otherPlanner plans another strategy than the one that was begun with.
type otherPlanner struct{ tunertest.Planner }

// Plan is in tuner.Planner.
func (p otherPlanner) Plan(ctx context.Context, spec tuner.Spec, files tuner.Files) (tuner.Plan, error) {
	plan, err := p.Planner.Plan(ctx, spec, files)
	plan.Strategy = &tunertest.InOrder{Size: 200}
	return plan, err
}
