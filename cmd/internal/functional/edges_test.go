package functional_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// edgeFunctions are functions of float, and of a second one, over all floats: zeros, infinities,
// subnormals and no numbers among them; in units in the last place, at most those that the CUDA C++
// Programming Guide's table allows.
var edgeFunctions = []struct {
	call string // of x and y
	want func(x, y float64) float64
	ulps float64
}{
	{"expf(x)", of(math.Exp), 1.2},
	{"exp10f(x)", func(x, _ float64) float64 { return math.Pow(10, x) }, 1.2},
	{"logf(x)", of(math.Log), 1},
	{"log2f(x)", of(math.Log2), 1},
	{"log10f(x)", of(math.Log10), 2},
	{"log1pf(x)", of(math.Log1p), 1},
	{"expm1f(x)", of(math.Expm1), 1.1},
	{"sinf(x)", of(math.Sin), 1.5},
	{"cosf(x)", of(math.Cos), 1.5},
	{"tanf(x)", of(math.Tan), 3},
	{"({ float s, c; sincosf(x, &s, &c); s; })", of(math.Sin), 1.5},
	{"({ float s, c; sincosf(x, &s, &c); c; })", of(math.Cos), 1.5},
	{"tanhf(x)", of(math.Tanh), 2},
	{"erff(x)", of(math.Erf), 1.1},
	{"erfcf(x)", of(math.Erfc), 4},
	{"atanf(x)", of(math.Atan), 2},
	{"cbrtf(x)", of(math.Cbrt), 1},
	{"roundf(x)", of(math.Round), 0},
	{"roundf(copysignf(0.49999997f, x))", func(x, _ float64) float64 { return math.Copysign(0, x) }, 0},
	{"rsqrtf(x)", func(x, _ float64) float64 { return 1 / math.Sqrt(x) }, 1},
	{"powf(x, y)", math.Pow, 1.5},
	{"powf(x, 3.f)", func(x, _ float64) float64 { return math.Pow(x, 3) }, 1.5},
	{"powf(x, -0.5f)", func(x, _ float64) float64 { return math.Pow(x, -0.5) }, 1.5},
	{"powf(fabsf(x), 0.01f * roundf(y * 1e-30f))", func(x, y float64) float64 {
		return math.Pow(math.Abs(x), float64(float32(0.01)*float32(math.Round(float64(float32(y)*1e-30)))))
	}, 1.5},
	{"fmodf(x, y)", math.Mod, 0},
	{"hypotf(x, y)", math.Hypot, 2},
	{"atan2f(x, y)", math.Atan2, 2.5},
	{"fdimf(x, y)", func(x, y float64) float64 {
		if x <= y {
			return 0
		}
		return x - y
	}, 0.51},
	{"copysignf(x, y)", math.Copysign, 0},
}

func of(f func(float64) float64) func(x, y float64) float64 {
	return func(x, _ float64) float64 { return f(x) }
}

var edges = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, -1.5, 2, -2, 3, -3, 88.5, -87, -103.5, 0.49999997, 8388609, 105615, -105615, 1e30, math.Inf(1), math.Inf(-1), math.NaN(), 1e-45, -1e-45, 1e-39, math.MaxFloat32, -math.MaxFloat32}

const edgeSamples = 4096

// The edges in pairs, then floats of any bits and such of exponents around 1.
func edgeInputs() (x, y []byte) {
	rng := rand.New(rand.NewPCG(3, 4))
	float := func() uint32 {
		u := rng.Uint32()
		if rng.IntN(2) == 0 {
			u = u&^(0x7f<<24) | (60+rng.Uint32N(7))<<24
		}
		return u
	}
	for i := range edgeSamples {
		a, b := float(), float()
		if n := len(edges); i < n*n {
			a, b = math.Float32bits(float32(edges[i%n])), math.Float32bits(float32(edges[i/n]))
		}
		x, y = binary.LittleEndian.AppendUint32(x, a), binary.LittleEndian.AppendUint32(y, b)
	}
	return x, y
}

// The device headers' mathematics at arguments of all magnitudes, and at those that are no numbers.
func TestDeviceMathematicsAtTheEdges(t *testing.T) {
	clang := needClang(t)
	var b strings.Builder
	b.WriteString("extern \"C\" __global__ void evaluate(const float* xs, const float* ys, float* out) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float x = xs[i], y = ys[i], r = 0.f;\n  switch (blockIdx.y) {\n")
	for i, f := range edgeFunctions {
		fmt.Fprintf(&b, "    case %d: r = %s; break;\n", i, f.call)
	}
	fmt.Fprintf(&b, "  }\n  out[blockIdx.y * %d + i] = r;\n}\n", edgeSamples)
	count := int64(edgeSamples * len(edgeFunctions))
	launch := &kernel.Launch{
		KernelName: "evaluate",
		Grid:       [3]int64{edgeSamples / 256, int64(len(edgeFunctions)), 1}, Block: [3]int64{256, 1, 1},
		Args: []kernel.Arg{
			{Name: "xs", Type: kernel.Float, Lanes: 1, Count: edgeSamples},
			{Name: "ys", Type: kernel.Float, Lanes: 1, Count: edgeSamples},
			{Name: "out", Type: kernel.Float, Lanes: 1, Count: count},
		},
		Compile: kernel.Compile{Language: kernel.CUDA, SourceFile: "evaluate.cu", Source: []byte(b.String())},
	}
	res, err := clang.Compile(t.Context(), compile.Request{Compile: launch.Compile, Target: "sm_90"})
	if err != nil {
		t.Fatal(err)
	}
	xs, ys := edgeInputs()
	after, err := run(launch, res.PTX, map[string][]byte{"xs": xs, "ys": ys, "out": make([]byte, 4*count)})
	if err != nil {
		t.Fatal(err)
	}
	for n, f := range edgeFunctions {
		worst, wrong := 0.0, 0
		for i := range edgeSamples {
			x, y, got := float(xs, i), float(ys, i), float(after["out"], n*edgeSamples+i)
			want := f.want(x, y)
			if r := float64(float32(want)); math.IsInf(r, 0) || math.IsNaN(r) || r == 0 {
				want = r
			}
			off := 0.0
			switch {
			case math.IsNaN(want) && math.IsNaN(got), got == want && math.Signbit(got) == math.Signbit(want):
			case math.IsNaN(want), math.IsNaN(got), math.IsInf(got, 0) != math.IsInf(want, 0) && math.Abs(got-want) > 1e33:
				off = math.Inf(1)
			case got == 0 && want == 0: // of other signs
				off = math.Inf(1)
			default:
				off = math.Abs(got-want) / max(ulp(want), math.SmallestNonzeroFloat32)
			}
			worst = max(worst, off)
			if off > f.ulps {
				if wrong++; wrong <= 3 {
					t.Errorf("%s at x %v, y %v: %v, want %v within %v units", f.call, x, y, got, want, f.ulps)
				}
			}
		}
		t.Logf("%s: at most %.2f units in the last place", f.call, worst)
	}
}
