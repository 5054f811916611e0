package kernel

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// TestSignature: what the arguments are wrong in is said before anything is compiled, and nothing where the text does not tell.
func TestSignature(t *testing.T) {
	vector, number := `{"Name": "x", "Type": "float", "MemoryType": "Vector", "Size": 4}`, `{"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 4}`
	real := strings.Replace(number, "int32", "float", 1)
	for _, c := range []struct{ name, source, arguments, want string }{
		{"fits", "__global__ void k(float *x, const int n) {}", vector + "," + number, ""},
		{"launch bounds and defaults", "template <int N> __global__ void __launch_bounds__(N * (2)) k(const float *__restrict__ x, int n = f(1, 2)) {}", vector + "," + number, ""},
		{"fewer", "__global__ void k(float *x, int n) {}", vector, "takes 2 arguments (float *x, int n), but 1 are listed: x"},
		{"more", "extern \"C\" __global__ void k(float *x) {}", vector + "," + number, "takes 1 arguments (float *x), but 2 are listed: x, n; those of a structure"},
		{"order", "__global__ void k(int n, float *x) {}", vector + "," + number, "Arguments[0]: a Vector is passed as an address"},
		{"no address", "__global__ void k(float *x, float *y) {}", vector + "," + number, "Arguments[1]: a Scalar of type int32, but the kernel takes an address (float *y)"},
		{"kind", "__global__ void k(float *x, unsigned int n) {}", vector + "," + real, "Arguments[1].Type: float, but that parameter of the kernel is unsigned int n"},
		{"size", "__global__ void k(float *x, size_t n) {}", vector + "," + number, "Arguments[1].Type: int32, but"},
		{"another type", "__global__ void k(float *x, T n) {}", vector + "," + real, ""},
		{"a comment", "__global__ void k(float *x /* , int n */) {}", vector, ""},
		{"a macro", "#define ARGS float *x, int n\n__global__ void k(ARGS) {}", vector + "," + number, ""},
		{"a parameter", "__global__ void k(B *x) {}", vector + "," + number, ""},
		{"two forms", "#if A\n__global__ void k(float *x) {}\n#else\n__global__ void k(float *x, int n) {}\n#endif", vector, ""},
		{"two forms with as many", "#ifdef A\n__global__ void k(float *x, float a) {}\n#else\n__global__ void k(float *x, double a) {}\n#endif", vector + "," + real, ""},
		{"two forms, the other order", "#ifdef A\n__global__ void k(float *x, double a) {}\n#else\n__global__ void k(float *x, float a) {}\n#endif", vector + "," + real, ""},
		{"declared and defined", "__global__ void k(float *x, int n);\n__global__ void k(float *x, int  n) {}", vector, "takes 2 arguments (float *x, int n), but 1 are listed: x"},
		{"an attribute", "__global__ void k(float *x, [[maybe_unused]] int n) {}", vector + "," + number, ""},
		{"an attribute of an address", "__global__ void k([[maybe_unused]] float *x, float *y) {}", vector + "," + number, "Arguments[1]: a Scalar of type int32, but the kernel takes an address (float *y)"},
		{"an attribute before the name", "__global__ [[gnu::cold]] void k(float *x [[gnu::unused, gnu::noinline]], int n) {}", vector, "takes 2 arguments (float *x, int n), but 1"},
		{"branches inside", "__global__ void k(float *x\n#if A\n, int n\n#endif\n) {}", vector, ""},
		{"no text", "MAKE(k)", vector, ""},
	} {
		text := `{"ConfigurationSpace": {"TuningParameters": [{"Name": "B", "Type": "int", "Values": "[32]"}]},
"KernelSpecification": {"Language": "CUDA", "KernelName": "k", "KernelFile": "k.cu", "LocalSize": {"X": "B"}, "GlobalSizeType": "CUDA", "GlobalSize": {"X": "1"}, "Arguments": [` + c.arguments + `]}}`
		d, _, err := Parse("k", []byte(text), call.Memory{"k.cu": []byte(c.source)})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := d.Launchable(); err != nil {
			got = err.Error()
		}
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
