package evaluate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// asked is a compiler that only says that it was.
type asked struct{}

var errAsked = errors.New("asked to compile")

func (asked) Compile(context.Context, compile.Request) (compile.Result, error) {
	return compile.Result{}, errAsked
}
func (asked) Made(context.Context, compile.Request) (compile.Result, bool) {
	return compile.Result{}, false
}

// TestNothingIsCompiledForWhatCannotBeLaunched: extents and dynamic shared memory are known before.
func TestNothingIsCompiledForWhatCannotBeLaunched(t *testing.T) {
	d, err := arch.Load("a100")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		block, grid [3]int64
		dynamic     int
		want        string // "": it is compiled
	}{
		{[3]int64{1024, 1, 1}, [3]int64{1, 1, 1}, 0, ""},
		{[3]int64{16, 1, 64}, [3]int64{1<<31 - 1, 65535, 65535}, 163 << 10, ""},
		{[3]int64{32, 64, 1}, [3]int64{1, 1, 1}, 0, "2048 threads asked, 1 to 1024 allowed"},
		{[3]int64{2048, 1, 1}, [3]int64{1, 1, 1}, 0, "2048 threads in x asked"},
		{[3]int64{1, 1, 65}, [3]int64{1, 1, 1}, 0, "65 threads in z asked"},
		{[3]int64{1<<31 - 1, 1<<31 - 1, 1<<31 - 1}, [3]int64{1, 1, 1}, 0, "threads in x asked"},
		{[3]int64{32, 1, 1}, [3]int64{1, 65536, 1}, 0, "65536 blocks in y asked"},
		{[3]int64{32, 1, 1}, [3]int64{1, 1, 1}, 163<<10 + 1, "166913 bytes asked"},
	} {
		text := fmt.Sprintf(`{"ConfigurationSpace": {"TuningParameters": [{"Name": "T", "Type": "int", "Values": "[1]"}]},
"KernelSpecification": {"Language": "CUDA", "KernelName": "k", "KernelFile": "k.cu", "LocalSize": {"X": %d, "Y": %d, "Z": %d}, "GlobalSizeType": "CUDA", "GlobalSize": {"X": %d, "Y": %d, "Z": %d}, "SharedMemory": %d, "Arguments": []}}`,
			c.block[0], c.block[1], c.block[2], c.grid[0], c.grid[1], c.grid[2], c.dynamic)
		def, _, err := kernel.Parse("k", []byte(text), fstest.MapFS{"k.cu": {Data: []byte(`extern "C" __global__ void k() {}`)}})
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := New(asked{}).Evaluate(t.Context(), Job{Kernel: def, Config: def.Default(), Arch: d, Level: simengine.Model})
		if c.want == "" {
			if !errors.Is(err, errAsked) {
				t.Errorf("%v of %v: %+v, %v", c.grid, c.block, out, err)
			}
		} else if err != nil || out.Validity != tuner.Runtime || !strings.Contains(out.Message, c.want) {
			t.Errorf("%v of %v, %d bytes: %s: %s, %v; want %q", c.grid, c.block, c.dynamic, out.Validity, out.Message, err, c.want)
		}
	}
}
