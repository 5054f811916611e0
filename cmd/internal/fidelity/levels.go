package fidelity

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/halving"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/record"
	"github.com/warptune/warptune/tuner/score"
)

// Levels is what ranking with one level and evaluating with another comes to,
// against evaluating everything, in each group of competing configurations.
type Levels struct {
	Arch   string        `json:"arch"`
	Engine string        `json:"engine"`
	Groups []LevelsGroup `json:"groups"`
	Total  LevelsGroup   `json:"total"` // regrets: geometric means; shares: of all
}

// LevelsGroup is one group.
type LevelsGroup struct {
	Name    string  `json:"group"`
	Configs int     `json:"configs"`
	Regret1 float64 `json:"regret_1"` // with everything evaluated at the last level
	FullMS  float64 `json:"full_ms"`  // processor time of that, milliseconds a configuration
	Ways    []Way   `json:"ways"`     // as in Goals
}

// Way is one goal pursued in a group.
type Way struct {
	Evaluated int     `json:"evaluated"` // configurations at the last level
	Cost      float64 `json:"cost"`      // of both levels, over that of evaluating everything
	Regret1   float64 `json:"regret_1"`
	Best      float64 `json:"best"` // predicted time of what was found over that of the predicted best
	Gap       float64 `json:"gap"`  // what is proven of Best; -1: nothing
}

// Goals are the goals that CompareLevels pursues.
var Goals = []struct {
	Name string
	halving.Goal
}{
	{"default", halving.Goal{Within: -1}},
	{"within 5 %", halving.Goal{Within: 0.05}},
	{"proven best", halving.Goal{}},
}

// member is a configuration of a group at both levels.
type member struct {
	measured   float64
	low, high  *tuner.Outcome
	lowC, cost time.Duration // of ranking, of evaluating
}

// CompareLevels judges the results of two levels against the records.
func CompareLevels(records []record.Record, low, high []evaluate.Result) Levels {
	groups := map[string][]member{}
	var order []string
	for i := range records {
		if records[i].TimeUS == nil {
			continue
		}
		key := records[i].GroupKey()
		if _, ok := groups[key]; !ok {
			order = append(order, key)
		}
		groups[key] = append(groups[key], member{records[i].TimeUS.Median, &low[i].Outcome, &high[i].Outcome, low[i].Processor, high[i].Processor})
	}
	var out Levels
	var full, spent float64
	ways := make([]float64, len(Goals))
	total := LevelsGroup{Name: "all", Ways: make([]Way, len(Goals))}
	for _, key := range order {
		g, ms := judge(key, groups[key])
		out.Groups = append(out.Groups, g)
		full += ms
		spent += float64(g.Configs)
		total.Configs += g.Configs
		total.Regret1 += math.Log(g.Regret1)
		for k, w := range g.Ways {
			t := &total.Ways[k]
			t.Evaluated += w.Evaluated
			t.Regret1 += math.Log(w.Regret1)
			t.Best += math.Log(w.Best)
			t.Gap = max(t.Gap, w.Gap)
			ways[k] += w.Cost * ms
		}
	}
	n := math.Max(float64(len(order)), 1)
	total.Regret1, total.FullMS = math.Exp(total.Regret1/n), full/math.Max(spent, 1)
	for k := range total.Ways {
		t := &total.Ways[k]
		t.Regret1, t.Best, t.Cost = math.Exp(t.Regret1/n), math.Exp(t.Best/n), ways[k]/math.Max(full, 1e-9)
	}
	out.Total = total
	return out
}

// judge judges a group, and returns what evaluating all of it costs in
// milliseconds.
func judge(name string, members []member) (LevelsGroup, float64) {
	g := LevelsGroup{Name: name, Configs: len(members)}
	var pairs []score.Pair
	full, least := 0.0, math.Inf(1)
	for i := range members {
		m := &members[i]
		pairs = append(pairs, score.Pair{Measured: m.measured, Predicted: predicted(m.high)})
		full += milliseconds(m.cost)
		least = math.Min(least, predicted(m.high))
	}
	g.Regret1, g.FullMS = score.Regret(pairs, 1), full/float64(len(members))
	for _, goal := range Goals {
		w := pursue(members, pairs, goal.Goal, full)
		w.Best /= least
		g.Ways = append(g.Ways, w)
	}
	return g, full
}

func predicted(o *tuner.Outcome) float64 {
	if o.Validity != tuner.Correct {
		return math.Inf(1)
	}
	return o.TimeUS
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// pursue evaluates a group's configurations as a sweep would, as many at a
// time as it has under way at most.
func pursue(members []member, pairs []score.Pair, goal halving.Goal, full float64) Way {
	var candidates []halving.Candidate
	cost := 0.0
	for i := range members {
		m := &members[i]
		cost += milliseconds(m.lowC)
		if m.low.Validity == tuner.Correct {
			candidates = append(candidates, halving.Candidate{Index: int64(i), Time: m.low.TimeUS, Floor: m.low.FloorUS})
		}
	}
	s, ledger := halving.New(candidates, goal), halving.NewLedger(candidates)
	w := Way{Best: math.Inf(1), Regret1: math.NaN()}
	best, fastest := -1, math.Inf(1)
	for {
		asked := s.Ask(halving.Ahead(len(candidates)))
		if len(asked) == 0 {
			break
		}
		for _, i := range asked {
			m, t := &members[i], pairs[i].Predicted
			cost += milliseconds(m.cost)
			w.Evaluated++
			ledger.Answer(i)
			if t < w.Best || t == w.Best && int(i) < best {
				w.Best, best = t, int(i)
				ledger.Best(t)
			}
			s.Tell(search.Observation{Index: i, Objective: t, Valid: !math.IsInf(t, 1)})
		}
	}
	for _, p := range pairs {
		fastest = min(fastest, p.Measured)
	}
	if best >= 0 {
		w.Regret1 = pairs[best].Measured / fastest
	}
	w.Cost, w.Gap = cost/math.Max(full, 1e-9), ledger.Standing().Gap
	return w
}

// PrintLevels writes the comparison as a Markdown table.
func PrintLevels(w io.Writer, l *Levels) error {
	fmt.Fprintf(w, "%s, simulator %s: ranked at level model, evaluated at level cycle\n\n", l.Arch, l.Engine)
	header := []string{"group", "configs", "ms each", "regret@1"}
	for _, g := range Goals {
		header = append(header, g.Name+": cycle", "cost", "regret@1", "gap")
	}
	t := markdown{header}
	for _, g := range append(slices.Clone(l.Groups), l.Total) {
		row := []string{g.Name, fmt.Sprint(g.Configs), fmt.Sprintf("%.1f", g.FullMS), fmt.Sprintf("%.3f", g.Regret1)}
		for _, way := range g.Ways {
			gap := cmp.Or(map[bool]string{way.Gap < 0: "?", way.Gap == 0: "0"}[true], fmt.Sprintf("%.1f %%", 100*way.Gap))
			row = append(row, fmt.Sprint(way.Evaluated), fmt.Sprintf("%.0f %%", 100*way.Cost), fmt.Sprintf("%.3f", way.Regret1), gap)
		}
		t = append(t, row)
	}
	t.print(w)
	_, err := fmt.Fprintf(w, "cost: processor time of both levels, over that of evaluating every configuration at level cycle; gap: how much faster than what was\n"+
		"found any configuration is proven not to be by more than, at level cycle; last row: geometric means, and the widest gap\n")
	return err
}
