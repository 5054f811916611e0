package coordinator_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// start runs a coordinator until the test ends.
func start(t *testing.T, st store.Store, change func(*coordinator.Options)) *coordinator.Coordinator {
	t.Helper()
	opts := coordinator.Options{Planner: tunertest.Planner{}}
	if change != nil {
		change(&opts)
	}
	c, err := coordinator.New(st, opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

func put(t *testing.T, c *coordinator.Coordinator, b tunertest.Bundle) {
	t.Helper()
	content, digest := b.Content()
	if err := c.PutBundle(t.Context(), digest, content); err != nil {
		t.Fatal(err)
	}
}

func submit(t *testing.T, c *coordinator.Coordinator, spec tuner.Spec) coordinator.Submitted {
	t.Helper()
	out, err := c.Submit(t.Context(), spec, "")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// work evaluates up to n trials.
func work(t *testing.T, c *coordinator.Coordinator, n int) {
	t.Helper()
	in := &tuner.Sync{Worker: tunertest.Worker("w", 1, 4), Want: min(n, 4)}
	for {
		reply, err := c.Synchronize(t.Context(), in, 0)
		if err != nil {
			t.Fatal(err)
		}
		if in.Reports = nil; len(reply.Grants) == 0 {
			return
		}
		for _, g := range reply.Grants {
			o := tunertest.Oracle(g.Index)
			in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &o})
		}
		n -= len(reply.Grants)
		in.Want = max(0, min(n, 4))
	}
}

func TestSubmitIsIdempotent(t *testing.T) {
	c := start(t, store.NewMemory(), nil)
	b := tunertest.Bundle{Size: 40}
	spec := b.Spec("kernel")
	if _, err := c.Submit(t.Context(), spec, ""); tuner.KindOf(err) != tuner.NotFound {
		t.Errorf("without its bundle: %v", err)
	}
	put(t, c, b)
	var group sync.WaitGroup
	created := make(chan bool, 8)
	for range 8 {
		group.Go(func() {
			out, err := c.Submit(t.Context(), spec, "")
			created <- err == nil && out.Created
		})
	}
	group.Wait()
	close(created)
	n := 0
	for made := range created {
		if made {
			n++
		}
	}
	if n != 1 || len(c.Sweeps(t.Context())) != 1 {
		t.Errorf("8 submissions made %d sweeps of %d", n, len(c.Sweeps(t.Context())))
	}
	if out, err := c.Submit(t.Context(), spec, "another key"); err != nil || !out.Created {
		t.Errorf("another key: %+v (%v)", out, err)
	}
}

func TestEndedSweepsGoOnWhenSubmittedAgain(t *testing.T) {
	c := start(t, store.NewMemory(), nil)
	b := tunertest.Bundle{Size: 40}
	put(t, c, b)
	id := submit(t, c, b.Spec("kernel")).Sweep.ID
	work(t, c, 10)
	if _, err := c.Steer(t.Context(), id, tuner.Paused); err != nil {
		t.Fatal(err)
	}
	if out := submit(t, c, b.Spec("kernel")); !out.Resumed || out.Sweep.State != tuner.Running {
		t.Errorf("a paused sweep: %+v", out)
	}
	if _, err := c.Steer(t.Context(), id, tuner.Cancelled); err != nil {
		t.Fatal(err)
	}
	out := submit(t, c, b.Spec("kernel"))
	if !out.Resumed || out.Created || out.Sweep.State != tuner.Running || out.Sweep.Counts.Done < 10 {
		t.Errorf("a cancelled sweep: %+v", out)
	}
	work(t, c, 1000)
	if out := submit(t, c, b.Spec("kernel")); out.Resumed || out.Sweep.State != tuner.Completed || out.Sweep.Counts.Done != 40 {
		t.Errorf("a completed sweep: %+v", out)
	}
	if _, err := c.Steer(t.Context(), id[:8], tuner.Paused); tuner.KindOf(err) != tuner.Conflict {
		t.Errorf("pausing it: %v", err)
	}
	if _, err := c.Sweep(t.Context(), "zz"); tuner.KindOf(err) != tuner.NotFound {
		t.Errorf("a sweep that is not: %v", err)
	}
}

func TestDeleteRemovesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMemory()
		c := start(t, st, nil)
		b := tunertest.Bundle{Size: 5000}
		put(t, c, b)
		id := submit(t, c, b.Spec("kernel")).Sweep.ID
		if err := c.Delete(t.Context(), id); tuner.KindOf(err) != tuner.Conflict {
			t.Errorf("deleting a running sweep: %v", err)
		}
		work(t, c, 1e6)
		if err := c.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if len(c.Sweeps(t.Context())) != 0 {
			t.Errorf("left: %+v", c.Sweeps(t.Context()))
		}
		if page, _ := st.Results(1, 0, 10); len(page) != 0 {
			t.Errorf("results left: %+v", page)
		}
		if _, err := c.Submit(t.Context(), b.Spec("kernel"), ""); tuner.KindOf(err) != tuner.NotFound {
			t.Errorf("its bundle was kept: %v", err)
		}
		put(t, c, b)
		if out := submit(t, c, b.Spec("kernel")); !out.Created || out.Sweep.Num != 2 {
			t.Errorf("submitted again it is %+v", out)
		}
	})
}

func TestBestSaysHowItWasFound(t *testing.T) {
	c := start(t, store.NewMemory(), nil)
	for _, size := range []int64{32, 1024} {
		b := tunertest.Bundle{Size: size}
		put(t, c, b)
		submit(t, c, b.Spec("kernel"))
	}
	work(t, c, 1e6)
	for _, q := range []struct {
		arch    string
		problem []int64
		similar []string
		size    int64
		match   coordinator.Match
	}{
		{tunertest.Arch, []int64{32}, nil, 32, coordinator.MatchExact},
		{tunertest.Arch, []int64{1024}, nil, 1024, coordinator.MatchExact},
		{tunertest.Arch, []int64{700}, nil, 1024, coordinator.MatchOtherProblem},
		{tunertest.Arch, []int64{100}, nil, 32, coordinator.MatchOtherProblem},
		{tunertest.Arch, nil, nil, 32, coordinator.MatchExact},
		{"h100", []int64{1024}, []string{"other", tunertest.Arch}, 1024, coordinator.MatchOtherArch},
	} {
		best, err := c.Best(t.Context(), coordinator.BestQuery{Kernel: "kernel", Arch: q.arch, Problem: q.problem, Similar: q.similar})
		if match := best.Match; err != nil || match != q.match || best.Spec.Problem[0] != q.size || best.Result.Index != tunertest.Best(q.size) {
			t.Errorf("%+v: %v, problem %v, index %d (%v)", q, best.Match, best.Spec.Problem, best.Result.Index, err)
		}
		if want := tunertest.Space(q.size).At(best.Result.Index); !reflect.DeepEqual(best.Values, want.Values) || !slices.Equal(best.Names, want.Names) {
			t.Errorf("%+v: configuration %v %v", q, best.Names, best.Values)
		}
	}
	if _, err := c.Best(t.Context(), coordinator.BestQuery{Kernel: "kernel", Arch: "p100"}); tuner.KindOf(err) != tuner.NotFound || !strings.Contains(err.Error(), "p100") {
		t.Errorf("where there is none: %v", err)
	}
}

func TestTopIsInOrder(t *testing.T) {
	c := start(t, store.NewMemory(), nil)
	b := tunertest.Bundle{Size: 3000}
	put(t, c, b)
	id := submit(t, c, b.Spec("kernel")).Sweep.ID
	work(t, c, 1e6)
	top, _, err := c.Top(t.Context(), id, 500)
	if err != nil {
		t.Fatal(err)
	}
	var all []tuner.Result
	for i := range b.Size {
		all = append(all, tuner.Result{Index: i, Outcome: tunertest.Oracle(i)})
	}
	slices.SortFunc(all, func(a, b tuner.Result) int {
		if a.Less(&b) {
			return -1
		}
		return 1
	})
	for i := range top {
		if top[i].Index != all[i].Index {
			t.Fatalf("place %d is configuration %d, want %d", i, top[i].Index, all[i].Index)
		}
	}
	if len(top) != 500 {
		t.Errorf("%d results", len(top))
	}
	if _, _, err := c.Top(t.Context(), id, 1e6); tuner.KindOf(err) != tuner.Limit {
		t.Errorf("a million: %v", err)
	}
}

// A watcher sees the sweep from beginning to end, and never a state that is
// not durable.
func TestWatchSeesOnlyWhatIsDurable(t *testing.T) {
	st := &slow{Memory: store.NewMemory()}
	c := start(t, st, nil)
	b := tunertest.Bundle{Size: 300}
	put(t, c, b)
	id := submit(t, c, b.Spec("kernel")).Sweep.ID
	seen := make(chan int)
	go func() {
		defer close(seen)
		for version := uint64(0); ; {
			s, v, err := c.Watch(t.Context(), id, version)
			if err != nil {
				t.Error(err)
				return
			}
			version = v
			if stored := st.count(); s.Counts.Done > stored {
				t.Errorf("%d results shown, %d stored", s.Counts.Done, stored)
			}
			if s.State == tuner.Completed {
				return
			}
		}
	}()
	work(t, c, 1e6)
	<-seen
}

// slow is a store that counts the results it has stored, after a while.
type slow struct {
	*store.Memory
	mu sync.Mutex
	n  int64
}

func (s *slow) Commit(c *tuner.Changes) error {
	time.Sleep(time.Millisecond)
	err := s.Memory.Commit(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n += int64(len(c.Results))
	return err
}

func (s *slow) count() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// A stored sweep whose definition no longer gives the same questions fails
// with a reason; the coordinator and the other sweeps go on.
func TestSweepThatCannotBeRestoredFails(t *testing.T) {
	st := store.NewMemory()
	b := tunertest.Bundle{Size: 40}
	content, digest := b.Content()
	_, _ = st.PutBundle(digest, content, tuner.Act{})
	rec := tuner.Sweep{Num: 1, ID: "changed", Spec: b.Spec("kernel"), Window: 8, State: tuner.Running}
	missing := tuner.Sweep{Num: 2, ID: "missing", Spec: tunertest.Bundle{Size: 41}.Spec("kernel"), Window: 8, State: tuner.Running}
	fine := tuner.Sweep{Num: 3, ID: "fine", Spec: b.Spec("other"), Window: 8, State: tuner.Running}
	err := st.Commit(&tuner.Changes{Sweeps: []tuner.Sweep{rec, missing, fine}, Results: []tuner.ResultChange{
		{Sweep: 1, Result: tuner.Result{Seq: 0, Index: 17, Outcome: tunertest.Oracle(17)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, st, nil)
	work(t, c, 1e6)
	for id, says := range map[string]string{"changed": "was configuration 17 and is now 0", "missing": "no bundle"} {
		if s, err := c.Sweep(t.Context(), id); err != nil || s.State != tuner.Failed || !strings.Contains(s.Message, says) {
			t.Errorf("%s: %v %q (%v)", id, s.State, s.Message, err)
		}
	}
	if s, err := c.Sweep(t.Context(), "fine"); err != nil || s.State != tuner.Completed {
		t.Errorf("the other: %v (%v)", s.State, err)
	}
}

// refusing is a planner of what cannot be evaluated.
type refusing struct{ tunertest.Planner }

func (r refusing) Plan(ctx context.Context, spec tuner.Spec, files tuner.Files) (tuner.Plan, error) {
	plan, err := r.Planner.Plan(ctx, spec, files)
	plan.Refusal = errors.New("nothing of it can be launched")
	return plan, err
}

// No new sweep is made of what cannot be evaluated; one that is stored is read, and goes on.
func TestNoSweepOfWhatCannotBeEvaluated(t *testing.T) {
	st := store.NewMemory()
	b := tunertest.Bundle{Size: 40}
	content, digest := b.Content()
	_, _ = st.PutBundle(digest, content, tuner.Act{})
	ended := tuner.Sweep{Num: 1, ID: "ended", Spec: b.Spec("kernel"), Window: 8, State: tuner.Completed}
	live := tuner.Sweep{Num: 2, ID: "live", Spec: b.Spec("other"), Window: 8, State: tuner.Running}
	if err := st.Commit(&tuner.Changes{Sweeps: []tuner.Sweep{ended, live}}); err != nil {
		t.Fatal(err)
	}
	c := start(t, st, func(o *coordinator.Options) { o.Planner = refusing{} })
	if _, err := c.Submit(t.Context(), b.Spec("third"), ""); tuner.KindOf(err) != tuner.Invalid || !strings.Contains(err.Error(), "nothing of it can be launched") {
		t.Errorf("submitted: %v", err)
	}
	if space, err := c.Space(t.Context(), 1); err != nil || space.Size() != b.Size {
		t.Errorf("the space of one that has ended: %v, %v", space, err)
	}
	work(t, c, 1e6)
	if s, err := c.Sweep(t.Context(), "live"); err != nil || s.State != tuner.Completed {
		t.Errorf("one that was running: %v (%v)", s.State, err)
	}
}

func TestLimits(t *testing.T) {
	c := start(t, store.NewMemory(), func(o *coordinator.Options) { o.MaxLive, o.MaxSpace, o.MaxBundle = 1, 1000, 100 })
	b := tunertest.Bundle{Size: 1000}
	put(t, c, b)
	submit(t, c, b.Spec("kernel"))
	if _, err := c.Submit(t.Context(), b.Spec("kernel"), "second"); tuner.KindOf(err) != tuner.Limit {
		t.Errorf("a second live sweep: %v", err)
	}
	big := tunertest.Bundle{Size: 1001}
	put(t, c, big)
	if _, err := c.Submit(t.Context(), big.Spec("kernel"), ""); tuner.KindOf(err) != tuner.Limit {
		t.Errorf("a larger space: %v", err)
	}
	empty := tunertest.Bundle{}
	put(t, c, empty)
	spec := empty.Spec("kernel")
	spec.Problem = nil
	if _, err := c.Submit(t.Context(), spec, ""); tuner.KindOf(err) != tuner.Invalid {
		t.Errorf("an empty space: %v", err)
	}
	if err := c.PutBundle(t.Context(), "x", make([]byte, 101)); tuner.KindOf(err) != tuner.Limit {
		t.Errorf("a larger bundle: %v", err)
	}
	if err := c.PutBundle(t.Context(), "x", nil); tuner.KindOf(err) != tuner.Invalid {
		t.Errorf("a wrong digest: %v", err)
	}
	if _, err := c.Submit(t.Context(), tuner.Spec{Problem: []int64{-1}, Budget: -1}, ""); tuner.KindOf(err) != tuner.Invalid ||
		!strings.Contains(err.Error(), "kernel is missing") || !strings.Contains(err.Error(), "problem size -1") || !strings.Contains(err.Error(), "budget") {
		t.Errorf("a spec with many faults: %v", err)
	}
}

// When workers live in the coordinator's process, what it leased before it was
// killed is granted again at once.
func TestLeasesOfAProcessThatIsGone(t *testing.T) {
	for _, alone := range []bool{false, true} {
		st := store.NewMemory()
		b := tunertest.Bundle{Size: 3}
		first := start(t, st, nil)
		put(t, first, b)
		submit(t, first, b.Spec("kernel"))
		if _, err := first.Synchronize(t.Context(), &tuner.Sync{Worker: tunertest.Worker("gone", 1, 2), Want: 2}, 0); err != nil {
			t.Fatal(err)
		}
		second := start(t, st, func(o *coordinator.Options) { o.Alone = alone })
		work(t, second, 3)
		want := int64(1)
		if alone {
			want = 3
		}
		if n := second.Sweeps(t.Context())[0].Counts.Done; n != want {
			t.Errorf("alone %v: %d of 3 done, want %d", alone, n, want)
		}
	}
}

// While the disk is full those who watch are told so, and what they were shown of
// a sweep stands: its record, which is older, is not shown for it.
func TestWatchersOfAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		full := false
		var mu sync.Mutex
		fill := func(to bool) { mu.Lock(); defer mu.Unlock(); full = to }
		st := &store.Failing{Store: store.NewMemory(), Fail: func() error {
			mu.Lock()
			defer mu.Unlock()
			if full {
				return tuner.Errorf(tuner.DiskFull, "store changes", "%w", syscall.ENOSPC)
			}
			return nil
		}}
		c := start(t, st, nil)
		b := tunertest.Bundle{Size: 400}
		put(t, c, b)
		id := submit(t, c, b.Spec("kernel")).Sweep.ID
		work(t, c, 200)
		time.Sleep(2 * time.Second) // idle workers show too
		_, version, err := c.Watch(ctx, id, 0)
		if err != nil {
			t.Fatal(err)
		}
		fill(true)
		if _, err := c.Submit(t.Context(), b.Spec("another"), ""); tuner.KindOf(err) != tuner.DiskFull {
			t.Fatalf("submitted to a full disk: %v", err)
		}
		for err == nil {
			_, version, err = c.Watch(ctx, id, version)
		}
		if tuner.KindOf(err) != tuner.DiskFull {
			t.Errorf("who watches is told %v", err)
		}
		fill(false)
		for done := int64(200); done < 400; {
			s, v, err := c.Watch(ctx, id, version)
			if tuner.KindOf(err) == tuner.DiskFull {
				time.Sleep(time.Millisecond)
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			if s.Counts.Done < done {
				t.Fatalf("%d of %d are shown after the disk was full", s.Counts.Done, done)
			}
			if version, done = v, s.Counts.Done; c.Healthy() == nil {
				work(t, c, 200)
			}
		}
	})
}

// A sweep that stored outcomes answer whole ends before anybody could see it; it
// is one sweep nevertheless, whoever submits it meanwhile.
func TestSubmitIsIdempotentAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := make(chan struct{})
		close(slow)
		st := &store.Failing{Store: store.NewMemory(), Fail: func() error { <-slow; return nil }}
		c := start(t, st, nil)
		b := tunertest.Bundle{Size: 40}
		put(t, c, b)
		submit(t, c, b.Spec("kernel"))
		work(t, c, 40)
		spec := b.Spec("kernel")
		spec.Seed++
		slow = make(chan struct{})
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if _, err := c.Submit(t.Context(), spec, ""); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(slow)
		group.Wait()
		for num := uint64(3); num < 10; num++ {
			if s, ok := c.Number(num); ok {
				t.Errorf("sweep %s is there again under number %d", s.ID, num)
			}
		}
	})
}
