package coordinator_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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

// endless plans the kernel "endless" for ever.
type endless struct {
	tunertest.Planner
	mu   sync.Mutex
	now  int // plans that are being made
	most int
}

func (e *endless) Plan(ctx context.Context, spec tuner.Spec, files tuner.Files) (tuner.Plan, error) {
	if spec.Kernel != "endless" {
		return e.Planner.Plan(ctx, spec, files)
	}
	e.mu.Lock()
	e.now++
	e.most = max(e.most, e.now)
	e.mu.Unlock()
	<-ctx.Done()
	e.mu.Lock()
	e.now--
	e.mu.Unlock()
	return tuner.Plan{}, ctx.Err()
}

// A spec that takes too long to plan is refused when its time is spent, and given up
// when who submitted it has gone or the coordinator is to end; others' are planned
// when it is their turn.
func TestPlanningEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopping, stop := context.WithCancel(t.Context())
		planner := &endless{}
		c := start(t, store.NewMemory(), func(o *coordinator.Options) {
			o.Planner, o.Context, o.PlanTime = planner, stopping, 10*time.Second
		})
		b := tunertest.Bundle{Size: 4}
		put(t, c, b)
		hard := func(seed uint64) tuner.Spec {
			s := b.Spec("endless")
			s.Seed = seed
			return s
		}
		begun := time.Now()
		_, err := c.Submit(t.Context(), hard(0), "")
		if tuner.KindOf(err) != tuner.Limit || !strings.Contains(err.Error(), "longer than 10s") || time.Since(begun) != 10*time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}

		ctx, leave := context.WithCancel(t.Context())
		answers := make(chan error)
		const callers = 100
		for i := range uint64(callers) {
			go func() { _, err := c.Submit(ctx, hard(i), ""); answers <- err }()
		}
		synctest.Wait()
		planned := make(chan error)
		go func() { _, err := c.Submit(t.Context(), b.Spec("kernel"), ""); planned <- err }()
		synctest.Wait()
		leave()
		for range callers {
			if err := <-answers; !errors.Is(err, context.Canceled) {
				t.Errorf("to who has gone: %v", err)
			}
		}
		if err := <-planned; err != nil {
			t.Errorf("another sweep: %v", err)
		}
		if planner.now != 0 || planner.most >= callers {
			t.Errorf("%d are still planned, %d were at a time", planner.now, planner.most)
		}

		go func() { _, err := c.Submit(t.Context(), hard(0), ""); answers <- err }()
		synctest.Wait()
		stop()
		if err := <-answers; tuner.KindOf(err) != tuner.Unavailable || time.Since(begun) != 10*time.Second {
			t.Errorf("when the coordinator is to end, after %v: %v", time.Since(begun), err)
		}
	})
}

// A coordinator that is to end while it plans what is stored ends, and fails no sweep.
func TestPlanningAtStartEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMemory()
		b := tunertest.Bundle{Size: 4}
		content, digest := b.Content()
		_, _ = st.PutBundle(digest, content, tuner.Act{})
		live := tuner.Sweep{Num: 1, ID: "live", Spec: b.Spec("endless"), Window: 8, State: tuner.Running}
		if err := st.Commit(&tuner.Changes{Sweeps: []tuner.Sweep{live}}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		_, err := coordinator.New(st, coordinator.Options{Planner: &endless{}, Context: ctx})
		if tuner.KindOf(err) != tuner.Unavailable {
			t.Errorf("New returns %v", err)
		}
		if all, _ := st.Sweeps(); len(all) != 1 || all[0].State != tuner.Running {
			t.Errorf("what is stored: %+v", all)
		}
	})
}

// A descriptor that came with sweeps is sent as long as there is one of them, and goes
// with the last.
func TestDescriptorsGoWithTheirSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, store.NewMemory(), nil)
		b := tunertest.Bundle{Size: 4}
		put(t, c, b)
		text := []byte("a descriptor")
		sum := sha256.Sum256(text)
		digest := hex.EncodeToString(sum[:])
		spec := b.Spec("kernel")
		spec.Descriptor = digest
		if _, err := c.Submit(t.Context(), spec, ""); tuner.KindOf(err) != tuner.NotFound {
			t.Errorf("without its descriptor: %v", err)
		}
		if err := c.PutBundle(t.Context(), digest, text); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for seed := range uint64(2) {
			spec.Seed = seed
			ids = append(ids, submit(t, c, spec).Sweep.ID)
		}
		work(t, c, 1e6)
		for left := 1; left >= 0; left-- {
			if got, err := c.Descriptor(t.Context(), ids[left]); err != nil || string(got) != string(text) {
				t.Errorf("the descriptor of a sweep: %q (%v)", got, err)
			}
			if err := c.Delete(t.Context(), ids[left]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second) // of the test's own time
			_, release, err := c.Bundle(t.Context(), digest)
			if err == nil {
				release()
			}
			if (err == nil) != (left > 0) {
				t.Errorf("with %d sweeps of it left: %v", left, err)
			}
		}
	})
}
