package score

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestRegret(t *testing.T) {
	pairs := []Pair{{10, 5}, {20, 1}, {5, 5}, {8, 9}}
	for _, c := range []struct {
		k    int
		want float64
	}{{1, 4}, {2, 2}, {3, 1}, {99, 1}} {
		if got := Regret(pairs, c.k); got != c.want {
			t.Errorf("regret@%d = %v, want %v (equal predictions count in enumeration order)", c.k, got, c.want)
		}
	}
	if !math.IsNaN(Regret(nil, 1)) {
		t.Error("regret of nothing is NaN")
	}
}

func TestSpearman(t *testing.T) {
	for name, c := range map[string]struct {
		pairs []Pair
		want  float64
	}{
		"same order":     {[]Pair{{1, 10}, {2, 20}, {3, 30}}, 1},
		"reversed":       {[]Pair{{1, 3}, {2, 2}, {3, 1}}, -1},
		"ties":           {[]Pair{{1, 1}, {2, 1}, {3, 2}}, math.Sqrt(3) / 2},
		"constant":       {[]Pair{{1, 1}, {2, 1}}, 0},
		"failed is last": {[]Pair{{1, 1}, {2, 2}, {3, math.Inf(1)}}, 1},
	} {
		if got := Spearman(c.pairs); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A monotone map of the predictions changes regret and rank correlation in no way.
func TestMonotoneInvariance(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		a := make([]Pair, 1+rng.IntN(40))
		b := make([]Pair, len(a))
		for i := range a {
			a[i] = Pair{1 + rng.Float64()*9, float64(1 + rng.IntN(20))}
			b[i] = Pair{a[i].Measured, math.Exp(a[i].Predicted / 3)}
		}
		for _, k := range []int{1, 3, 10} {
			if Regret(a, k) != Regret(b, k) {
				t.Fatalf("seed %d: regret@%d changed", seed, k)
			}
		}
		if math.Abs(Spearman(a)-Spearman(b)) > 1e-9 {
			t.Fatalf("seed %d: rank correlation changed", seed)
		}
	}
}

func TestFailedPredictionIsCounted(t *testing.T) {
	g := Score("g", []Pair{{10, 10}, {20, math.Inf(1)}})
	if g.Failed != 1 || g.MAPE != 0.5 || g.Bias != 1 || g.Spread != 2 {
		t.Errorf("%+v", g)
	}
	s := Summarise([]Group{g})
	if s.Failed != 1 || s.Configs != 2 || s.MAPE != 0.5 || s.Regret1Worst != 1 {
		t.Errorf("%+v", s)
	}
}

// What all predictions have in common is no error of the contest, and what is far from
// the fastest does not contend.
func TestContest(t *testing.T) {
	exact := []Pair{{Measured: 10, Predicted: 20}, {Measured: 11, Predicted: 22}, {Measured: 50, Predicted: 90}}
	if off := Contest(exact); len(off) != 1 || off[0] > 1e-12 {
		t.Errorf("predictions that are all twice the times: %v", off)
	}
	swapped := []Pair{{Measured: 10, Predicted: 10}, {Measured: 9, Predicted: 10.8}}
	if off := Contest(swapped); len(off) != 1 || math.Abs(off[0]-0.2) > 1e-12 {
		t.Errorf("1.08 times where 0.9 was measured: %v", off)
	}
	if off := Contest([]Pair{{Measured: 1, Predicted: math.Inf(1)}}); len(off) != 0 {
		t.Errorf("without a prediction: %v", off)
	}
	if off := Contest(nil); len(off) != 0 {
		t.Errorf("of nothing: %v", off)
	}
}

// A group of which nothing is predicted has its regret, its error and its count, and no contest.
func TestNothingIsPredicted(t *testing.T) {
	g := Score("g", []Pair{{2, math.Inf(1)}, {1, math.Inf(1)}})
	if g.Failed != 2 || g.MAPE != 1 || g.Regret1 != 2 || g.Spearman != 0 || len(g.Contest) != 0 {
		t.Errorf("%+v", g)
	}
	if s := Summarise([]Group{g}); s.Failed != 2 || s.Contest != 0 || s.ContestConfigs != 0 {
		t.Errorf("%+v", s)
	}
}
