package export

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// sampleTriton is rows of Triton kernels, as capturing names them.
func sampleTriton() []Row {
	row := func(kernel, level string, us float64, problem []int64, block int64, mode search.Value, cap int64) Row {
		return Row{
			Spec:    tuner.Spec{Kernel: kernel, Arch: "h100", Problem: problem, Level: level, Engine: "1", Bundle: strings.Repeat("ab", 32)},
			Names:   []string{"BLOCK", "mode", "scale", "even", "num_warps", "maxnreg"},
			Config:  []search.Value{search.OfInt(block), mode, search.OfFloat(2), search.OfBool(true), search.OfInt(4), search.OfInt(cap)},
			Outcome: tuner.Outcome{Validity: tuner.Correct, TimeUS: us},
			Caution: "little is\nknown",
		}
	}
	odd := search.OfString("\"\\\n\u00e9")
	return []Row{
		row("copy:fp16x2", "cycle", 3, []int64{64, 32}, 128, odd, 0), row("copy:fp16x2", "model", 1, []int64{64, 32}, 999, odd, 0),
		row("copy:fp16x2", "cycle", 2, []int64{8}, 256, search.OfString("none"), 168),
		row("copy:CAUSAL=true,fp16,i64", "cycle", 2, nil, 512, search.OfString("none"), 0),
	}
}

// standIn is as much of Triton as the module uses.
const standIn = `
class Config:
    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None):
        self.kwargs, self.options = kwargs, dict(num_warps=num_warps, num_stages=num_stages, num_ctas=num_ctas)
        if maxnreg is not None:
            self.options["maxnreg"] = maxnreg
    def all_kwargs(self):
        return {**self.kwargs, **self.options}
    def __eq__(self, other):
        return self.all_kwargs() == other.all_kwargs()
`

const checks = `
import types
import triton, tuned
C = triton.Config
rows = {k: c.all_kwargs() for k, c in tuned.TABLE.items()}
rest = dict(scale=2.0, even=True, num_warps=4, num_stages=3, num_ctas=1)
assert rows == {
    ("copy:fp16x2", "h100", (64, 32)): dict(BLOCK=128, mode="\"\\\n\u00e9", **rest),
    ("copy:fp16x2", "h100", (8,)): dict(BLOCK=256, mode=None, maxnreg=168, **rest),
    ("copy:CAUSAL=true,fp16,i64", "h100", ()): dict(BLOCK=512, mode=None, **rest),
}, rows
assert len(tuned.configs("copy", "h100")) == 3 and tuned.configs("copy", "a100") == [] == tuned.configs("cop", "h100")

parameter = lambda name, default=None: types.SimpleNamespace(name=name, default=default, has_default=name == "even")
function = types.SimpleNamespace(params=[parameter("n"), parameter("BLOCK"), parameter("mode"), parameter("scale"), parameter("even", True)], __name__="copy")
own = [C(dict(BLOCK=b, mode=m, scale=2.0, **more), maxnreg=r) for b, m, r, more in
       [(128, "other", None, {}), (128, "\"\\\n\u00e9", None, {}), (256, None, 168, dict(even=True)), (512, None, None, {})]]
tuner = types.SimpleNamespace(keys=["n", "m", "CAUSAL"], arg_names=["x", "n", "m"], fn=types.SimpleNamespace(fn=function), configs=own, cache={("kept",): "kept"})
half = "torch.float16"
tuned.install(tuner, "h100")
assert (64, 32, half, half) in tuner.cache and tuner.cache[(64, 32, half, half)] is own[1]
assert (64, 33, half, half) not in tuner.cache and (64, 32, half, "torch.float32") not in tuner.cache and ("kept",) in tuner.cache
tuner.keys = ["n"]
assert tuned.find(tuner, "h100", (8, half, half)) is own[2] and tuned.find(tuner, "a100", (8, half, half)) is None
tuner.keys, tuner.arg_names = ["CAUSAL"], ["CAUSAL"]
assert tuned.find(tuner, "h100", (True, half, "torch.int64")) is own[3]
tuner.configs = own[:3]
assert tuned.find(tuner, "h100", (True, half, "torch.int64")) is None
`

// The module has the configuration of each key, and gives autotuners their own.
func TestTritonModule(t *testing.T) {
	var module bytes.Buffer
	rows := append(sampleRows(), sampleTriton()...)
	if err := Write(&module, "triton", rows); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"little is known", "# 3.00 us"} {
		if strings.Count(module.String(), part) != 1 {
			t.Errorf("%q is not there once:\n%s", part, &module)
		}
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 in PATH: the module is not run")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "triton.py"), standIn)
	write(t, filepath.Join(dir, "tuned.py"), module.String())
	write(t, filepath.Join(dir, "checks.py"), checks)
	cmd := exec.Command(python, "-B", "checks.py")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PYTHONPATH=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, &module)
	}
}

// A table without Triton kernels says so instead of being empty.
func TestTritonWantsTritonKernels(t *testing.T) {
	if err := Write(&bytes.Buffer{}, "triton", sampleRows()); err == nil || !strings.Contains(err.Error(), "num_warps") {
		t.Error(err)
	}
}
