package page

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/score"
)

// compared is a sweep's valid configurations by name.
type compared struct {
	state tuner.Sweep
	at    map[string]timed
	best  float64
}

type timed struct {
	trial  int64
	timeUS float64
	config search.Config
}

// comparison compares sweeps of one kernel.
func (h *handler) comparison(ctx context.Context, ids []string) (*Comparison, error) {
	c := &Comparison{Schema: ComparisonSchema, Pairs: []ComparedPair{}}
	var all []compared
	for _, id := range ids {
		w, d, err := h.whole(ctx, id)
		if err != nil {
			return nil, err
		}
		s := w.last
		all = append(all, compared{s, w.rows.byConfig(s.Spec.LastLevel()), math.Inf(1)})
		w.mu.Unlock()
		one := ComparedSweep{Sweep: s.ID, Kernel: s.Spec.Kernel, Arch: d.Name, Title: d.Title, Problem: s.Spec.Problem, State: s.State.String(), Caution: d.Caution}
		if s.Best != nil {
			one.Best = bestOf(&s)
		}
		c.Sweeps = append(c.Sweeps, one)
		if s.Spec.Kernel != all[0].state.Spec.Kernel {
			return nil, tuner.Errorf(tuner.Invalid, "compare", "sweep %s is of %s, and %s of %s: only sweeps of one kernel compare", ids[0], all[0].state.Spec.Kernel, id, s.Spec.Kernel)
		}
	}
	for i := range all {
		for _, m := range all[i].at {
			all[i].best = min(all[i].best, m.timeUS)
		}
	}
	for i := range all {
		for j := range all {
			if i != j {
				c.Pairs = append(c.Pairs, pair(&all[i], &all[j]))
			}
		}
	}
	c.common(all)
	return c, nil
}

// byConfig is the valid rows of a level by their configuration, whatever the order of its parameters.
func (t *rows) byConfig(level string) map[string]timed {
	out := make(map[string]timed, t.len())
	for row := range t.len() {
		if t.valid[row] && (t.level[row] == level || t.level[row] == "") {
			config := t.config(row)
			parts := make([]string, len(config.Names))
			for i, name := range config.Names {
				parts[i] = name + "=" + config.Values[i].Text()
			}
			slices.Sort(parts)
			out[strings.Join(parts, ",")] = timed{t.trialOf(row), t.time[row], config}
		}
	}
	return out
}

// pair is how the best of x fares in y.
func pair(x, y *compared) ComparedPair {
	p := ComparedPair{BestOf: x.state.ID, On: y.state.ID}
	var times []score.Pair
	keys := make([]string, 0, len(x.at))
	for key := range x.at {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		m := x.at[key]
		n, ok := y.at[key]
		if !ok {
			continue
		}
		times = append(times, score.Pair{Predicted: m.timeUS, Measured: n.timeUS})
		if x.state.Best != nil && m.trial == x.state.Best.Seq {
			over := n.timeUS / y.best
			p.Trial, p.TimeUS, p.OverBest = &n.trial, &n.timeUS, &over
		}
	}
	if p.Common = len(times); p.Common >= 3 {
		p.RankCorrelation = known(score.Spearman(times))
	}
	return p
}

// common finds the configuration whose worst loss is the least of those that are valid in all.
func (c *Comparison) common(all []compared) {
	if len(all) == 0 {
		return
	}
	best := math.Inf(1)
	bestKey := ""
	for key, m := range all[0].at {
		losses := make([]float64, len(all))
		worst, everywhere := 0.0, true
		for i := range all {
			n, ok := all[i].at[key]
			everywhere = everywhere && ok
			losses[i] = n.timeUS / all[i].best
			worst = max(worst, losses[i])
		}
		if !everywhere {
			continue
		}
		c.Common++
		if worst < best || worst == best && key < bestKey {
			best, bestKey = worst, key
			c.Best = &CommonCandidate{Parameters: m.config, OverBest: losses, WorstOverBest: worst}
		}
	}
}
