package intake

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

// Calls that report are read when there is a place for them, and not before;
// others keep none. Who gives up waiting takes none either, and whoever leaves,
// or waits for something else, makes room for one.
func TestAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, g := &Admission{places: make(chan struct{}, 2)}, NewGate()
		send := func(m *warptunev1.SynchronizeRequest) mem.BufferSlice {
			data, err := g.Codec.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
		fault := &warptunev1.Report{Lease: &warptunev1.Lease{Seq: 1}, Result: &warptunev1.Report_Fault{Fault: strings.Repeat("x", longRequest)}}
		reports := send(&warptunev1.SynchronizeRequest{Reports: []*warptunev1.Report{fault}})
		held := send(&warptunev1.SynchronizeRequest{KnownSweeps: make([]uint64, 2*longRequest)})

		var read atomic.Int64
		wait, end, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
		serve := a.handler(func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in := &warptunev1.SynchronizeRequest{}
			if err := decode(in); err != nil {
				return nil, err
			}
			read.Add(1)
			select {
			case <-wait:
				LeavePlace(ctx)
				<-over
			case <-end:
			}
			return nil, nil
		})
		errs := make(chan error, 10)
		call := func(ctx context.Context, data mem.BufferSlice) {
			_, err := serve(nil, ctx, func(m any) error { return g.Unmarshal(data, m) }, nil)
			errs <- err
		}
		expect := func(n int64, when string) {
			t.Helper()
			if synctest.Wait(); read.Load() != n {
				t.Fatalf("%s: %d calls are read, want %d", when, read.Load(), n)
			}
		}
		for range 4 {
			go call(t.Context(), reports)
		}
		expect(2, "four that report, two places")
		leaving, leave := context.WithCancel(t.Context())
		go call(leaving, reports)
		leave()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("who gives up is told %v", err)
		}
		expect(2, "one gave up")
		wait <- struct{}{}
		expect(3, "one waits for something else")
		end <- struct{}{}
		expect(4, "one has ended")
		go call(t.Context(), reports)
		expect(4, "both places are taken")
		end <- struct{}{}
		end <- struct{}{}
		end <- struct{}{}
		for range 3 {
			go call(t.Context(), held)
		}
		expect(8, "three have nothing to report")
		close(end)
		close(over)
		for range 8 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if len(a.places) != 0 {
			t.Errorf("%d places are taken for ever", len(a.places))
		}
	})
}
