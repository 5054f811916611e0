package replay

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// A curve's points lie on what is drawn of it: half a pixel off a line whose ends are rounded to whole pixels. A level
// curve is two points.
func TestCurveIsWhereItIsDrawn(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 200 {
		curve := []float64{float64(100 + rng.IntN(300))}
		steepest := rng.IntN(20)
		for range 2 + rng.IntN(400) {
			curve = append(curve, curve[len(curve)-1]-float64(rng.IntN(4)/3)*rng.Float64()*float64(steepest)) // mostly level
		}
		x := func(n int) float64 { return 100 * math.Log(float64(n)) }
		y := func(r float64) float64 { return r }
		at := points(t, path(drawn(curve, x, y)))
		if steepest == 0 && len(at) != 2 {
			t.Errorf("seed %d, round %d: a level curve has %d points", seed, round, len(at))
		}
		for n, r := range curve {
			p, nearest := point{x(n + 1), r}, math.Inf(1)
			for i := range at[1:] {
				nearest = min(nearest, distance(p, at[i], at[i+1]))
			}
			if nearest > 0.5+math.Sqrt2/2 {
				t.Fatalf("seed %d, round %d: point %v of %v is %.2f pixels off %v", seed, round, p, curve, nearest, at)
			}
		}
	}
}

// points reads what path writes.
func points(t *testing.T, path string) (out []point) {
	t.Helper()
	at := point{}
	for way := range strings.FieldsSeq(strings.TrimPrefix(path, "m")) {
		var x, y float64
		if _, err := fmt.Sscanf(way, "%f,%f", &x, &y); err != nil {
			t.Fatal(err)
		}
		at = point{at.x + x, at.y + y}
		out = append(out, at)
	}
	return out
}

// distance is how far a point is from the line between two others.
func distance(p, a, b point) float64 {
	dx, dy := b.x-a.x, b.y-a.y
	along := min(max(((p.x-a.x)*dx+(p.y-a.y)*dy)/(dx*dx+dy*dy), 0), 1)
	return math.Hypot(a.x+along*dx-p.x, a.y+along*dy-p.y)
}
