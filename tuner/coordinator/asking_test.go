package coordinator_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// Who asks how things stand waits for no change of the ledger, however long it takes.
func TestAskingWaitsForNobody(t *testing.T) {
	var stands atomic.Bool
	standing, goOn := make(chan struct{}, 1), make(chan struct{})
	c := start(t, store.NewMemory(), func(o *coordinator.Options) {
		o.Now = func() time.Time { // asked under the ledger's lock
			if stands.CompareAndSwap(true, false) {
				standing <- struct{}{}
				<-goOn
			}
			return time.Now()
		}
	})
	b := tunertest.Bundle{Size: 30}
	put(t, c, b)
	id := submit(t, c, b.Spec("kernel")).Sweep.ID
	work(t, c, 20)
	changed := make(chan error, 1)
	stands.Store(true)
	go func() {
		_, err := c.Synchronize(t.Context(), &tuner.Sync{Worker: tunertest.Worker("w", 1, 1)}, 0)
		changed <- err
	}()
	<-standing
	asked := make(chan error, 1)
	go func() {
		_, err := c.Sweep(t.Context(), id)
		if err == nil {
			_, err = c.Best(t.Context(), coordinator.BestQuery{Kernel: "kernel", Arch: tunertest.Arch})
		}
		c.Before(t.Context(), 1<<60, func(*tuner.Sweep) bool { return true })
		c.Damaged()
		asked <- err
	}()
	select {
	case err := <-asked:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("an answer waits for the ledger")
	}
	close(goOn)
	if err := <-changed; err != nil {
		t.Error(err)
	}
}
