package coordinator_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// When a commit fails, nothing that waits to be committed after it is acknowledged.
func TestWhatWaitsBehindAFailedCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		fail := make(chan error)
		st := &store.Failing{Store: store.NewMemory(), Fail: func() error {
			if broken.Load() {
				return <-fail
			}
			return nil
		}}
		c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Run(context.Background()) }()
		b := tunertest.Bundle{Size: 20}
		content, digest := b.Content()
		if err := c.PutBundle(t.Context(), digest, content); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second) // it has looked for bundles that nobody needs
		broken.Store(true)
		answers := make(chan error, 3)
		for _, kernel := range []string{"first", "second", "third"} {
			go func() {
				_, err := c.Submit(t.Context(), b.Spec(kernel), "")
				answers <- err
			}()
			synctest.Wait() // the first is being committed; the others wait behind it
		}
		fail <- errors.New("input/output error")
		for range 3 {
			if err := <-answers; err == nil {
				t.Error("a sweep is acknowledged that is not stored")
			}
		}
		if err := <-ended; err == nil || tuner.KindOf(err) == tuner.DiskFull {
			t.Errorf("the coordinator ended with %v", err)
		}
	})
}
