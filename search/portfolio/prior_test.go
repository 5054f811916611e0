package portfolio

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/strategytest"
)

// TestFromContract: what was predicted, of some configurations and however wrong, changes which
// questions are asked and nothing of the contract.
func TestFromContract(t *testing.T) {
	strategytest.Run(t, func(space *search.Space, seed uint64) search.Strategy {
		r := rand.New(rand.NewPCG(seed, 1))
		predicted := search.Prior{-1: 1, space.Size(): 1}
		for i := range min(space.Size(), 500) {
			if r.IntN(3) > 0 {
				predicted[i] = []float64{r.ExpFloat64(), 1, 0, -1, math.Inf(1), math.NaN()}[r.IntN(6)]
			}
		}
		return From(predicted, space, seed)
	})
}

// evaluations returns how many questions a strategy needs to come within 1 % of the optimum of a
// valley, on the average of some seeds; at most most.
func evaluations(t *testing.T, most int, predict func(times map[int64]float64, seed uint64) search.Prior) float64 {
	t.Helper()
	space, answer := strategytest.Valley(t)
	times, optimum := map[int64]float64{}, math.Inf(1)
	for i := range space.Size() {
		if o := answer(i); o.Valid {
			times[i] = o.Objective
			optimum = min(optimum, o.Objective)
		}
	}
	const seeds = 6
	sum := 0.0
	for seed := range uint64(seeds) {
		s := From(predict(times, seed), space, seed)
		n, best := 0, math.Inf(1)
		for ; n < most && best > 1.01*optimum; n++ {
			o := answer(s.Ask(1)[0])
			if o.Valid {
				best = min(best, o.Objective)
			}
			s.Tell(o)
		}
		sum += float64(n)
	}
	return sum / seeds
}

// TestFrom: predictions that are right but for a common scale are followed, and of those that foretell
// nothing little more is lost than the questions that show it. Those that are off by a ratio that grows
// with a parameter are corrected, for less than searching without.
func TestFrom(t *testing.T) {
	const most = 150
	without := evaluations(t, most, func(map[int64]float64, uint64) search.Prior { return nil })
	scaled := evaluations(t, most, func(times map[int64]float64, _ uint64) search.Prior {
		p := search.Prior{}
		for i, v := range times {
			p[i] = 3 * v
		}
		return p
	})
	space, _ := strategytest.Valley(t)
	skewed := evaluations(t, most, func(times map[int64]float64, _ uint64) search.Prior {
		p := search.Prior{}
		for i, v := range times {
			p[i] = v * math.Pow(float64(space.At(i).Values[2].I), 0.4) // of the tile
		}
		return p
	})
	permuted := evaluations(t, most, func(times map[int64]float64, seed uint64) search.Prior {
		p := search.Prior{}
		valid := slices.Sorted(maps.Keys(times))
		for k, other := range rand.New(rand.NewPCG(seed, 2)).Perm(len(valid)) {
			p[valid[k]] = times[valid[other]]
		}
		return p
	})
	t.Logf("evaluations to 1 %%: %.1f without predictions, %.1f from right ones, %.1f from skewed ones, %.1f from permuted ones", without, scaled, skewed, permuted)
	if scaled != 1 {
		t.Errorf("%.1f evaluations from predictions that order everything right, want 1", scaled)
	}
	if skewed > 0.7*without {
		t.Errorf("%.1f evaluations from predictions that are off by a smooth ratio, %.1f without", skewed, without)
	}
	if permuted > 1.5*without {
		t.Errorf("%.1f evaluations from predictions that foretell nothing, %.1f without", permuted, without)
	}
}
