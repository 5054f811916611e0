package sweep

import (
	"bytes"
	"context"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
)

// filling is a coordinator whose disk is full for the first few calls.
type filling struct {
	warptunev1.SweepServiceClient
	calls int
}

func (f *filling) Watch(context.Context, *warptunev1.WatchRequest, ...grpc.CallOption) (grpc.ServerStreamingClient[warptunev1.WatchResponse], error) {
	f.calls++
	return &states{full: f.calls < 4}, nil
}

// states is a stream of one state and, while the disk is full, that.
type states struct {
	grpc.ServerStreamingClient[warptunev1.WatchResponse]
	full, sent bool
}

func (s *states) Recv() (*warptunev1.WatchResponse, error) {
	state := warptunev1.SweepState_SWEEP_STATE_COMPLETED
	switch {
	case s.sent:
		return nil, rpc.ToStatus(tuner.Errorf(tuner.DiskFull, "store changes", "%w: free some space", syscall.ENOSPC))
	case s.full:
		state = warptunev1.SweepState_SWEEP_STATE_RUNNING
	}
	s.sent = true
	return &warptunev1.WatchResponse{Sweep: &warptunev1.Sweep{State: state, Counts: &warptunev1.Counts{Done: 3}}}, nil
}

// Who follows a sweep is told once that the coordinator's disk is full, and goes
// on when it is not.
func TestWatchOfAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stderr bytes.Buffer
		a := &cli.App{Stderr: &stderr}
		s, err := Watch(t.Context(), a, &connect.Client{SweepServiceClient: &filling{}}, "a")
		if err != nil || s.GetState() != warptunev1.SweepState_SWEEP_STATE_COMPLETED {
			t.Errorf("%v (%v)", s, err)
		}
		if n := strings.Count(stderr.String(), "no space left on device: free some space"); n != 1 {
			t.Errorf("told %d times:\n%s", n, &stderr)
		}
	})
}
