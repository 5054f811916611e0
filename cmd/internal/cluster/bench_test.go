package cluster_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/rpc/intake"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/worker"
)

// The test binary is a coordinator ("address directory") or a worker ("address
// name") when its environment says so.
const (
	coordinateEnv = "WARPTUNE_BENCH_COORDINATES"
	workEnv       = "WARPTUNE_BENCH_WORKS"
)

func TestMain(m *testing.M) {
	for env, role := range map[string]func(ctx context.Context, address, arg string) error{coordinateEnv: coordinate, workEnv: work} {
		if value := os.Getenv(env); value != "" {
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			address, arg, _ := strings.Cut(value, " ")
			if err := role(ctx, address, arg); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			stop()
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func coordinate(ctx context.Context, address, dir string) error {
	intake.Serving()
	st, err := store.Open(filepath.Join(dir, "warptune.db"), store.OpenOptions{})
	if err != nil {
		return err
	}
	defer st.Close()
	c, err := coordinator.New(st, coordinator.Options{Planner: cluster.Planner{}})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := rpc.NewServer(c, nil)
	defer server.Stop()
	go func() { _ = server.Serve(l) }()
	return c.Run(ctx)
}

func work(ctx context.Context, address, name string) error {
	runtime.GOMAXPROCS(1)
	conn, err := cluster.Dial(address)
	if err != nil {
		return err
	}
	defer conn.Close()
	archs, err := cluster.Descriptors()
	if err != nil {
		return err
	}
	w, err := worker.New(conn, worker.Options{
		ID: name, Slots: 1, Engine: simengine.Version(), Archs: archs, Leave: true, Evaluator: cluster.NewEvaluator(worker.NewKnown(conn)),
	})
	if err != nil {
		return err
	}
	_, err = w.Run(ctx)
	return err
}

// BenchmarkRealEvaluations is a sweep of a built-in kernel at cycle level by
// one worker and by two, each a process of one slot, with the coordinator in
// another. It says what share of the CPU the coordinator takes; the times of
// the two, on a machine with two idle cores, say what a second worker brings.
func BenchmarkRealEvaluations(b *testing.B) {
	alone := time.Duration(0)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			for b.Loop() {
				took, share := realSweep(b, workers)
				b.ReportMetric(100*share, "coordinator-cpu-%")
				if workers == 1 {
					alone = took
				} else {
					b.ReportMetric(alone.Seconds()/took.Seconds(), "times-one")
				}
			}
		})
	}
}

// realSweep returns how long a sweep took, from its submission with workers
// ready, and the coordinator's share of the CPU.
func realSweep(b *testing.B, workers int) (took time.Duration, share float64) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	coord := role(b, coordinateEnv, address+" "+b.TempDir())
	conn, err := cluster.Dial(address)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	client := warptunev1.NewSweepServiceClient(conn)
	var all []*exec.Cmd
	for i := range workers {
		all = append(all, role(b, workEnv, fmt.Sprint(address, " w", i)))
	}
	for n := 0; n < workers; { // those that wait for work
		reply, err := client.Workers(b.Context(), &warptunev1.WorkersRequest{}, grpc.WaitForReady(true))
		if err != nil {
			b.Fatal(err)
		}
		if n = len(reply.GetWorkers()); n < workers {
			time.Sleep(10 * time.Millisecond)
		}
	}
	started := time.Now()
	submitReal(b, client)
	busy := 0.0
	for _, w := range all {
		if err := w.Wait(); err != nil {
			b.Error(err)
		}
		busy += cpuOf(w)
	}
	took = time.Since(started)
	_ = coord.Process.Signal(syscall.SIGTERM)
	if err := coord.Wait(); err != nil {
		b.Error(err)
	}
	its := cpuOf(coord)
	return took, its / (its + busy)
}

func role(b *testing.B, env, value string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), env+"="+value)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

func cpuOf(cmd *exec.Cmd) float64 {
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

func submitReal(b *testing.B, client warptunev1.SweepServiceClient) {
	builtIn, err := catalogue.Open("sgemm")
	if err != nil {
		b.Fatal(err)
	}
	def, err := builtIn.Definition()
	if err != nil {
		b.Fatal(err)
	}
	content, digest, err := def.Bundle()
	if err != nil {
		b.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		b.Fatal(err)
	}
	stream, err := client.PutBundle(b.Context())
	for len(content) > 0 && err == nil {
		n := min(len(content), 256<<10)
		err = stream.Send(&warptunev1.PutBundleRequest{Digest: digest, Chunk: content[:n]})
		content = content[n:]
	}
	if err == nil {
		_, err = stream.CloseAndRecv()
	}
	if err != nil {
		b.Fatal(err)
	}
	spec := tuner.Spec{
		Kernel: def.Name, Bundle: digest, Arch: d.Name, Problem: []int64{2048}, Strategy: "exhaustive", Budget: 300,
		Level: "cycle", ArchDigest: d.Digest, Engine: simengine.Version(),
	}
	if _, err := client.Submit(b.Context(), &warptunev1.SubmitRequest{Spec: rpc.FromSpec(&spec)}); err != nil {
		b.Fatal(err)
	}
}
