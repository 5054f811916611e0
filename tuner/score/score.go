// Package score judges predictions against measurements: regret, rank
// correlation and time error within groups of competing configurations, and
// the agreement of registers, spills and occupancy limiters.
//
// It is arithmetic, and the sentence of what ties; it neither reads files nor simulates.
package score

import (
	"math"
	"sort"
)

// Pair is one configuration with its measured and its predicted time, in any
// one unit. A prediction that failed is +Inf.
type Pair struct{ Measured, Predicted float64 }

// Group is the scores of one group of configurations that compete.
type Group struct {
	Name    string  `json:"group"`
	Configs int     `json:"configs"`
	Spread  float64 `json:"spread"` // slowest over fastest measured time
	Regret1 float64 `json:"regret_1"`
	Regret3 float64 `json:"regret_3"`
	// Regret10 is the best measured time among the ten configurations
	// predicted fastest, over the best measured time.
	Regret10 float64 `json:"regret_10"`
	Spearman float64 `json:"spearman"` // 0 when every time is the same
	MAPE     float64 `json:"mape"`     // mean |predicted-measured|/measured
	Bias     float64 `json:"bias"`     // geometric mean of predicted/measured
	Failed   int     `json:"failed"`   // configurations without a prediction
	// Contest are the errors of Contest, ascending.
	Contest []float64 `json:"-"`
}

// Score scores one group; pairs are in enumeration order.
func Score(name string, pairs []Pair) Group {
	g := Group{Name: name, Configs: len(pairs)}
	if len(pairs) == 0 {
		return g
	}
	lo, hi := math.Inf(1), 0.0
	logs, predicted := 0.0, 0
	for _, p := range pairs {
		lo, hi = min(lo, p.Measured), max(hi, p.Measured)
		if math.IsInf(p.Predicted, 0) || math.IsNaN(p.Predicted) || p.Predicted <= 0 {
			g.Failed++
			g.MAPE += 1
			continue
		}
		predicted++
		g.MAPE += math.Abs(p.Predicted-p.Measured) / p.Measured
		logs += math.Log(p.Predicted / p.Measured)
	}
	g.MAPE /= float64(len(pairs))
	if predicted > 0 {
		g.Bias = math.Exp(logs / float64(predicted))
	}
	g.Spread = hi / lo
	g.Regret1, g.Regret3, g.Regret10 = Regret(pairs, 1), Regret(pairs, 3), Regret(pairs, 10)
	g.Spearman = Spearman(pairs)
	g.Contest = Contest(pairs)
	sort.Float64s(g.Contest)
	return g
}

// Contender is within what factor of the time predicted fastest a configuration
// contends for being the fastest.
const Contender = 1.2

// Contest returns, for each contender but the one predicted fastest, by what share the ratio of its time to that
// one's is off. Two rows at the top of a ranked table may differ by that and be the other way round. What all
// predictions of a group have in common is in none of them.
func Contest(pairs []Pair) []float64 {
	first := -1
	for i, p := range pairs {
		if first < 0 || p.Predicted < pairs[first].Predicted {
			first = i
		}
	}
	if first < 0 || math.IsInf(pairs[first].Predicted, 0) {
		return nil // nothing is predicted
	}
	var off []float64
	for i, p := range pairs {
		if i == first || !(p.Predicted <= Contender*pairs[first].Predicted) || !(pairs[first].Predicted > 0) {
			continue
		}
		measured, predicted := p.Measured/pairs[first].Measured, p.Predicted/pairs[first].Predicted
		off = append(off, math.Expm1(math.Abs(math.Log(measured/predicted))))
	}
	return off
}

// Regret is regret@k: the best measured time among the k configurations
// predicted fastest over the best measured time. Equal predictions count in
// enumeration order. It is 1 at best, NaN for no pairs.
func Regret(pairs []Pair, k int) float64 {
	if len(pairs) == 0 {
		return math.NaN()
	}
	order := make([]int, len(pairs))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return pairs[order[a]].Predicted < pairs[order[b]].Predicted })
	best, picked := math.Inf(1), math.Inf(1)
	for rank, i := range order {
		best = min(best, pairs[i].Measured)
		if rank < k {
			picked = min(picked, pairs[i].Measured)
		}
	}
	return picked / best
}

// Spearman is the rank correlation of predicted and measured times, ties given
// their mean rank. It is 0 when either side is constant.
func Spearman(pairs []Pair) float64 {
	x, y := make([]float64, len(pairs)), make([]float64, len(pairs))
	for i, p := range pairs {
		x[i], y[i] = p.Measured, p.Predicted
	}
	return pearson(ranks(x), ranks(y))
}

// ranks replaces values by their 1-based ranks, ties by the mean rank.
func ranks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return v[order[a]] < v[order[b]] })
	out := make([]float64, len(v))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && v[order[j]] == v[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			out[order[k]] = float64(i+j+1) / 2
		}
		i = j
	}
	return out
}

func pearson(x, y []float64) float64 {
	n := float64(len(x))
	if n == 0 {
		return 0
	}
	var mx, my float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}
