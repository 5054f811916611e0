package gaussian

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDecay: it is the exponential function.
func TestDecay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 200000 {
		x := r.Float64() * math.Exp(10*r.Float64()-4)
		if k < 1000 {
			x = float64(k) * math.Ln2 / 256 // where its pieces meet
		}
		if want, got := math.Exp(-x), decay(x); x < 690 && math.Abs(got/want-1) > 4e-15 {
			t.Fatalf("decay(%v) is %v, want %v: off by %.1e", x, got, want, got/want-1)
		}
	}
	for x, want := range map[float64]float64{0: 1, 1e300: 0, math.Inf(1): 0} {
		if got := decay(x); got != want {
			t.Errorf("decay(%v) is %v, want %v", x, got, want)
		}
	}
}

func BenchmarkMatern(b *testing.B) {
	x, sum := 0.0, 0.0
	for b.Loop() {
		x += 1e-6
		sum += matern(x)
	}
	if sum < 0 {
		b.Error(sum)
	}
}
