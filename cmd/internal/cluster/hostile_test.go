package cluster

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/rpc"
)

// hostile are programs that would keep a worker for ever, or want more memory
// than there is; and what each is answered.
var hostile = []struct {
	name           string
	module, kernel string // declarations before the kernel, and its body
	validity       tuner.Validity
	says           string
}{
	{"loops for ever", "", "L: bra L;", tuner.Timeout, "an endless loop"},
	{"loops for ever over memory", "", "L: ld.global.f32 %f1, [%rd1]; setp.gt.f32 %p1, %f1, 0f00000000; @%p1 bra L;", tuner.Timeout, "an endless loop"},
	{"loops for ever over ever other memory", "", "L: ld.global.u32 %r1, [%rd1]; and.b32 %r1, %r1, 60; cvt.u64.u32 %rd2, %r1; add.u64 %rd1, %rd1, %rd2; bra L;", tuner.Timeout, "an endless loop"},
	{"takes 2^32 steps that nobody can count", "", "mov.u32 %r1, 1; L: mad.lo.u32 %r1, %r1, 1664525, 1013904223; setp.ne.u32 %p1, %r1, 1; @%p1 bra L;", tuner.Timeout, "too long to simulate"},
	{"waits at a barrier that others never reach", "", "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1; bra D; A: bar.sync 2; D:", tuner.Runtime, "bar.sync"},
	{"a terabyte of local memory", "", ".local .align 4 .b8 q[1099511627776];", tuner.Compile, "array size 1099511627776 is too large"},
	{"a gigabyte of local memory a thread", "", ".local .align 4 .b8 q[1073741824];", tuner.Runtime, "1073741824 bytes of local memory"},
	{"half a gigabyte of local memory a CTA", "", ".local .align 4 .b8 q[524288];", tuner.Runtime, "bytes of local memory"},
	{"a terabyte of shared memory", ".shared .align 4 .b8 q[1099511627776];", "", tuner.Compile, "is too large"},
	{"a terabyte of variables", ".global .align 4 .b8 q[1099511627776];", "", tuner.Compile, "is too large"},
	{"dimensions whose product overflows", ".global .align 4 .b32 q[1000000][1000000][1000000][10000000];", "", tuner.Compile, "is larger than"},
	{"initialised gigabytes", ".global .align 4 .b8 q[4294967295] = {1, 2};", "", tuner.Compile, "initialised variables of more than 64 MiB"},
	{"initialised gigabytes of the kernel's own", "", ".global .align 4 .b8 q[4294967295] = {1, 2};", tuner.Compile, "initialised variables of more than 64 MiB"},
	{"gigabytes of constants", ".const .align 4 .b8 q[4294967295];", "ld.const.u32 %r1, [q];", tuner.Runtime, "the constant bank has"},
	{"two thousand million registers", "", ".reg .b32 %z<2000000000>;", tuner.Compile, "registers are too many"},
	{"a function that calls itself", ".func f() { call f; ret; }", "call f;", tuner.Compile, "a recursive call"},
	{"a function that is inlined 2^40 times", doubling(40), "call f40;", tuner.Compile, "statements after inlining"},
	{"braces in braces", "", strings.Repeat("{", 1e6), tuner.Compile, "k.ptx:"},
	{"no PTX", "", "\x00\xff}", tuner.Compile, "k.ptx:"},
}

// doubling are functions each of which calls the one before it twice.
func doubling(n int) string {
	text := ".func f0() { ret; }\n"
	for i := 1; i <= n; i++ {
		text += fmt.Sprintf(".func f%d() { call f%d; call f%d; ret; }\n", i, i-1, i-1)
	}
	return text
}

// hostileKernel is a definition whose parameter chooses the program.
func hostileKernel(t *testing.T) *kernel.Definition {
	t.Helper()
	dir := t.TempDir()
	for i, h := range hostile {
		text := ".version 8.0\n.target sm_80\n.address_size 64\n" + h.module + `
.visible .entry k(.param .u64 p)
{
.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<2>;
ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1;
` + h.kernel + "\nret;\n}\n"
		name := filepath.Join(dir, fmt.Sprint(i), "k.ptx")
		if err := os.Mkdir(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(map[string]any{
		"ConfigurationSpace": map[string]any{"TuningParameters": []any{map[string]any{"Name": "CASE", "Type": "int", "Values": fmt.Sprintf("list(range(%d))", len(hostile))}}},
		"KernelSpecification": map[string]any{
			"Language": "PTX", "KernelName": "k", "KernelFile": "{CASE}/k.ptx", "ProblemSize": []int{1000},
			"LocalSize": map[string]any{"X": "1024"}, "GlobalSizeType": "CUDA", "GlobalSize": map[string]any{"X": "1000"},
			"Arguments": []any{map[string]any{"Name": "x", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadWrite", "Size": 1e6, "FillType": "Constant", "FillValue": 1}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	def, _, err := kernel.Parse("hostile", text, call.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	return def
}

// A program that loops for ever or wants terabytes is its configuration's
// outcome, found by the worker that has it in seconds and within the memory that
// a worker is given; the worker and the sweep go on.
func TestHostilePrograms(t *testing.T) {
	def := hostileKernel(t)
	e, err := Embed(t.Context(), filepath.Join(t.TempDir(), "warptune.db"), EmbedOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	conn, err := e.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	content, digest, err := def.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	client := warptunev1.NewSweepServiceClient(conn)
	put, err := client.PutBundle(t.Context())
	if err == nil {
		if err = put.Send(&warptunev1.PutBundleRequest{Digest: digest}); err == nil {
			err = put.Send(&warptunev1.PutBundleRequest{Chunk: content})
		}
		if _, last := put.CloseAndRecv(); err == nil {
			err = last
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.Submit(t.Context(), &warptunev1.SubmitRequest{Spec: rpc.FromSpec(&tuner.Spec{
		Kernel: def.Name, Bundle: digest, Arch: "h200", ArchDigest: d.Digest, Strategy: "exhaustive", Level: "model", Engine: simengine.Version(),
	})})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Work(1, func(err error) { t.Errorf("the worker ended: %v", err) }); err != nil {
		t.Fatal(err)
	}
	watch, err := client.Watch(t.Context(), &warptunev1.WatchRequest{Id: out.GetSweep().GetId()})
	if err != nil {
		t.Fatal(err)
	}
	var last *warptunev1.Sweep
	for m, err := watch.Recv(); err == nil; m, err = watch.Recv() {
		last = m.GetSweep()
	}
	if n := last.GetCounts(); last.GetState() != warptunev1.SweepState_SWEEP_STATE_COMPLETED || n.GetDone() != int64(len(hostile)) || n.GetAbandoned() != 0 {
		t.Fatalf("the sweep is %v, with %d of %d done and %d abandoned", last.GetState(), n.GetDone(), len(hostile), n.GetAbandoned())
	}
	results, err := client.Results(t.Context(), &warptunev1.ResultsRequest{Id: last.GetId()})
	if err != nil {
		t.Fatal(err)
	}
	for m, err := results.Recv(); err == nil; m, err = results.Recv() {
		for _, r := range m.GetResults() {
			h, o := hostile[r.GetSeq()], rpc.ToOutcome(r.GetOutcome())
			if o.Validity != h.validity || !strings.Contains(o.Message, h.says) || r.GetAttempts() != 1 {
				t.Errorf("%s: %v %q after %d attempts, want %v with %q", h.name, o.Validity, o.Message, r.GetAttempts(), h.validity, h.says)
			}
		}
	}
	if peak := peakMemory(t); peak > 4<<30 {
		t.Errorf("the process needed %d MiB, more than the 4 GiB that deploy gives a worker", peak>>20)
	}
}

// peakMemory is the most memory that this process had at a time, in bytes.
func peakMemory(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc: the memory is not looked at")
	}
	for _, line := range strings.Split(string(text), "\n") {
		var kib int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			t.Logf("peak memory %d MiB", kib>>10)
			return kib << 10
		}
	}
	t.Fatal("no VmHWM in /proc/self/status")
	return 0
}
