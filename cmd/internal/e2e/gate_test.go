package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// gate is a sweep that goes on as far as a test lets it, however fast the
// simulator is and however slow the test: its kernel is compiled by a program
// that waits until a configuration's turn has come. All else is as in any sweep.
// Its configurations are asked for in order.
type gate struct {
	dir   string
	size  int
	limit int        // how many are let through
	sweep []string   // what commands take
	pipes []*os.File // open until the test's end, so that nobody waits for a writer
}

// Files of a gate. Whose turn has not come reads the pipe, in which there is
// something once another is in its place.
const (
	gateLimit = "limit" // the number of configurations that are let through
	gatePipe  = "pipe"
	// gateEnd, if it exists, has the number of a configuration whose compiler is
	// ended by somebody else, which is the worker's fault.
	gateEnd = "end"
)

// gateCompiler answers as nvcc does. It opens the pipe before it looks at the
// limit, which is written before the pipe is replaced, so it misses no change.
const gateCompiler = `#!/bin/sh
gate=%s
case "$1" in
--version) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit ;;
--list-gpu-arch) echo compute_90; exit ;;
esac
while read -r _ name value; do [ "$name" = TURN ] && turn=$value; done < ../macros.h
[ -e "$gate/end" ] && read -r poison < "$gate/end" && [ "$turn" = "$poison" ] && kill -TERM $$
while exec 3< "$gate/pipe"; read -r limit < "$gate/limit"; [ "$turn" -ge "$limit" ]; do
	read -r _ <&3
done
sed "s/TURN/$turn/" "$gate/kernel.ptx" > ../out.ptx
`

const gateDefinition = `{
	"General": {"BenchmarkName": "gated", "FormatVersion": 1},
	"ConfigurationSpace": {"TuningParameters": [{"Name": "TURN", "Type": "int", "Values": "[i for i in range(0, %d)]", "Default": 0}]},
	"KernelSpecification": {
		"Language": "CUDA", "KernelName": "count", "KernelFile": "kernel.cu", "GlobalSizeType": "CUDA",
		"LocalSize": {"X": "32 * (1 + TURN %% 8)"}, "GlobalSize": {"X": "64"}, "ProblemSize": [16384], "SharedMemory": 0,
		"Arguments": [{"Name": "out", "Type": "int32", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": "ProblemSize[0]", "FillType": "Constant", "FillValue": 0}]
	}
}`

// gateSource names the gate, so that nothing that another compiled is remembered.
const gateSource = `// compiled by %s
extern "C" __global__ void count(int *out) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i] = i + TURN;
}
`

const gatePTX = `.version 8.0
.target sm_90
.address_size 64
.visible .entry count(.param .u64 count_param_0)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [count_param_0];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	mul.wide.s32 %rd3, %r4, 4;
	add.s64 %rd4, %rd2, %rd3;
	add.s32 %r4, %r4, TURN;
	st.global.u32 [%rd4], %r4;
	ret;
}
`

// newGate makes a sweep of so many configurations, none of which is let through
// yet. The commands that the test starts find its compiler.
func newGate(t *testing.T, size int) *gate {
	t.Helper()
	g := &gate{dir: t.TempDir(), size: size}
	definition := filepath.Join(g.dir, "gated.json")
	g.sweep = []string{definition, "--arch", "h200", "--strategy", "exhaustive", "--compiler", "nvcc"}
	for name, text := range map[string]string{
		"gated.json": fmt.Sprintf(gateDefinition, size), "kernel.cu": fmt.Sprintf(gateSource, g.dir), "kernel.ptx": gatePTX,
		"bin/nvcc": fmt.Sprintf(gateCompiler, g.dir),
	} {
		path := filepath.Join(g.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	g.pass(t, 0)
	t.Cleanup(func() {
		g.open(t) // what was left behind by processes that were killed ends
		for _, p := range g.pipes {
			p.Close()
		}
	})
	t.Setenv("PATH", filepath.Join(g.dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	return g
}

// pass lets the first n configurations through.
func (g *gate) pass(t *testing.T, n int) {
	t.Helper()
	g.limit = n
	limit, pipe := filepath.Join(g.dir, gateLimit), filepath.Join(g.dir, gatePipe)
	if err := os.WriteFile(limit+".new", []byte(strconv.Itoa(n)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe+".new", 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := os.OpenFile(pipe+".new", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{limit, pipe} {
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	if last := len(g.pipes) - 1; last >= 0 {
		if _, err := g.pipes[last].WriteString(strings.Repeat("\n", 1000)); err != nil { // a line for each who may read it
			t.Fatal(err)
		}
	}
	g.pipes = append(g.pipes, held)
}

// open lets all configurations through.
func (g *gate) open(t *testing.T) {
	t.Helper()
	g.pass(t, g.size)
}
