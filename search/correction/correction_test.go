package correction

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/search"
)

// square is a space of two sizes of eight values each.
func square(t *testing.T) *search.Space {
	t.Helper()
	var values []search.Value
	for v := int64(1); v <= 128; v *= 2 {
		values = append(values, search.OfInt(v))
	}
	s, err := search.New([]search.Param{{Name: "A", Values: values}, {Name: "B", Values: values}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// measure makes measurements of n configurations, each once, of which residual gives the logarithm of measured over predicted.
func measure(s *search.Space, n int, r *rand.Rand, residual func(i int64, bound string) float64) []Measured {
	var known []Measured
	for _, i := range r.Perm(int(s.Size()))[:n] {
		bound := []string{"dram", "fp32"}[r.IntN(2)]
		p := 100 * (1 + r.Float64())
		known = append(known, Measured{int64(i), bound, p, p * math.Exp(residual(int64(i), bound))})
	}
	return known
}

// A scale that one bound has is found, and what of it is not seen is foretold.
func TestScaleOfABound(t *testing.T) {
	s, seed := square(t), rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	residual := func(_ int64, bound string) float64 {
		if bound == "fp32" {
			return 0.5 + 0.02*r.NormFloat64()
		}
		return 0.02 * r.NormFloat64()
	}
	c := Fit(s, measure(s, 24, r, residual))
	if c.Name != "a scale for each bound" {
		t.Fatalf("learned: %q", c.Name)
	}
	if got := math.Log(c.Factor(0, "fp32") / c.Factor(0, "dram")); got < 0.3 || got > 0.55 {
		t.Errorf("one bound's scale is exp(%.2f) times the other's, want exp(0.5), shrunk", got)
	}
	if c.Error > 0.5*c.Before {
		t.Errorf("what is left out is foretold to %.3f, by the mean to %.3f", c.Error, c.Before)
	}
}

// A residual that the parameters explain is found by the process.
func TestResidualOfParameters(t *testing.T) {
	s, seed := square(t), rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	residual := func(i int64, _ string) float64 {
		v, _ := s.At(i).Get("A")
		return 0.2 * math.Log2(float64(v.I))
	}
	c := Fit(s, measure(s, 24, r, residual))
	if c.Name != "a process over the residual" {
		t.Fatalf("learned: %q", c.Name)
	}
	off := 0.0
	for i := range s.Size() {
		off = max(off, math.Abs(math.Log(c.Factor(i, "dram"))-residual(i, "")))
	}
	if off > 0.6 {
		t.Errorf("a residual of up to 1.4 is foretold to %.2f at worst", off)
	}
}

// Of noise nothing is learned but its mean, which changes no order; nor of few measurements.
func TestNothingIsLearnedOfNoise(t *testing.T) {
	s, seed := square(t), rand.Uint64()
	t.Logf("seed %d", seed)
	learned := 0
	for k := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, k))
		c := Fit(s, measure(s, 20, r, func(int64, string) float64 { return 0.1 * r.NormFloat64() }))
		if c.Name != "" {
			learned++
		} else if c.Factor(0, "dram") != c.Factor(63, "fp32") {
			t.Fatal("a correction that is off has factors that differ")
		}
	}
	if learned > 20 {
		t.Errorf("something was learned of noise in %d of 200 trials", learned)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	if c := Fit(s, measure(s, least-1, r, func(int64, string) float64 { return r.NormFloat64() })); c.Name != "" || c.Factor(1, "") != 1 {
		t.Errorf("of %d measurements: %+v", least-1, c)
	}
}

// What the process says was left out is what it says when it is conditioned on the others alone.
func TestLeavingOut(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	points, y := [][]float64{}, []float64{}
	for range 12 {
		points = append(points, []float64{r.Float64(), r.Float64()})
		y = append(y, r.NormFloat64())
	}
	_, squares, ok := process(points, y, 0, 0.3)
	if !ok {
		t.Fatal("not conditioned")
	}
	want := 0.0
	for i := range points {
		var p [][]float64
		var z []float64
		for j := range points {
			if j != i {
				p, z = append(p, points[j]), append(z, y[j])
			}
		}
		weight, _, _ := process(p, z, 0, 0.3)
		said := 0.0
		for j := range p {
			said += weight[j] * covariance(points[i], p[j], 0.3)
		}
		want += (y[i] - said) * (y[i] - said)
	}
	if math.Abs(squares-want) > 1e-9*want {
		t.Errorf("squared error of what is left out: %g, want %g", squares, want)
	}
}
