package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The points left out of a curve lie on the line between those written.
func TestPointsLeftOutLieOnTheLine(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 200 {
		curve := []float64{float64(1 + rng.IntN(4))}
		for range rng.IntN(40) {
			curve = append(curve, curve[len(curve)-1]-float64(rng.IntN(4)/3)) // mostly level
		}
		var b strings.Builder
		writePoints(&b, curve, func(n int) float64 { return 2 * float64(n) }, func(r float64) float64 { return r })
		var xs, ys []float64
		for _, point := range strings.Fields(b.String()) {
			var x, y float64
			if _, err := fmt.Sscanf(point, "%f,%f", &x, &y); err != nil {
				t.Fatal(err)
			}
			xs, ys = append(xs, x), append(ys, y)
		}
		if len(xs) > 3 && slices.Max(ys) == slices.Min(ys) {
			t.Errorf("seed %d, round %d: a level curve has %d points", seed, round, len(xs))
		}
		for n, r := range curve {
			at := 2 * float64(n+1)
			k, found := slices.BinarySearch(xs, at)
			if !found && (k == 0 || k == len(xs) || ys[k-1] != r || ys[k] != r) || found && ys[k] != r {
				t.Fatalf("seed %d, round %d: point %g of %v is not on %q", seed, round, at, curve, b.String())
			}
		}
	}
}
