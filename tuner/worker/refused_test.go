package worker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/warptune/warptune/tuner/tunertest"
	"github.com/warptune/warptune/tuner/worker"
)

// A worker that was welcome and is refused for a while, because somebody else on its
// host guesses tokens or the coordinator cannot read its own, waits and goes on. One
// that was never welcome ends, and says why.
func TestRefusedForAWhile(t *testing.T) {
	b := tunertest.Bundle{Size: 300}
	want := undisturbed(t, b)
	for _, code := range []codes.Code{codes.Unauthenticated, codes.PermissionDenied, codes.ResourceExhausted} {
		synctest.Test(t, func(t *testing.T) {
			s := onDisk(t)
			defer func() { s.stop() }()
			id := s.submit(b).ID
			conn := s.connect()
			defer conn.Close()
			begun := time.Now()
			wire := &network{conn, func(ctx context.Context, method string, in, out any, call func(context.Context, any) error) error {
				if at := time.Since(begun); at > 3*time.Second && at < 65*time.Second {
					return status.Error(code, "not now")
				}
				return call(ctx, out)
			}}
			run(t, s.worker("a", 1, 50*time.Millisecond, wire), s.worker("b", 1, 50*time.Millisecond, wire))
			if got := s.table(id); got != want || time.Since(begun) < 65*time.Second {
				t.Errorf("%v: after %v the table is\n%s\nwant\n%s", code, time.Since(begun), got, want)
			}
			if code == codes.ResourceExhausted {
				return
			}
			never := &network{conn, func(context.Context, string, any, any, func(context.Context, any) error) error {
				return status.Error(code, "never")
			}}
			if exit, err := s.worker("c", 1, 0, never).Run(t.Context()); exit != worker.Faulted || err == nil {
				t.Errorf("%v: one that was never welcome ends with %v, %v", code, exit, err)
			}
		})
	}
}
