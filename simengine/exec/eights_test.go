package exec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// eightsValues are the finite values of a format of eight bits by their bits, from its definition (OCP
// 8-bit floating point specification, 2023).
func eightsValues(mantissa, bias int, last int) []float64 {
	values := make([]float64, last+1)
	for i := range values {
		e, m := i>>mantissa, float64(i&(1<<mantissa-1))
		if e == 0 {
			values[i] = math.Ldexp(m, 1-bias-mantissa)
		} else {
			values[i] = math.Ldexp(float64(int(1)<<mantissa)+m, e-bias-mantissa)
		}
	}
	return values
}

// nearestEight is the bits of the value nearest to v, of two the one with an even last bit.
func nearestEight(values []float64, v float64) uint64 {
	if v != v {
		return 0x7f
	}
	best := 0
	for i, x := range values {
		near, was := math.Abs(math.Abs(v)-x), math.Abs(math.Abs(v)-values[best])
		if near < was || near == was && i%2 == 0 {
			best = i
		}
	}
	if math.IsInf(v, 0) {
		best = len(values) - 1
	}
	if math.Signbit(v) {
		best |= 0x80
	}
	return uint64(best)
}

// Conversions to and from pairs of eight bits give the nearest values, and saturate.
func TestEights(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	for _, f := range []struct {
		name   string
		values []float64
	}{{"e4m3x2", eightsValues(3, 7, 0x7e)}, {"e5m2x2", eightsValues(2, 15, 0x7b)}} {
		var rows [][3]uint64
		for _, special := range []float64{0, 1, 448, 464, 465, 480, 57344, 61440, math.Inf(1), math.NaN(), 0x1p-9, 0x1p-10, 0x1p-16, 3 * 0x1p-17} {
			rows = append(rows, [3]uint64{uint64(math.Float32bits(float32(special))), uint64(math.Float32bits(-float32(special)))})
		}
		for range 200 {
			one := func() uint64 {
				return uint64(math.Float32bits(float32(math.Ldexp(rng.Float64()*2-1, rng.IntN(40)-20))))
			}
			rows = append(rows, [3]uint64{one(), one()})
		}
		value := func(bits uint64) float64 { return float64(math.Float32frombits(uint32(bits))) }
		got := runOp(t, "cvt.rn.satfinite."+f.name+".f32 %d, %s0, %s1;", "b16", []string{"f32", "f32"}, rows)
		relu := runOp(t, "cvt.rn.satfinite.relu."+f.name+".f32 %d, %s0, %s1;", "b16", []string{"f32", "f32"}, rows)
		for i, r := range rows {
			a, b := value(r[0]), value(r[1])
			want := nearestEight(f.values, a)<<8 | nearestEight(f.values, b)&0xff
			if a != a {
				want = 0x7f7f
			}
			if got[i]&0xffff != want {
				t.Errorf("%s of %v and %v: %#x, want %#x", f.name, a, b, got[i], want)
			}
			if a > 0 && b < 0 && relu[i]&0xffff != want&0xff00 {
				t.Errorf("%s of %v and %v with relu: %#x", f.name, a, b, relu[i])
			}
		}
		checkEightsToHalves(t, f.name, f.values)
	}
}

// checkEightsToHalves: all finite values are halves, and become themselves again.
func checkEightsToHalves(t *testing.T, name string, values []float64) {
	var rows [][3]uint64
	for i := range values {
		rows = append(rows, [3]uint64{uint64(i) | 0x8000 | uint64(i)<<8})
	}
	halves := runOp(t, "cvt.rn.f16x2."+name+" %d, %s0;", "b32", []string{"b16"}, rows)
	for i, h := range halves {
		if low, high := halfValue(h&0xffff), halfValue(h>>16&0xffff); low != values[i] || high != -values[i] {
			t.Errorf("%s %#x: %v and %v, want %v and its negative", name, i, low, high, values[i])
		}
		rows[i][0] = h
	}
	back := runOp(t, "cvt.rn.satfinite."+name+".f16x2 %d, %s0;", "b16", []string{"b32"}, rows)
	for i, b := range back {
		if want := uint64(i) | 0x8000 | uint64(i)<<8; b&0xffff != want {
			t.Errorf("%s %#x comes back as %#x", name, want, b)
		}
	}
}
