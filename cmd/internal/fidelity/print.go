package fidelity

import (
	"fmt"
	"io"
	"text/tabwriter"

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
	printFailures(w, r.Failures)
	_, err := fmt.Fprintf(w, "cost of a configuration: median %.2f ms, 99th percentile %.2f ms, worst %.2f ms\n", r.Cost.MedianMS, r.Cost.P99MS, r.Cost.MaxMS)
	return err
}

func printGroups(w io.Writer, groups []score.Group) {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', tabwriter.AlignRight|tabwriter.Debug)
	fmt.Fprintln(t, "| group\tconfigs\tspread\tregret@1\t@3\t@10\tSpearman\tMAPE\tbias\tfailed\t")
	fmt.Fprintln(t, "|--\t--:\t--:\t--:\t--:\t--:\t--:\t--:\t--:\t--:\t")
	for _, g := range groups {
		fmt.Fprintf(t, "| %s\t%d\t%.2f\t%.3f\t%.3f\t%.3f\t%.3f\t%.1f %%\t%.2f\t%d\t\n",
			g.Name, g.Configs, g.Spread, g.Regret1, g.Regret3, g.Regret10, g.Spearman, 100*g.MAPE, g.Bias, g.Failed)
	}
	t.Flush()
	fmt.Fprintln(w)
}

func printSummary(w io.Writer, s *score.Summary) {
	fmt.Fprintf(w, "regret@1: geometric mean %.3f, worst group %.3f; regret@10: %.3f, %.3f\n", s.Regret1Geomean, s.Regret1Worst, s.Regret10Geomean, s.Regret10Worst)
	fmt.Fprintf(w, "Spearman over groups with spread above %.1f: median %.3f, worst %.3f\n", score.RankSpread, s.SpearmanMedian, s.SpearmanWorst)
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
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', tabwriter.Debug)
	fmt.Fprintln(t, "| counter\tconfigs\ttolerance\twithin\tmedian error\tworst\t")
	fmt.Fprintln(t, "|--\t--:\t--:\t--:\t--:\t--:\t")
	for _, c := range counters {
		unit, scale := "%", 100.0
		if c.Points {
			unit, scale = "points", 1
		}
		fmt.Fprintf(t, "| %s\t%d\t%.0f %s\t%.0f %%\t%.1f\t%.1f\t\n", c.Name, c.Configs, c.Tolerance*scale, unit, 100*c.Within.Value(), c.MedianError*scale, c.WorstError*scale)
	}
	t.Flush()
	fmt.Fprintln(w)
}

func printFailures(w io.Writer, fs []Failure) {
	const most = 10
	for i, f := range fs {
		if i == most {
			fmt.Fprintf(w, "… and %d other messages\n", len(fs)-most)
			break
		}
		fmt.Fprintf(w, "%d x %s: %s (line %d)\n", f.Count, f.Validity, f.Message, f.Line)
	}
}
