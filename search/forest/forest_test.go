package forest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// points draws points in [0, 8)^4 with the targets of f.
func points(r *rand.Rand, n int, f func([]float32) float32) (x [][]float32, y []float32) {
	for range n {
		p := make([]float32, 4)
		for k := range p {
			p[k] = float32(r.IntN(8))
		}
		x, y = append(x, p), append(y, f(p))
	}
	return x, y
}

// TestLearns: a valley along the sum of two coordinates, which no split on a
// single one follows, is predicted better than by the mean, and points known
// are predicted as they are.
func TestLearns(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	valley := func(p []float32) float32 { return float32(math.Abs(float64(p[0] + p[2] - 7))) }
	x, y := points(r, 200, valley)
	f := New(Options{}, seed)
	f.Grow(x, y, 0)
	for k := range x {
		if mean, _ := f.Predict(x[k]); math.Abs(mean-float64(y[k])) > 1e-5 {
			t.Fatalf("seed %d: %v is known to be %v, predicted %v", seed, x[k], y[k], mean)
		}
	}
	fresh, want := points(r, 500, valley)
	var failed, spread float64
	for k := range fresh {
		mean, variance := f.Predict(fresh[k])
		if variance < 0 || math.IsNaN(mean+variance) {
			t.Fatalf("seed %d: mean %v, variance %v", seed, mean, variance)
		}
		failed += math.Pow(mean-float64(want[k]), 2)
		spread += math.Pow(2.6-float64(want[k]), 2)
	}
	if failed > 0.3*spread {
		t.Errorf("seed %d: %.2f of the variance is left", seed, failed/spread)
	}
}

// TestReplays: the same seed and points give the same forest; a target that is
// constant is predicted without doubt.
func TestReplays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := points(r, 60, func(p []float32) float32 { return p[0] * p[1] })
	a, b := New(Options{Trees: 5}, 9), New(Options{Trees: 5}, 9)
	for range 4 {
		a.Grow(x, y, 2)
		b.Grow(x, y, 2)
	}
	for _, p := range x {
		ma, va := a.Predict(p)
		if mb, vb := b.Predict(p); ma != mb || va != vb {
			t.Fatalf("%v: %v and %v", p, ma, mb)
		}
	}
	c := New(Options{}, 1)
	c.Grow(x[:1], []float32{3}, 0)
	if mean, variance := c.Predict(x[5]); mean != 3 || variance != 0 {
		t.Errorf("one point of 3 predicts %v, variance %v", mean, variance)
	}
}

func BenchmarkGrow(b *testing.B) {
	x, y := points(rand.New(rand.NewPCG(1, 2)), 400, func(p []float32) float32 { return p[0]*p[1] - p[2] })
	f := New(Options{}, 1)
	for b.Loop() {
		f.Grow(x, y, 1)
	}
}

func BenchmarkPredict(b *testing.B) {
	x, y := points(rand.New(rand.NewPCG(1, 2)), 400, func(p []float32) float32 { return p[0]*p[1] - p[2] })
	f := New(Options{}, 1)
	f.Grow(x, y, 0)
	for b.Loop() {
		f.Predict(x[7])
	}
}
