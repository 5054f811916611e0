package score

import (
	"math"
	"sort"
)

// RankSpread is the spread from which a group's rank correlation counts: below
// it the order is mostly noise.
const RankSpread = 1.1

// Summary is the scores over all groups.
type Summary struct {
	Groups          int     `json:"groups"`
	Configs         int     `json:"configs"`
	Failed          int     `json:"failed"`
	Regret1Geomean  float64 `json:"regret_1_geomean"`
	Regret1Worst    float64 `json:"regret_1_worst"`
	Regret3Worst    float64 `json:"regret_3_worst"`
	Regret10Geomean float64 `json:"regret_10_geomean"`
	Regret10Worst   float64 `json:"regret_10_worst"`
	// SpearmanMedian and SpearmanWorst are over groups whose slowest
	// configuration is over RankSpread times the fastest.
	SpearmanMedian float64 `json:"spearman_median"`
	SpearmanWorst  float64 `json:"spearman_worst"`
	// MAPE is over all configurations, MAPEWorst the worst group's.
	MAPE      float64 `json:"mape"`
	MAPEWorst float64 `json:"mape_worst"`
	// Contest is by what share the ratio of two times at the top of a table is off
	// (see Contest): the median over groups of each one's median. ContestConfigs is
	// how many configurations it is of.
	Contest        float64 `json:"contest"`
	ContestConfigs int     `json:"contest_configs"`
}

// Summarise combines the scores of groups.
func Summarise(groups []Group) Summary {
	s := Summary{Groups: len(groups), SpearmanWorst: math.Inf(1)}
	var l1, l10 float64
	var rho, contests []float64
	for _, g := range groups {
		s.Configs += g.Configs
		s.Failed += g.Failed
		s.MAPE += g.MAPE * float64(g.Configs)
		s.MAPEWorst = max(s.MAPEWorst, g.MAPE)
		l1 += math.Log(g.Regret1)
		l10 += math.Log(g.Regret10)
		s.Regret1Worst = max(s.Regret1Worst, g.Regret1)
		s.Regret3Worst = max(s.Regret3Worst, g.Regret3)
		s.Regret10Worst = max(s.Regret10Worst, g.Regret10)
		if len(g.Contest) > 0 {
			contests = append(contests, Quantile(g.Contest, 0.5))
			s.ContestConfigs += len(g.Contest)
		}
		if g.Spread > RankSpread {
			rho = append(rho, g.Spearman)
		}
	}
	if len(groups) > 0 {
		s.Regret1Geomean = math.Exp(l1 / float64(len(groups)))
		s.Regret10Geomean = math.Exp(l10 / float64(len(groups)))
		s.MAPE /= float64(s.Configs)
	}
	sort.Float64s(contests)
	s.Contest = Quantile(contests, 0.5)
	sort.Float64s(rho)
	s.SpearmanMedian = Quantile(rho, 0.5)
	s.SpearmanWorst = Quantile(rho, 0)
	return s
}

// Quantile is the q-quantile of ascending values, interpolated; 0 for none.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// Share counts how often something agreed.
type Share struct {
	Agree int `json:"agree"`
	Of    int `json:"of"`
}

// Add counts one comparison.
func (s *Share) Add(agree bool) {
	s.Of++
	if agree {
		s.Agree++
	}
}

// Value is the share that agreed, 0 to 1; NaN-free: 0 of 0 is 0.
func (s Share) Value() float64 {
	if s.Of == 0 {
		return 0
	}
	return float64(s.Agree) / float64(s.Of)
}
