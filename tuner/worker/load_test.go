package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
	"github.com/warptune/warptune/tuner/worker"
)

// loadWorkers is how many workers BenchmarkLoad connects.
const loadWorkers = 1000

// BenchmarkLoad is a coordinator in a process of its own, on bbolt and TCP,
// with a thousand workers whose evaluations cost nothing, and people who ask
// how things stand meanwhile. The space has ten million configurations, of
// which the sweep evaluates as many as the benchmark's name says; then the
// coordinator is killed and started again.
//
// The time per operation is that of a whole sweep; see the other figures.
// CPU is counted apart for the coordinator and for the workers, since it says
// more than the clock when the machine does other things too.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int64{1e4, 1e5, 1e6} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				load(b, n)
			}
		})
	}
}

func load(b *testing.B, n int64) {
	path := filepath.Join(b.TempDir(), "sweeps.db")
	coord := spawn(b, path)
	admin := coord.dial(b)
	sweep := submitOver(b, admin, n)
	endAsking := spawnAsker(b, coord.address, sweep)

	started, mine, its := time.Now(), cpuTime(), coord.cpu(b)
	exits := make(chan error)
	for i := range loadWorkers {
		conn := coord.dial(b)
		w, err := worker.New(conn, worker.Options{
			ID: fmt.Sprint("w", i), Slots: 1, Engine: tunertest.Engine, Archs: map[string]string{tunertest.Arch: tunertest.ArchDigest},
			Leave: true, Evaluator: worker.EvaluatorFunc(tunertest.Evaluate),
		})
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			_, err := w.Run(b.Context())
			conn.Close()
			exits <- err
		}()
	}
	for range loadWorkers {
		if err := <-exits; err != nil {
			b.Error(err)
		}
	}
	elapsed := time.Since(started)
	b.ReportMetric(float64(n)/elapsed.Seconds(), "results/s")
	b.ReportMetric(float64((cpuTime()-mine).Microseconds())/float64(n), "workers-cpu-µs/result")
	b.ReportMetric(float64((coord.cpu(b)-its).Microseconds())/float64(n), "coordinator-cpu-µs/result")
	endAsking()
	b.ReportMetric(coord.memory(b, "VmHWM"), "peak-rss-MiB")
	b.ReportMetric(coord.memory(b, "VmRSS"), "rss-MiB")
	checkDone(b, admin, sweep, n)
	coord.kill()

	started = time.Now()
	coord = spawn(b, path)
	checkDone(b, coord.dial(b), sweep, n)
	b.ReportMetric(time.Since(started).Seconds(), "restart-s")
	coord.kill()
	st, err := store.Open(path, store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		b.Fatal(err)
	}
	if u, err := st.Usage(); err == nil {
		b.ReportMetric(float64(u.Used)/float64(n), "storeB/result")
	}
	st.Close()
}

// submitOver submits a sweep of n trials in a space of ten million.
func submitOver(b *testing.B, conn grpc.ClientConnInterface, n int64) string {
	bundle := tunertest.Bundle{Size: 10_000_000}
	content, digest := bundle.Content()
	client := warptunev1.NewSweepServiceClient(conn)
	stream, err := client.PutBundle(b.Context(), grpc.WaitForReady(true))
	if err == nil {
		_ = stream.Send(&warptunev1.PutBundleRequest{Digest: digest, Chunk: content})
		_, err = stream.CloseAndRecv()
	}
	if err != nil {
		b.Fatal(err)
	}
	spec := bundle.Spec("bench")
	spec.Budget = n
	started := time.Now()
	reply, err := client.Submit(b.Context(), &warptunev1.SubmitRequest{Spec: rpc.FromSpec(&spec)})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(time.Since(started).Seconds()*1000, "submit-ms")
	return reply.GetSweep().GetId()
}

// askEnv makes the test binary somebody who asks how things stand: "address
// sweep". It ends when its input does, and then says what the 99th percentile
// of the time to each kind of answer was, in milliseconds.
const askEnv = "WARPTUNE_TEST_ASKS"

func asks(arg string) error {
	address, sweep, _ := strings.Cut(arg, " ")
	conn, err := grpc.NewClient(address, rpc.ClientOptions(nil)...)
	if err != nil {
		return err
	}
	defer conn.Close()
	client := warptunev1.NewSweepServiceClient(conn)
	ctx, stop := context.WithCancel(context.Background())
	run, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex
	for what, call := range map[string]func() error{
		"status": func() error {
			_, err := client.Get(ctx, &warptunev1.GetRequest{Id: sweep})
			return err
		},
		"list": func() error {
			_, err := client.List(ctx, &warptunev1.ListRequest{})
			return err
		},
		"best": func() error {
			_, err := client.Best(ctx, &warptunev1.BestRequest{Kernel: "bench", Arch: tunertest.Arch})
			if tuner.KindOf(rpc.FromStatus(err)) == tuner.NotFound {
				return nil // not yet
			}
			return err
		},
	} {
		run.Go(func() error {
			times, err := repeat(ctx, call)
			if err == nil && len(times) > 0 {
				slices.Sort(times)
				mu.Lock()
				defer mu.Unlock()
				fmt.Println(what, times[len(times)*99/100].Seconds()*1000)
			}
			return err
		})
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	stop()
	return run.Wait()
}

// repeat calls a hundred times a second until ctx ends, and returns how long
// the calls took.
func repeat(ctx context.Context, call func() error) (times []time.Duration, err error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		started := time.Now()
		err := call()
		if ctx.Err() != nil {
			return times, nil
		}
		if err != nil {
			return nil, err
		}
		times = append(times, time.Since(started))
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// spawnAsker starts one; the function returned ends it and reports what it
// found.
func spawnAsker(b *testing.B, address, sweep string) (end func()) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), askEnv+"="+address+" "+sweep)
	cmd.Stderr = os.Stderr
	var said bytes.Buffer
	cmd.Stdout = &said
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error("asking: ", err)
		}
		for line := range strings.Lines(said.String()) {
			var what string
			var ms float64
			if _, err := fmt.Sscan(line, &what, &ms); err != nil {
				b.Errorf("the asker says %q", line)
			}
			b.ReportMetric(ms, what+"-p99-ms")
		}
	}
}

// checkDone checks that the sweep has completed with n results.
func checkDone(b *testing.B, conn grpc.ClientConnInterface, sweep string, n int64) {
	reply, err := warptunev1.NewSweepServiceClient(conn).Get(b.Context(), &warptunev1.GetRequest{Id: sweep}, grpc.WaitForReady(true))
	if c := reply.GetSweep().GetCounts(); err != nil || c.GetDone() != n {
		b.Fatalf("%d results of %d (%v)", c.GetDone(), n, err)
	}
}

// spawned is a coordinator in a process of its own.
type spawned struct {
	cmd     *exec.Cmd
	address string
}

func spawn(b *testing.B, path string) *spawned {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &spawned{address: l.Addr().String(), cmd: exec.Command(os.Args[0], "-test.run=^$")}
	l.Close()
	s.cmd.Env = append(os.Environ(), coordinateEnv+"="+path+" "+s.address)
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.kill)
	return s
}

func (s *spawned) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func (s *spawned) dial(b *testing.B) *grpc.ClientConn {
	conn, err := grpc.NewClient(s.address, rpc.ClientOptions(nil)...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return conn
}

// cpu is what the process has used so far (proc(5): fields 14 and 15, in
// hundredths of a second).
func (s *spawned) cpu(b *testing.B) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+2:])
	var ticks int
	for _, f := range fields[11:13] {
		n, _ := strconv.Atoi(string(f))
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// memory returns a line of the process' status (proc(5)), in MiB.
func (s *spawned) memory(b *testing.B, line string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), line+":")
	var kib float64
	_, _ = fmt.Sscan(rest, &kib)
	return kib / 1024
}
