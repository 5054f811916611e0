package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/tunertest"
)

// entangled writes a definition whose conditions take minutes to solve: they tell
// nearly all partial configurations apart, and each is long.
func entangled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var conditions []string
	for i := range 30 {
		conditions = append(conditions, fmt.Sprintf(`{"Parameters": ["a", "b", "c"], "Expression": "(a * 7919 + b * 104729 + a * b + %d) %% 1299709 %% (c + 2000) != %d"}`, i, i))
	}
	text := `{"ConfigurationSpace": {"TuningParameters": [{"Name": "B", "Type": "int", "Values": "[128]"},
		{"Name": "a", "Type": "int", "Values": "list(range(300))"}, {"Name": "b", "Type": "int", "Values": "list(range(300))"},
		{"Name": "c", "Type": "int", "Values": "list(range(1400))"}], "Conditions": [` + strings.Join(conditions, ",") + `]},
		"KernelSpecification": {"Language": "CUDA", "KernelName": "k", "KernelFile": "k.cu", "ProblemSize": [65536], "LocalSize": {"X": "B"}, "GridDivX": ["B"],
		"Arguments": [{"Name": "x", "Type": "float", "MemoryType": "Vector", "Size": "ProblemSize[0]", "FillType": "Constant", "FillValue": 1}]}}`
	for name, content := range map[string]string{"k.json": text, "k.cu": `extern "C" __global__ void k(float *x) { x[blockIdx.x * B + threadIdx.x] = 1; }`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "k.json")
}

// prompt is within which something ends that is told to: on a busy machine too, and
// far from the minutes that it would go on.
const prompt = 20 * time.Second

// The first interrupt, and the first SIGTERM, end a command that solves conditions.
func TestInterruptWhileSolving(t *testing.T) {
	def := entangled(t)
	db := filepath.Join(t.TempDir(), "x.db")
	for _, c := range []struct {
		signal syscall.Signal
		args   []string
	}{
		{syscall.SIGINT, []string{"space", def}},
		{syscall.SIGTERM, []string{"tune", def, "--arch", "h200", "--db", db}},
		{syscall.SIGINT, []string{"sweep", "submit", def, "--arch", "h200", "--coordinator", tunertest.FreeAddress(t)}},
	} {
		p := start(t, "warptune", c.args...)
		p.says(t, "solving the conditions of k for")
		begun := time.Now()
		p.signal(t, c.signal)
		if code := p.wait(t); code != 1 || !strings.Contains(p.log.String(), "interrupted while") {
			t.Errorf("%v: status %d", c.args, code)
		}
		if took := time.Since(begun); took > prompt {
			t.Errorf("%v: it ends %v after the signal", c.args, took)
		}
	}
	if _, err := os.Stat(db); err == nil {
		t.Error("there is a database")
	}
}

// processorTime is what a process has used so far.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skipf("the system does not tell what a process uses: %v", err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// A submission whose conditions take minutes to solve is given up when its caller has
// gone, and does not keep the coordinator from ending.
func TestCoordinatorGivesUpPlanning(t *testing.T) {
	address := tunertest.FreeAddress(t)
	c := coordinate(t, address, t.TempDir(), "--grace", "1s")
	def, _, err := kernel.Load(entangled(t))
	if err != nil {
		t.Fatal(err)
	}
	bundle, digest, err := def.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	client := sweeps(t, address)
	stream, err := client.PutBundle(t.Context())
	if err == nil {
		err = stream.Send(&warptunev1.PutBundleRequest{Digest: digest, Chunk: bundle})
	}
	if err == nil {
		_, err = stream.CloseAndRecv()
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	spec := &warptunev1.Spec{Kernel: "k", Bundle: digest, Arch: d.Name, ArchDigest: d.Digest, Problem: []int64{65536}, Strategy: "random", Level: "model", Engine: simengine.Version()}
	submitted := func(ctx context.Context) <-chan error {
		answer := make(chan error, 1)
		go func() {
			_, err := client.Submit(ctx, &warptunev1.SubmitRequest{Spec: spec})
			answer <- err
		}()
		return answer
	}
	pid := c.cmd.Process.Pid
	used := func(of time.Duration) bool { // so much within patience
		from := processorTime(t, pid)
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if processorTime(t, pid)-from >= of {
				return true
			}
		}
		return false
	}

	ctx, leave := context.WithCancel(t.Context())
	answer := submitted(ctx)
	if !used(2 * time.Second) {
		t.Fatal("the coordinator does not plan")
	}
	leave()
	if err := <-answer; status.Code(err) != codes.Canceled {
		t.Errorf("the submission ends with %v", err)
	}
	quiet := false
	for end := time.Now().Add(prompt); time.Now().Before(end) && !quiet; {
		from := processorTime(t, pid)
		time.Sleep(time.Second)
		quiet = processorTime(t, pid)-from < 200*time.Millisecond
	}
	if !quiet {
		t.Error("the coordinator goes on planning for who has gone")
	}

	answer = submitted(t.Context())
	if !used(2 * time.Second) {
		t.Fatal("the coordinator does not plan")
	}
	begun := time.Now()
	c.signal(t, syscall.SIGTERM)
	if code := c.wait(t); code != 0 {
		t.Errorf("the coordinator ends with status %d", code)
	}
	if took := time.Since(begun); took > prompt {
		t.Errorf("the coordinator ends %v after the signal", took)
	}
	if err := <-answer; status.Code(err) != codes.Unavailable {
		t.Errorf("the submission ends with %v", err)
	}
}
