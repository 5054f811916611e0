package worker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
	"github.com/warptune/warptune/tuner/worker"
)

// coordinateEnv makes the test binary a coordinator: "path address".
const coordinateEnv = "WARPTUNE_TEST_COORDINATES"

func TestMain(m *testing.M) {
	if arg := os.Getenv(coordinateEnv); arg != "" {
		path, address, _ := strings.Cut(arg, " ")
		if err := coordinate(path, address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if arg := os.Getenv(askEnv); arg != "" {
		if err := asks(arg); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func coordinate(path, address string) error {
	st, err := store.Open(path, store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		return err
	}
	c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	go func() { _ = rpc.NewServer(c, nil).Serve(l) }()
	return c.Run(context.Background())
}

// kills is how often the coordinator is killed; make soak does it 200 times.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("WARPTUNE_KILLS")); err == nil {
		return n
	}
	return 5
}

// The coordinator's process is killed again and again. What was acknowledged
// is stored, nothing is counted twice, and the table is that of an undisturbed
// sweep.
func TestCoordinatorKilledAgainAndAgain(t *testing.T) {
	b := tunertest.Bundle{Size: int64(400 * kills()), Batch: 40}
	want := undisturbed(t, b)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	path := filepath.Join(t.TempDir(), "sweeps.db")
	id := prepare(t, path, b)
	address := freeAddress(t)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var supervised sync.WaitGroup
	supervised.Go(func() { supervise(ctx, t, path, address, rng) })

	conn, err := grpc.NewClient(address, rpc.ClientOptions(nil)...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	recorded := map[[2]uint64]int{}
	var mu sync.Mutex
	watched := &network{conn, func(ctx context.Context, _ string, _, out any, call func(context.Context, any) error) error {
		err := call(ctx, out)
		mu.Lock()
		defer mu.Unlock()
		for _, a := range out.(*warptunev1.SynchronizeResponse).GetAcknowledgements() {
			if a.GetStatus() == warptunev1.ReportStatus_REPORT_STATUS_RECORDED {
				recorded[[2]uint64{a.GetLease().GetSweep(), uint64(a.GetLease().GetSeq())}]++
			}
		}
		return err
	}}
	s := &system{t: t}
	var workers []*worker.Worker
	for i := range 4 {
		workers = append(workers, s.worker(fmt.Sprint("w", i), 2, 2*time.Millisecond, watched))
	}
	run(t, workers...)
	stop()
	supervised.Wait()

	if found, err := store.Check(path); err != nil || len(found.Problems) > 0 {
		t.Errorf("the store is not sound: %+v (%v)", found, err)
	}
	s = newSystem(t, mustOpen(t, path))
	defer s.store.Close()
	defer s.stop()
	if got := s.table(id); got != want {
		t.Errorf("table differs from an undisturbed one:\n%s\nwant\n%s", got, want)
	}
	for key, n := range recorded {
		if n != 1 {
			t.Errorf("trial %d was acknowledged as new %d times", key[1], n)
		}
	}
	t.Logf("%d of %d results acknowledged as new, the others after a lost reply", len(recorded), b.Size)
}

// prepare makes a store with the sweep submitted.
func prepare(t *testing.T, path string, b tunertest.Bundle) string {
	t.Helper()
	s := newSystem(t, mustOpen(t, path))
	id := s.submit(b).ID
	s.stop()
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	return id
}

func mustOpen(t *testing.T, path string) store.Store {
	t.Helper()
	st, err := store.Open(path, store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// supervise keeps a coordinator process running and kills it at random, until
// ctx ends.
func supervise(ctx context.Context, t *testing.T, path, address string, rng *rand.Rand) {
	for killed := 0; ctx.Err() == nil; killed++ {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), coordinateEnv+"="+path+" "+address)
		cmd.Stderr = logWriter{t}
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return
		}
		life := time.Duration(100+rng.IntN(400)) * time.Millisecond
		if killed >= kills() {
			life = time.Hour
		}
		select {
		case <-time.After(life):
		case <-ctx.Done():
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
