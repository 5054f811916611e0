package functional_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// doubleFunctions are the device headers' functions of double, as mathFunctions: against Go's,
// whose own error, up to a unit, is within what is allowed.
var doubleFunctions = []struct {
	call     string // of x
	want     func(x float64) float64
	from, to float64
	ulps     float64
	absolute float64
}{
	{"exp(x)", math.Exp, -740, 709, 2, 5e-324},
	{"exp2(x)", math.Exp2, -1000, 1000, 2, 0},
	{"expm1(x)", math.Expm1, -30, 30, 2, 0},
	{"log(x)", math.Log, 0, 30, 2, 0},
	{"log2(x)", math.Log2, 0, 1e9, 2, 0},
	{"log10(x)", math.Log10, 0, 1e9, 2, 0},
	{"log1p(x)", math.Log1p, -0.99, 30, 2, 0},
	{"pow(x, 2.5)", func(x float64) float64 { return bigPower(x, 5, 1) }, 0, 1e9, 2, 0},
	{"pow(x, 40.25)", func(x float64) float64 { return bigPower(x, 161, 2) }, 0, 1e7, 2, 0},
	{"pow(1.5, x)", func(x float64) float64 { return math.Pow(1.5, x) }, -1000, 1000, 6, 0},
	{"pow(x, -3)", func(x float64) float64 { return 1 / (x * x * x) }, -50, -1, 3, 0},
	{"sin(x)", math.Sin, -300, 300, 2, 0},
	{"cos(x)", math.Cos, -300, 300, 2, 0},
	{"sin(x)", math.Sin, 1e5, 1e8, 2, 0},
	{"tan(x)", math.Tan, -1.5, 1.5, 3, 0},
	{"sinpi(x)", func(x float64) float64 { return math.Sin(math.Pi * x) }, -0.5, 0.5, 4, 0},
	{"asin(x)", math.Asin, -1, 1, 4, 0},
	{"acos(x)", func(x float64) float64 { return 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x)) }, -1, 1, 4, 0},
	{"atan(x)", math.Atan, -20, 20, 2, 0},
	{"atan2(x, -2.0)", func(x float64) float64 { return math.Atan2(x, -2) }, -20, 20, 3, 0},
	{"sinh(x)", math.Sinh, -30, 30, 4, 0},
	{"cosh(x)", math.Cosh, -30, 30, 4, 0},
	{"tanh(x)", math.Tanh, -20, 20, 2, 0},
	{"asinh(x)", math.Asinh, -300, 300, 4, 0},
	{"acosh(x)", math.Acosh, 1, 300, 4, 0},
	{"atanh(x)", math.Atanh, -0.999, 0.999, 4, 0},
	{"cbrt(x)", math.Cbrt, -1e5, 1e5, 1, 0},
	{"hypot(x, 3.0)", func(x float64) float64 { return math.Hypot(x, 3) }, -100, 100, 2, 0},
	{"erf(x)", math.Erf, -6, 6, 2, 0},
	{"erfc(x)", math.Erfc, -6, 26, 6, 0},
	{"normcdf(x)", func(x float64) float64 { return math.Erfc(-x*math.Sqrt2/2) / 2 }, -5, 5, 30, 0}, // as much is lost in the reference's argument
	{"fmod(x, 0.7)", func(x float64) float64 { return math.Mod(x, 0.7) }, -1e15, 1e15, 0, 0},
	{"fmod(x, 1e-300)", func(x float64) float64 { return math.Mod(x, 1e-300) }, -1e5, 1e5, 0, 0},
	{"remainder(x, 0.7)", func(x float64) float64 { return math.Remainder(x, 0.7) }, -1e5, 1e5, 0, 0},
	{"round(x)", math.Round, -100, 100, 0, 0},
	{"nearbyint(x)", math.RoundToEven, -100, 100, 0, 0},
	{"frexp(x, &n) + n", func(x float64) float64 { f, e := math.Frexp(x); return f + float64(e) }, -900, 900, 0, 0},
	{"ldexp(x, -40)", func(x float64) float64 { return math.Ldexp(x, -40) }, -900, 900, 0, 0},
	{"nextafter(x, -100.0)", func(x float64) float64 { return math.Nextafter(x, -100) }, -9, 9, 0, 0},
	{"copysign(x, -1.0)", func(x float64) float64 { return -math.Abs(x) }, -9, 9, 0, 0},
}

// bigPower is x to the power n, of which roots times the square root is taken.
func bigPower(x float64, n, roots int) float64 {
	p, b := big.NewFloat(1).SetPrec(20000), big.NewFloat(x).SetPrec(20000)
	for range n {
		p.Mul(p, b)
	}
	for range roots {
		p.SetPrec(300).Sqrt(p)
	}
	f, _ := p.Float64()
	return f
}

const doubleSamples = 1024

// The device headers' mathematics of doubles, at random arguments, against Go's.
func TestDeviceMathematicsOfDoubles(t *testing.T) {
	t.Run("as they are", func(t *testing.T) { testDoubles(t, nil, 1) })
	// It is for single precision, but clang's passes know no such bounds: powers of constants lose most (160 units seen).
	t.Run("fast", func(t *testing.T) { testDoubles(t, []string{"-use_fast_math"}, 40) })
}

func testDoubles(t *testing.T, options []string, looser float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	var calls []string
	var in []byte
	for _, f := range doubleFunctions {
		calls = append(calls, f.call)
		for range doubleSamples {
			in = binary.LittleEndian.AppendUint64(in, math.Float64bits(f.from+(f.to-f.from)*rng.Float64()))
		}
	}
	source := `extern "C" __global__ void evaluate(const double* in, double* out) {
  int i = blockIdx.y * 1024 + blockIdx.x * blockDim.x + threadIdx.x, n;
  double x = in[i], y = 0;
  switch (blockIdx.y) {
` + cases("y", calls) + "  }\n  out[i] = y;\n}\n"
	tab := table{source: source, elem: call.Double, rows: len(calls), columns: doubleSamples, block: 256, options: options}
	out := tab.evaluate(t, "sm_90", in)
	value := func(b []byte, i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])) }
	for n, f := range doubleFunctions {
		worst := 0.0
		for i := n * doubleSamples; i < (n+1)*doubleSamples; i++ {
			x, got := value(in, i), value(out, i)
			want := f.want(x)
			unit := math.Ldexp(1, max(math.Ilogb(want), -1022)-52)
			if allowed := looser*f.ulps*unit + f.absolute; got != want && !(math.Abs(got-want) <= allowed) {
				t.Errorf("%s at %v: %v, want %v within %v", f.call, x, got, want, allowed)
				break
			}
			if got != want && math.Abs(got-want) > f.absolute {
				worst = max(worst, math.Abs(got-want)/unit)
			}
		}
		t.Logf("%s on [%g, %g]: at most %.2f units in the last place", f.call, f.from, f.to, worst)
	}
}
