package evaluate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// wildRefused are the small cases of ../shared/cases/wild that are refused, by what is said; all others are
// predicted, in each of their configurations.
var wildRefused = map[string]string{
	"curand":        "curand is not here",
	"names":         "name one of _Z3k_tIfEvPT_, _Z3k_tIiEvPT_",
	"oob_read":      "256 bytes (64 elements) before argument 0 (x)",
	"redefine":      "this #define of TILE takes the place of its value",
	"struct_arg":    "which has Fields",
	"struct_static": "the Fields of one Argument",
}

// TestWild: files as people have them, each the smallest that shows what it is about.
func TestWild(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles")
	}
	dir := filepath.Join("..", "..", "..", "..", "shared", "cases", "wild")
	cases, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(cases) == 0 {
		t.Skip("no ../shared/cases/wild")
	}
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	compiler := clangOrSkip(t)
	for _, path := range cases {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			def, _, err := kernel.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			space, err := def.Space(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, cfg := range space.All() {
				out, _, err := New(compiler).Evaluate(t.Context(), Job{Kernel: def, Config: cfg, Arch: d, Level: simengine.Model})
				if err != nil {
					t.Fatal(err)
				}
				if out.Validity != tuner.Correct {
					said = out.Message
				}
			}
			if want := wildRefused[name]; (want == "") != (said == "") || !strings.Contains(said, want) {
				t.Errorf("said %q, want %q", said, want)
			}
		})
	}
}

// TestWildNames: the names by which a kernel of a file is found.
func TestWildNames(t *testing.T) {
	compiler := clangOrSkip(t)
	d, err := arch.Load("a100")
	if err != nil {
		t.Fatal(err)
	}
	source := `static __global__ void k_static(float *x) { x[threadIdx.x] = 1.f; }
template <int N> static __global__ void k_static_t(float *x) { x[threadIdx.x] = N; }
namespace ns { __global__ void k_ns(float *x) { x[threadIdx.x] = 1.f; } }
namespace { __global__ void k_anon(float *x) { x[threadIdx.x] = 1.f; } }
template <class T> __global__ void k_t(T *x) { x[threadIdx.x] = T(1); }
template <int N> __global__ void k_launched(float *x) { x[threadIdx.x] = N; }
template <int N> void launch(float *x, std::map<int, int> m) { k_launched<N><<<1, N>>>(x); }
void tuned(std::vector<float> &v) { const int n = 2 * 16; k_launched<n><<<unknown(v), n>>>(thrust::raw(v)); }
`
	for _, name := range []string{"k_static", "k_static_t<P>", "ns::k_ns", "k_ns", "k_anon", "k_t<float>", "k_t<int>", "k_launched"} {
		dir := t.TempDir()
		text := `{"ConfigurationSpace": {"TuningParameters": [{"Name": "P", "Type": "int", "Values": "[32]"}]},
"KernelSpecification": {"Language": "CUDA", "KernelName": "` + name + `", "KernelFile": "k.cu", "LocalSize": {"X": "P"}, "GlobalSize": {"X": "1"}, "GlobalSizeType": "CUDA",
"Arguments": [{"Name": "x", "Type": "float", "MemoryType": "Vector", "Size": 32}]}}`
		if err := os.WriteFile(filepath.Join(dir, "k.cu"), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		def, _, err := kernel.Parse("k", []byte(text), call.Dir(dir))
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := New(compiler).Evaluate(t.Context(), Job{Kernel: def, Config: def.Default(), Arch: d, Level: simengine.Model})
		if err != nil || out.Validity != tuner.Correct {
			t.Errorf("%s: %v %s %v", name, out.Validity, out.Message, err)
		}
	}
}

// clangOrSkip is clang in nvcc's place, without a cache.
func clangOrSkip(t *testing.T) *compile.Compiler {
	t.Helper()
	clang := compile.NewClangAsNVCC(sandbox.DefaultLimits())
	if _, err := clang.Identify(t.Context()); err != nil {
		t.Skip(err)
	}
	return compile.Of(clang)
}
