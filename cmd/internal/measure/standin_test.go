package measure

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/cmd/internal/measure/standin"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
	"github.com/warptune/warptune/simengine/ir"
)

func TestMain(m *testing.M) {
	code := m.Run()
	standin.Clean()
	os.Exit(code)
}

// elements is the size of the buffer that the test's kernels fill.
const elements = 1000

// fill is a job of the stand-in's kernel of some name.
func fill(name string) *wire.Job {
	word := func(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
	return &wire.Job{
		Image: []byte(".entry " + name), Entry: name, Grid: [3]uint32{8, 1, 1}, Block: [3]uint32{128, 1, 1}, CarveOut: -1,
		Buffers: []wire.Buffer{{Elem: ir.U32, Count: elements, Fill: wire.FillConstant}},
		Params:  []wire.Param{{Name: "p"}, {Name: "n", Bytes: word(elements)}, {Name: "v", Bytes: word(7)}},
		Read:    []wire.Range{{Buffer: 0, From: 4, Bytes: 8}}, Plan: Plan,
	}
}

func open(t *testing.T, o Options) *Meter {
	t.Helper()
	m, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func do(t *testing.T, m *Meter, job *wire.Job) *wire.Result {
	t.Helper()
	r, err := m.Do(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A launch is timed, its clocks are read, and its outputs come back.
func TestMeasured(t *testing.T) {
	standin.Install(t, false)
	m := open(t, Options{})
	if d := m.Device(); d.GPU != "Stand-in" || d.Driver != "999.1" || d.CUDA != 13000 || d.CC != [2]int{8, 0} || d.Unwatched != "" {
		t.Fatalf("the GPU is %+v", d)
	}
	r := do(t, m, fill("fill"))
	if r.Failure != nil {
		t.Fatal(r.Failure.Message)
	}
	if want := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 7), 7); string(r.Read[0]) != string(want) {
		t.Errorf("elements 1 and 2 are %v, want %v", r.Read[0], want)
	}
	sum, err := Summarise(r)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Median < 199 || sum.Median > 220 || sum.Batches != Plan.Batches || sum.SM != 1400 || sum.Power != 250 || sum.Cold < 199 {
		t.Errorf("a launch of 200 us came to %+v", sum)
	}
	if len(sum.Warnings) != 0 {
		t.Errorf("nothing is unusual, but: %v", sum.Warnings)
	}
}

// A kernel that hangs, faults or ends the process, or whose code or launch is refused, is
// named, and those after it are measured.
func TestFailuresEndNothingElse(t *testing.T) {
	standin.Install(t, false)
	m := open(t, Options{Limit: 3 * time.Second})
	for _, c := range []struct{ name, kind, says string }{
		{"fill_fault", wire.FailedRun, "CUDA_ERROR_ILLEGAL_ADDRESS"},
		{"fill_refused", wire.FailedLoad, "line 7: this is refused"},
		{"fill_launch", wire.FailedLaunch, "cuLaunchKernel"},
		{"fill_crash", wire.FailedRun, "ended while " + wire.StageChecking},
		{"fill_hang", "", "ended while " + wire.StageChecking},
	} {
		r, err := m.Do(t.Context(), fill(c.name))
		var hung *HungError
		switch {
		case c.kind == "" && (!errors.As(err, &hung) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want a *HungError with %q", c.name, err, c.says)
		case c.kind != "" && (err != nil || r.Failure == nil || r.Failure.Kind != c.kind || !strings.Contains(r.Failure.Message, c.says)):
			t.Errorf("%s: %+v, %v, want %s with %q", c.name, r, err, c.kind, c.says)
		}
		if r := do(t, m, fill("fill")); r.Failure != nil || len(r.Warm) == 0 {
			t.Errorf("after %s: %+v", c.name, r.Failure)
		}
	}
}

// A clock that lies is found by the other one.
func TestLyingClock(t *testing.T) {
	standin.Install(t, false)
	r := do(t, open(t, Options{}), fill("fill_liar"))
	var lie *ClockError
	if _, err := Summarise(r); !errors.As(err, &lie) {
		t.Errorf("times of %v us where the host saw %v us for %d launches: %v", r.Warm, r.Host, r.Launches, err)
	}
}

// Throttling is said with its reasons.
func TestThrottling(t *testing.T) {
	standin.Install(t, false)
	t.Setenv("STANDIN_REASONS", "0x24")
	sum, err := Summarise(do(t, open(t, Options{}), fill("fill")))
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(sum.Warnings, "; "); !strings.Contains(text, "throttled (power cap, software thermal slowdown): its SM clock was 900 of 1410 MHz") {
		t.Errorf("throttled, but: %q", text)
	}
}

// An old driver lacks calls: what needs them is refused by name, the rest is measured.
func TestOldDriver(t *testing.T) {
	standin.Install(t, true)
	m := open(t, Options{})
	job := fill("fill")
	job.Cluster = [3]uint32{2, 1, 1}
	r := do(t, m, job)
	if r.Failure == nil || r.Failure.Kind != wire.FailedLaunch || !strings.Contains(r.Failure.Message, "no cuLaunchKernelEx, which came with CUDA 11.8; this one is of CUDA 11.4") {
		t.Errorf("a cluster with an old driver: %+v", r.Failure)
	}
	if r := do(t, m, fill("fill")); r.Failure != nil {
		t.Errorf("without one: %s", r.Failure.Message)
	}
}

// Where there is nothing to measure on, or others measure there, that is said.
func TestRefusals(t *testing.T) {
	standin.Install(t, false)
	refused := func(o Options, want string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		m, err := Open(ctx, o)
		var why *RefusedError
		if !errors.As(err, &why) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want a refusal with %q", err, want)
		}
		if m != nil {
			m.Close()
		}
	}
	refused(Options{Device: 3}, "there is no GPU number 3")
	t.Setenv("STANDIN_USER", fmt.Sprint(os.Getpid()))
	refused(Options{}, fmt.Sprintf("other processes use the GPU Stand-in: %d", os.Getpid()))
	open(t, Options{Shared: true})
	t.Setenv("STANDIN_USER", "")
	t.Setenv("STANDIN_INIT", "100")
	refused(Options{}, "no GPU is visible")
	t.Setenv("WARPTUNE_LIBCUDA", filepath.Join(t.TempDir(), "none.so"))
	refused(Options{}, "there is no NVIDIA driver")
	refused(Options{Program: filepath.Join(t.TempDir(), "none")}, "does not start")
}
