package fidelity

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/score"
)

// Print writes the comparison as Markdown tables, which read well on a
// terminal too.
func Print(w io.Writer, r *Result) error {
	fmt.Fprintf(w, "%s, level %s, simulator %s: %d configurations in %d groups\n\n", r.Arch, r.Level, r.Engine, r.Summary.Configs, r.Summary.Groups)
	if len(r.Groups) > 0 {
		printGroups(w, r.Groups)
		printSummary(w, &r.Summary)
	}
	printBuild(w, &r.Build)
	printCounters(w, r.Counters)
	printCounterGroups(w, r.CounterGroups)
	if r.TopStall.Of > 0 {
		fmt.Fprintf(w, "top stall reason agrees: %.0f %% of %d, %.0f %% within a tenth\n\n", 100*r.TopStall.Value(), r.TopStall.Of, 100*r.NearStall.Value())
	}
	if b := &r.Bounds; b.Nearest.Of > 0 {
		fmt.Fprintf(w, "unit nearest its peak agrees: %.1f %% of %d, %.1f %% within a tenth; what binds, a unit from %.0f %% of its peak on or latency: %.1f %%; highest predicted rate %.1f %% of its peak\n\n",
			100*b.Nearest.Value(), b.Nearest.Of, 100*b.Near.Value(), 100*timing.BoundFrom, 100*b.Bound.Value(), 100*b.MostRate)
	}
	printFailures(w, r.Failures)
	_, err := fmt.Fprintf(w, "cost of a configuration: median %.2f ms, 99th percentile %.2f ms, worst %.2f ms\n", r.Cost.MedianMS, r.Cost.P99MS, r.Cost.MaxMS)
	return err
}

func printGroups(w io.Writer, groups []score.Group) {
	t := markdown{{"group", "configs", "spread", "regret@1", "@3", "@10", "Spearman", "MAPE", "bias", "failed"}}
	for _, g := range groups {
		t = append(t, []string{
			g.Name, fmt.Sprint(g.Configs), fmt.Sprintf("%.2f", g.Spread), fmt.Sprintf("%.3f", g.Regret1), fmt.Sprintf("%.3f", g.Regret3),
			fmt.Sprintf("%.3f", g.Regret10), fmt.Sprintf("%.3f", g.Spearman), fmt.Sprintf("%.1f %%", 100*g.MAPE), fmt.Sprintf("%.2f", g.Bias), fmt.Sprint(g.Failed),
		})
	}
	t.print(w)
}

func printSummary(w io.Writer, s *score.Summary) {
	fmt.Fprintf(w, "regret@1: geometric mean %.3f, worst group %.3f; regret@10: %.3f, %.3f\n", s.Regret1Geomean, s.Regret1Worst, s.Regret10Geomean, s.Regret10Worst)
	fmt.Fprintf(w, "Spearman over groups with spread above %.1f: median %.3f, worst %.3f\n", score.RankSpread, s.SpearmanMedian, s.SpearmanWorst)
	if s.ContestConfigs > 0 {
		fmt.Fprintf(w, "at the top: ratios of times off by %.1f %%, median of groups, over %d configurations predicted within %.0f %% of the fastest\n",
			100*s.Contest, s.ContestConfigs, 100*(score.Contender-1))
	}
	fmt.Fprintf(w, "MAPE: %.1f %% over all configurations, worst group %.1f %%; %d configurations without a prediction\n", 100*s.MAPE, 100*s.MAPEWorst, s.Failed)
}

func printBuild(w io.Writer, b *Build) {
	if b.RegistersExact.Of == 0 {
		return
	}
	fmt.Fprintf(w, "registers: %.1f %% exact, %.1f %% within 10 %% of %d; spill or no spill agrees %.1f %%; occupancy limiter agrees %.1f %% of %d\n",
		100*b.RegistersExact.Value(), 100*b.RegistersWithin10.Value(), b.RegistersExact.Of, 100*b.Spill.Value(), 100*b.Limiter.Value(), b.Limiter.Of)
}

func printCounters(w io.Writer, counters []Counter) {
	if len(counters) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := markdown{{"counter", "configs", "tolerance", "within", "median error", "worst"}}
	for _, c := range counters {
		unit, scale := "%", 100.0
		if c.Points {
			unit, scale = "points", 1
		}
		t = append(t, []string{
			c.Name, fmt.Sprint(c.Configs), fmt.Sprintf("%.0f %s", c.Tolerance*scale, unit), fmt.Sprintf("%.0f %%", 100*c.Within.Value()),
			fmt.Sprintf("%.1f", c.MedianError*scale), fmt.Sprintf("%.1f", c.WorstError*scale),
		})
	}
	t.print(w)
}

// mostText bounds a message that is printed, in bytes; --json has all of it.
const mostText = 400

func printFailures(w io.Writer, fs []Failure) {
	const most = 10
	for i, f := range fs {
		if i == most {
			fmt.Fprintf(w, "… and %d other messages\n", len(fs)-most)
			break
		}
		fmt.Fprintf(w, "%d x %s: %s (line %d)\n", f.Count, f.Validity, tuner.Clip(f.Message, mostText), f.Line)
	}
}

// markdown is a table, header first: names on the left, numbers on the right.
type markdown [][]string

func (t markdown) print(w io.Writer) {
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for r, row := range t {
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				cell, pad = pad+cell, ""
			}
			fmt.Fprintf(w, "| %s%s ", cell, pad)
		}
		fmt.Fprintln(w, "|")
		if r > 0 {
			continue
		}
		for i, width := range widths {
			right := ":"
			if i == 0 {
				right = "-"
			}
			fmt.Fprintf(w, "|%s%s", strings.Repeat("-", width+1), right)
		}
		fmt.Fprintln(w, "|")
	}
	fmt.Fprintln(w)
}
