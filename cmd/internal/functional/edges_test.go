package functional_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

type edgeFunction struct {
	call string // of x and y
	want func(x, y float64) float64
	ulps float64
}

// edgeFunctions are functions of float, and of a second one, over all floats: zeros, infinities,
// subnormals and no numbers among them; in units in the last place, at most those that the CUDA C++
// Programming Guide's table allows.
var edgeFunctions = []edgeFunction{
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
	{"sinhf(x)", of(math.Sinh), 2},
	{"coshf(x)", of(math.Cosh), 2},
	{"erff(x)", of(math.Erf), 1.1},
	{"erfcf(x)", of(math.Erfc), 4},
	{"atanf(x)", of(math.Atan), 2},
	{"cbrtf(x)", of(math.Cbrt), 1},
	{"rcbrtf(x)", of(func(x float64) float64 { return 1 / math.Cbrt(x) }), 2},
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
	{"remainderf(x, y)", math.Remainder, 0},
	{"fabsf(x) < 1e18f ? (float)lroundf(x) : 0.f", func(x, _ float64) float64 {
		if math.Abs(x) < 1e18 {
			return math.Round(x) + 0 // of an integer, no zero is negative
		}
		return 0
	}, 0},
	{"asinf(x)", of(math.Asin), 2},
	{"acosf(x)", of(math.Acos), 2},
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

var edges = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, -1.5, 2, -2, 3, -3, 88.5, 89.2, -87, -103.5, 0.49999997, 8388609, 105615, -105615, 1e30, math.Inf(1), math.Inf(-1), math.NaN(), 1e-45, -1e-45, 1e-39, math.MaxFloat32, -math.MaxFloat32, 709.7, -745.1, 1e300, 5e-324, math.MaxFloat64}

// Those of double, whose references' own errors, of a unit or two, are within what is allowed; where
// math's are greater (of powers, and of logarithms near 0), more is.
var doubleEdgeFunctions = []edgeFunction{
	{"exp(x)", of(exp), 3},
	{"exp2(x)", of(math.Exp2), 2},
	{"exp10(x)", func(x, _ float64) float64 { return math.Pow(10, x) }, 10},
	{"expm1(x)", of(math.Expm1), 2},
	{"log(x)", of(logarithm), 2},
	{"log2(x)", of(math.Log2), 10},
	{"log10(x)", of(func(x float64) float64 { return logarithm(x) * (1 / math.Ln10) }), 3},
	{"log1p(x)", of(math.Log1p), 2},
	{"sin(x)", of(sine), 2},
	{"cos(x)", of(cosine), 2},
	{"tan(x)", of(func(x float64) float64 { return sine(x) / cosine(x) }), 3},
	{"({ double s, c; sincos(x, &s, &c); s; })", of(sine), 2},
	{"({ double s, c; sincos(x, &s, &c); c; })", of(cosine), 2},
	{"tanh(x)", of(math.Tanh), 2},
	{"erf(x)", of(math.Erf), 2},
	{"atan(x)", of(math.Atan), 2},
	{"asin(x)", of(math.Asin), 3},
	{"cbrt(x)", of(math.Cbrt), 1},
	{"round(x)", of(math.Round), 0},
	{"round(copysign(0.49999999999999994, x))", func(x, _ float64) float64 { return math.Copysign(0, x) }, 0},
	{"rsqrt(x)", func(x, _ float64) float64 { return 1 / math.Sqrt(x) }, 1},
	{"pow(x, y)", power, 2000},
	{"pow(x, 3.0)", func(x, _ float64) float64 { return math.Pow(x, 3) }, 2},
	{"pow(x, -0.5)", func(x, _ float64) float64 { return math.Pow(x, -0.5) }, 2},
	{"fmod(x, y)", math.Mod, 0},
	{"hypot(x, y)", math.Hypot, 2},
	{"atan2(x, y)", func(x, y float64) float64 { return math.Copysign(math.Atan2(x, y), x) }, 2},
	{"copysign(x, y)", math.Copysign, 0},
}

// exp is math.Exp, which overflows too early.
func exp(x float64) float64 {
	if x > 700 && x < 800 {
		return math.Exp(x-64) * math.Exp(64)
	}
	return math.Exp(x)
}

// logarithm is math.Log, which is wrong of subnormals on some machines.
func logarithm(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

func power(x, y float64) float64 {
	if math.Abs(x) < 0x1p-1022 && x != 0 && math.Abs(y) < 10 {
		return math.Pow(x*0x1p54, y) * math.Exp2(-54*y)
	}
	return math.Pow(x, y)
}

// sine and cosine are math's of an argument reduced with all of pi's digits that it takes.
func sine(x float64) float64   { return quadrant(x, 0) }
func cosine(x float64) float64 { return quadrant(x, 1) }

func quadrant(x float64, ahead int64) float64 {
	if math.Abs(x) < 0.5 || math.IsInf(x, 0) || math.IsNaN(x) {
		return []func(float64) float64{math.Sin, math.Cos}[ahead](x)
	}
	quarter := halfPi()
	a := new(big.Float).SetPrec(2400).SetFloat64(x)
	turns := new(big.Float).Quo(a, quarter)
	n, _ := turns.Add(turns, big.NewFloat(math.Copysign(0.5, x))).Int(nil)
	rest, _ := a.Sub(a, new(big.Float).SetPrec(2400).Mul(quarter, new(big.Float).SetPrec(2400).SetInt(n))).Float64()
	q := new(big.Int).And(n.Add(n, big.NewInt(ahead)), big.NewInt(3)).Int64()
	r := []func(float64) float64{math.Sin, math.Cos}[q&1](rest)
	if q&2 != 0 {
		return -r
	}
	return r
}

// halfPi is Machin's: pi/4 = 4 atan(1/5) - atan(1/239).
var halfPi = sync.OnceValue(func() *big.Float {
	inverse := func(n int64) *big.Float {
		sum, power := new(big.Float).SetPrec(2400), new(big.Float).SetPrec(2400).Quo(big.NewFloat(1).SetPrec(2400), new(big.Float).SetPrec(2400).SetInt64(n))
		square := new(big.Float).SetPrec(2400).SetInt64(-n * n)
		for k := int64(1); power.MantExp(nil) > -2400; k += 2 {
			sum.Add(sum, new(big.Float).SetPrec(2400).Quo(power, new(big.Float).SetInt64(k)))
			power.Quo(power, square)
		}
		return sum
	}
	four := new(big.Float).SetInt64(4)
	p := new(big.Float).SetPrec(2400).Mul(inverse(5), four)
	p.Sub(p, inverse(239))
	return p.Mul(p, new(big.Float).SetInt64(2))
})

const edgeSamples = 4096

// edgeInputs are the edges in pairs, then floats of any bits and such of exponents around 1.
func edgeInputs(size int) (x, y []byte) {
	rng := rand.New(rand.NewPCG(3, 4))
	value := func() float64 {
		exponent := rng.IntN(2098) - 1074
		switch {
		case rng.IntN(2) == 0:
			exponent = rng.IntN(20) - 10
		case size == 4:
			exponent = rng.IntN(277) - 149
		}
		return math.Copysign(math.Ldexp(1+rng.Float64(), exponent), rng.Float64()-0.5)
	}
	for i := range edgeSamples {
		a, b := value(), value()
		if n := len(edges); i < n*n {
			a, b = edges[i%n], edges[i/n]
		}
		x, y = appendFloat(x, a, size), appendFloat(y, b, size)
	}
	return x, y
}

func appendFloat(b []byte, v float64, size int) []byte {
	if size == 4 {
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

func floatOf(b []byte, i, size int) float64 {
	if size == 4 {
		return float(b, i)
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
}

// The device headers' mathematics at arguments of all magnitudes, and at those that are no numbers.
func TestDeviceMathematicsAtTheEdges(t *testing.T) {
	t.Run("float", func(t *testing.T) { testEdges(t, edgeFunctions, call.Float, nil) })
	t.Run("double", func(t *testing.T) { testEdges(t, doubleEdgeFunctions, call.Double, nil) })
	// Those that stay what they are, at normal numbers.
	fast := slices.DeleteFunc(slices.Clone(edgeFunctions), func(f edgeFunction) bool {
		return !slices.Contains([]string{"sinhf(x)", "coshf(x)", "erff(x)", "erfcf(x)", "expm1f(x)", "atanf(x)", "cbrtf(x)", "roundf(x)", "asinf(x)", "acosf(x)", "fmodf(x, y)", "hypotf(x, y)"}, f.call)
	})
	t.Run("float, fast", func(t *testing.T) { testEdges(t, fast, call.Float, []string{"-use_fast_math"}) })
}

func testEdges(t *testing.T, functions []edgeFunction, typ call.Type, options []string) {
	var calls []string
	for _, f := range functions {
		calls = append(calls, f.call)
	}
	source := strings.NewReplacer("TYPE", typ.String(), "CASES", cases("r", calls), "COUNT", strconv.Itoa(edgeSamples)).Replace(`
extern "C" __global__ void evaluate(const TYPE* xs, const TYPE* ys, TYPE* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  TYPE x = xs[i], y = ys[i], r = 0;
  switch (blockIdx.y) {
CASES  }
  out[blockIdx.y * COUNT + i] = r;
}
`)
	size := typ.Bytes()
	xs, ys := edgeInputs(size)
	tab := table{source: source, elem: typ, rows: len(calls), columns: edgeSamples, block: 256, options: options}
	out := tab.evaluate(t, "sm_90", xs, ys)
	for n, f := range functions {
		worst, wrong := 0.0, 0
		for i := range edgeSamples {
			x, y, got := floatOf(xs, i, size), floatOf(ys, i, size), floatOf(out, n*edgeSamples+i, size)
			want := f.want(x, y)
			if options != nil && !(ordinary(x) && ordinary(y) && ordinary(want)) {
				continue
			}
			off := unitsOff(got, want, size)
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

// ordinary says that v is finite and that no product of two such is subnormal or infinite.
func ordinary(v float64) bool { return math.Abs(v) > 1e-15 && math.Abs(v) < 1e15 }

// unitsOff is how far got is from want, in units in want's last place; without bound where one is no number, infinite or
// a zero of the other sign.
func unitsOff(got, want float64, size int) float64 {
	unit := math.Ldexp(1, max(math.Ilogb(want), -1022)-52)
	if size == 4 {
		unit = max(ulp(want), math.SmallestNonzeroFloat32)
		if r := float64(float32(want)); math.IsInf(r, 0) || r == 0 {
			want = r
		}
	}
	switch {
	case math.IsNaN(want) && math.IsNaN(got), got == want && math.Signbit(got) == math.Signbit(want):
		return 0
	case math.IsNaN(want), math.IsNaN(got), got == 0 && want == 0:
		return math.Inf(1)
	case math.IsInf(got, 0) || math.IsInf(want, 0): // the largest may be infinite, one unit too much
		if limit := map[int]float64{4: math.MaxFloat32, 8: math.MaxFloat64}[size]; math.Min(math.Abs(got), math.Abs(want)) < limit*(1-1e-6) {
			return math.Inf(1)
		}
		return 1
	}
	return math.Abs(got-want) / unit
}
