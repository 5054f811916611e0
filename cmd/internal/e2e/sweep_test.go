package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
)

// small and long are sweeps of 34 and of 374 configurations.
var (
	small = []string{"transpose_tiled", "--arch", "h200", "--problem", "1024", "--level", "model",
		"--set", "PAD=0,1", "--set", "max_registers=0", "--set", "smem_carveout=-1"}
	long = []string{"transpose_tiled", "--arch", "h200", "--problem", "1024"}
)

// tables are what every sweep of the same question must give, byte for byte.
type tables struct{ best, all string }

func exported(t *testing.T, where ...string) tables {
	t.Helper()
	export := append([]string{"export", "--format", "json"}, where...)
	return tables{warptune(t, export...), warptune(t, append(export, "--all")...)}
}

// embedded are the tables of an undisturbed embedded run.
func embedded(t *testing.T, sweep []string) tables {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	warptune(t, append([]string{"tune", "--db", db}, sweep...)...)
	return exported(t, "--db", db)
}

func (a tables) compare(t *testing.T, b tables) {
	t.Helper()
	if a.best != b.best {
		t.Errorf("the best differ:\n%s\n%s", a.best, b.best)
	}
	if a.all != b.all {
		t.Errorf("the tables of all configurations differ: %d and %d bytes", len(a.all), len(b.all))
	}
}

// submit submits a sweep and returns its identity.
func submit(t *testing.T, address string, sweep ...string) string {
	t.Helper()
	warptune(t, append([]string{"sweep", "submit", "--coordinator", address}, sweep...)...)
	list, err := sweeps(t, address).List(t.Context(), &warptunev1.ListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return list.GetSweeps()[0].GetId()
}

// sweeps is a client of a coordinator, which may be away.
func sweeps(t *testing.T, address string) warptunev1.SweepServiceClient {
	t.Helper()
	conn, err := cluster.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return warptunev1.NewSweepServiceClient(conn)
}

// reach follows a sweep until what is asked holds.
func reach(t *testing.T, address, id, what string, holds func(*warptunev1.Sweep) bool) *warptunev1.Sweep {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := sweeps(t, address)
	var last *warptunev1.Sweep
	for ctx.Err() == nil {
		stream, err := client.Watch(ctx, &warptunev1.WatchRequest{Id: id}, grpc.WaitForReady(true))
		for err == nil {
			var r *warptunev1.WatchResponse
			if r, err = stream.Recv(); err == nil {
				if last = r.GetSweep(); holds(last) {
					return last
				}
			}
		}
		if last != nil && strings.HasSuffix(last.GetState().String(), "ED") && last.GetState() != warptunev1.SweepState_SWEEP_STATE_PAUSED {
			break // it has ended
		}
	}
	t.Fatalf("the sweep does not come to be %s: %v", what, last)
	return nil
}

func done(n int64) func(*warptunev1.Sweep) bool {
	return func(s *warptunev1.Sweep) bool { return s.GetCounts().GetDone() >= n }
}

func inState(want warptunev1.SweepState) func(*warptunev1.Sweep) bool {
	return func(s *warptunev1.Sweep) bool { return s.GetState() == want }
}

// coordinate starts a coordinator and waits until it serves.
func coordinate(t *testing.T, address, data string, flags ...string) *process {
	t.Helper()
	p := start(t, "coordinator", append([]string{"--listen", address, "--data", data}, flags...)...)
	p.says(t, `serving: address=(\S+)`)
	return p
}
