package main

import (
	"fmt"
	"math"
	"sort"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/tuner/plot"
)

// printReport writes one report: time and bound, what holds the SM, what is
// busy, and where the issue slots went.
func (a *app) printReport(r *simengine.Report, compiler string) error {
	t := newTable(a.stdout, "  time", plot.Microseconds(r.TimeUS)+fmt.Sprintf(" on %s, bound by %s (level %s, simulator %s)", r.Arch, r.Bound, r.Level, r.Engine))
	if r.ErrorShare > 0 {
		t.row("  sampling", fmt.Sprintf("%d CTAs, %d warp instructions; estimated error %.1f %%", r.SampledCTAs, r.SampledInstructions, 100*r.ErrorShare))
	}
	t.row("  checked", checkedText(reportChecked(&r.Checked)))
	t.row("  PTX from", compiler)
	t.row("  occupancy", fmt.Sprintf("%.0f %%, %d CTAs per SM, limited by %s; %.2f waves", 100*r.Occupancy, r.CTAsPerSM, r.Limiter, r.Waves))
	t.row("  registers", fmt.Sprintf("%d per thread, %d bytes spilled", r.Registers, r.SpillBytes))
	t.row("  shared", fmt.Sprintf("%s per CTA; carve-out %s leaves %s of L1", bytesText(float64(r.SharedStatic+r.SharedDynamic)), bytesText(float64(r.CarveOut)), bytesText(float64(r.L1Bytes))))
	printShares(t, "  busy", r.Use)
	printShares(t, "  issue slots", r.Slots)
	for i, name := range r.NotModelled {
		t.row(label("  not modelled", i), name)
	}
	return t.flush()
}

// printShares writes the shares that show at a tenth of a percent.
func printShares(t *table, text string, shares []simengine.Share) {
	const least = 0.0005
	for i, s := range shares {
		if s.Value >= least {
			t.row(label(text, i), fmt.Sprintf("%5.1f %% %s", 100*s.Value, s.Name))
		}
	}
}

func label(text string, i int) string {
	if i > 0 {
		return ""
	}
	return text
}

// printDifference writes the counters in which two configurations differ most.
func (a *app) printDifference(x, y *simengine.Report) error {
	const most = 12
	type difference struct {
		name  string
		ratio float64
	}
	var diffs []difference
	for name, v := range x.Metrics {
		w, ok := y.Metrics[name]
		if !ok || v == w {
			continue
		}
		diffs = append(diffs, difference{name, math.Abs(math.Log((w + 1) / (v + 1)))})
	}
	sort.Slice(diffs, func(i, j int) bool {
		if diffs[i].ratio != diffs[j].ratio {
			return diffs[i].ratio > diffs[j].ratio
		}
		return diffs[i].name < diffs[j].name
	})
	fmt.Fprintf(a.stdout, "\nthe second takes %.3f times the first's time; the counters that differ most:\n", y.TimeUS/x.TimeUS)
	t := newTable(a.stdout, "  counter", "first", "second")
	for _, d := range diffs[:min(most, len(diffs))] {
		t.row("  "+d.name, fmt.Sprintf("%.6g", x.Metrics[d.name]), fmt.Sprintf("%.6g", y.Metrics[d.name]))
	}
	return t.flush()
}
