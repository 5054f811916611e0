package worker_test

import (
	"context"
	"path"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
	"github.com/warptune/warptune/tuner/worker"
)

// countingConn counts calls by method.
type countingConn struct {
	grpc.ClientConnInterface
	calls map[string]int
}

func (c *countingConn) Invoke(ctx context.Context, method string, in, out any, opts ...grpc.CallOption) error {
	c.calls[path.Base(method)]++
	return c.ClientConnInterface.Invoke(ctx, method, in, out, opts...)
}

// An evaluator is told of what it will be asked, of each once and before it is;
// and calls are few, since reports are gathered while there is something to do.
func TestAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		const trials = 100
		s.submit(tunertest.Bundle{Size: trials})
		conn := s.connect()
		defer conn.Close()
		counting := &countingConn{conn, map[string]int{}}
		told, unannounced := map[string]bool{}, 0
		run(t, s.workerOf("a", 1, counting, func(ctx context.Context, q tuner.Question, bundle []byte) (tuner.Outcome, error) {
			if !told[q.Config.String()] {
				unannounced++
			}
			for _, c := range q.Ahead {
				if name := c.String(); told[name] || name == q.Config.String() {
					t.Errorf("with %s it is told of %s: not for the first time", q.Config, name)
				}
				told[c.String()] = true
			}
			time.Sleep(50 * time.Millisecond)
			return tunertest.Evaluate(ctx, q, bundle)
		}))
		if len(told)+unannounced != trials || unannounced > trials/5 {
			t.Errorf("of %d trials %d were announced, %d were not", trials, len(told), unannounced)
		}
		if n := counting.calls["Synchronize"]; n > trials/4 {
			t.Errorf("%d calls for %d trials", n, trials)
		}
	})
}

// What is asked ahead is answered once without a further call, by what was known
// then, or by what this process has found out since.
func TestKnownAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		s.submit(tunertest.Bundle{Size: 30})
		conn := s.connect()
		defer conn.Close()
		run(t, s.worker("a", 2, 0, conn))
		counting := &countingConn{conn, map[string]int{}}
		known := worker.NewKnown(counting)
		digest := func(i int64) string {
			o := tunertest.Oracle(i)
			if o.Digest == "" {
				t.Fatalf("%d has no digest", i)
			}
			return o.Digest
		}
		expect := func(i int64, found bool, calls int, ahead ...string) {
			t.Helper()
			o, ok := known.Find(t.Context(), digest(i), ahead...)
			if ok != found || ok && (o.Digest != digest(i) || !o.Found) {
				t.Errorf("%d: found %+v (%v)", i, o, ok)
			}
			if n := counting.calls["Lookup"]; n != calls {
				t.Errorf("%d: %d calls, want %d", i, n, calls)
			}
		}
		const stored, alsoStored, other, another, third = 3, 7, 77, 79, 80
		expect(other, false, 1, digest(stored), digest(another), digest(third))
		expect(stored, true, 1)
		expect(another, false, 1)
		known.Note(tunertest.Oracle(third))
		expect(third, true, 1)
		expect(another, false, 2, digest(alsoStored))
		expect(alsoStored, true, 2)
		expect(alsoStored, true, 3)
	})
}
