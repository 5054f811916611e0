package coordinator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// giveUp has a worker evaluate a sweep in which it has a fault at one configuration
// each time, until the sweep has ended.
func giveUp(t *testing.T, c *coordinator.Coordinator, id string, poison int64, w tuner.Worker) tuner.Sweep {
	t.Helper()
	in := &tuner.Sync{Worker: w, Want: 4}
	for range 500 {
		reply, err := c.Synchronize(t.Context(), in, 0)
		if err != nil {
			t.Fatal(err)
		}
		in.Reports = nil
		for _, g := range reply.Grants {
			if g.Index == poison {
				in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Fault: "no space left on device"})
				continue
			}
			o := tunertest.Oracle(g.Index)
			in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &o})
		}
		if s, err := c.Sweep(t.Context(), id); err != nil || s.State.Ended() {
			return s
		}
	}
	t.Fatal("the sweep does not end")
	return tuner.Sweep{}
}

// begin submits a sweep.
func begin(t *testing.T, c *coordinator.Coordinator, b tunertest.Bundle) (id string) {
	t.Helper()
	put(t, c, b)
	return submit(t, c, b.Spec("test")).Sweep.ID
}

func rows(t *testing.T, c *coordinator.Coordinator, id string) (all []string) {
	t.Helper()
	s, err := c.Sweep(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	page, _, err := c.Results(t.Context(), s.Num, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range page {
		all = append(all, fmt.Sprint(r.Seq, r.Index, r.Abandoned, r.Outcome))
	}
	return all
}

// What was given up is tried again when somebody asks for it, or when a worker of
// another host comes, also after a restart of the coordinator: the table is then the
// undisturbed one, and nothing else is evaluated again.
func TestWhatWasGivenUpIsTriedAgain(t *testing.T) {
	const poison = 7
	here, there := tunertest.Worker("here", 1, 1), tunertest.Worker("there", 1, 1)
	here.Labels, there.Labels = map[string]string{"host": "n1"}, map[string]string{"host": "n2"}
	for _, by := range []string{"asked for", "by itself", "after a restart"} {
		for _, b := range []tunertest.Bundle{{Size: 40}, {Size: 40, Batch: 5}} {
			calm := start(t, store.NewMemory(), nil)
			undisturbed := begin(t, calm, b)
			work(t, calm, 1000)
			want := rows(t, calm, undisturbed)
			st := store.NewMemory()
			c := start(t, st, nil)
			id := begin(t, c, b)
			s := giveUp(t, c, id, poison, here)
			if !s.Incomplete() || s.Counts.Abandoned != 1 || s.Counts.Done != 39 {
				t.Fatalf("%v, %+v", s.State, s.Counts)
			}
			if best, err := c.Best(t.Context(), coordinator.BestQuery{Kernel: "test", Arch: tunertest.Arch, Problem: []int64{40}}); err != nil || best.Missing != 1 {
				t.Errorf("the best says that %d are missing (%v)", best.Missing, err)
			}
			worker := there
			switch by {
			case "asked for":
				if _, err := c.Retry(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				worker = here
			case "after a restart":
				c = start(t, st, nil)
			}
			// Any call of a new worker, and then the few turns that stored answers take.
			evaluated := 0
			in := &tuner.Sync{Worker: worker, Want: 4}
			for until := time.Now().Add(10 * time.Second); time.Now().Before(until); {
				reply, err := c.Synchronize(t.Context(), in, 0)
				if err != nil {
					t.Fatal(err)
				}
				in.Reports = nil
				for _, g := range reply.Grants {
					if trial, again := tuner.TrialOf(g.Key.Seq); !again && trial == g.Key.Seq {
						evaluated++
					}
					o := tunertest.Oracle(g.Index)
					in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &o})
				}
				if s, _ = c.Sweep(t.Context(), id); s.State == tuner.Completed && s.Counts.Abandoned == 0 {
					break
				}
			}
			if s.State != tuner.Completed || s.Incomplete() || evaluated < 1 || b.Batch == 0 && evaluated > 1 { // a strategy that learns may ask for others
				t.Errorf("%s: %v, %+v; %d evaluated", by, s.State, s.Counts, evaluated)
			}
			if got := rows(t, c, id); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: the table is\n%v\nwant\n%v", by, got, want)
			}
			if _, err := c.Retry(t.Context(), id); tuner.KindOf(err) != tuner.Conflict {
				t.Errorf("%s: nothing is missing, and a retry is answered %v", by, err)
			}
		}
	}
}

// How often a trial was granted outlives the coordinator: who is granted it next is told,
// and so is what comes of it.
func TestAttemptsOutliveRestarts(t *testing.T) {
	const poison = 3
	st := store.NewMemory()
	c := start(t, st, nil)
	id := begin(t, c, tunertest.Bundle{Size: 10})
	fault := func(w tuner.Worker) (attempt int) {
		t.Helper()
		in := &tuner.Sync{Worker: w, Want: 10}
		for range 10 {
			reply, err := c.Synchronize(t.Context(), in, 0)
			if err != nil {
				t.Fatal(err)
			}
			in.Reports = nil
			for _, g := range reply.Grants {
				if g.Index == poison {
					in.Reports, in.Want, attempt = append(in.Reports, tuner.Report{Held: g.Held, Fault: "no space left on device"}), 0, g.Attempt
				}
			}
			if in.Want == 0 && in.Reports == nil {
				return attempt
			}
		}
		t.Fatal("the trial is not granted")
		return 0
	}
	for i := range 3 {
		if got := fault(tunertest.Worker(fmt.Sprint("w", i), 1, 10)); got != i+1 {
			t.Errorf("after %d restarts it is attempt %d", i, got)
		}
		c = start(t, st, nil)
	}
	work(t, c, 10)
	s, err := c.Sweep(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	page, _, err := c.Results(t.Context(), s.Num, 0, 1000)
	if err != nil || len(page) != 1 || page[0].Index != poison || page[0].Attempts != 4 { // all others are leased
		t.Errorf("%+v (%v)", page, err)
	}
}
