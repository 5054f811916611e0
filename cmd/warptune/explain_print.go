package main

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/tuner/plot"
)

// printReport writes one report: time and bound, what holds the SM, how near units come to their peaks, and
// where the issue slots went.
func (a *app) printReport(r *simengine.Report, d *arch.Descriptor, compiler string) error {
	t := newTable(a.stdout, "  time", plot.Microseconds(r.TimeUS)+fmt.Sprintf(" on %s (level %s, simulator %s)", r.Arch, r.Level, r.Engine))
	t.row("", fmt.Sprintf("from start to start of launches that find caches as the last one left them: %s on the GPU (gpu__time_duration), %s between", plot.Microseconds(r.TimeUS-d.LaunchGapUS), plot.Microseconds(d.LaunchGapUS)))
	t.row("  bound by", boundText(r))
	if r.ErrorShare > 0 {
		t.row("  sampling", fmt.Sprintf("%d CTAs, %d warp instructions; estimated error %.1f %%", r.SampledCTAs, r.SampledInstructions, 100*r.ErrorShare))
	}
	t.row("  checked", checkedText(reportChecked(&r.Checked)))
	t.row("  PTX from", compiler)
	t.row("  occupancy", fmt.Sprintf("%.0f %%, %d CTAs per SM, limited by %s; %.2f waves", 100*r.Occupancy, r.CTAsPerSM, r.Limiter, r.Waves))
	t.row("  registers", fmt.Sprintf("%d per thread, %d bytes spilled", r.Registers, r.SpillBytes))
	for i, v := range r.LocalArrays {
		t.row(label("  local memory", i), localText(&v))
	}
	t.row("  shared", fmt.Sprintf("%s per CTA; carve-out %s leaves %s of L1", bytesText(float64(r.SharedStatic+r.SharedDynamic)), bytesText(float64(r.CarveOut)), bytesText(float64(r.L1Bytes))))
	printRates(t, r, d)
	printShares(t, "  of its peak", r.Use)
	printShares(t, "  issue slots", r.Slots)
	for i, name := range r.NotModelled {
		t.row(label("  not modelled", i), name)
	}
	return t.flush()
}

// boundText says what bounds a launch, and how near the nearest unit is to its peak; where others come as near, them
// too.
func boundText(r *simengine.Report) string {
	units := r.NearestUnits()
	parts := make([]string, len(units))
	for i, u := range units {
		parts[i] = fmt.Sprintf("%s, at %.0f %%", u.Name, 100*u.Value)
	}
	near := strings.Join(parts, ", ") + " of its peak"
	if len(units) > 1 {
		near = strings.Join(parts, "; ") + " of their peaks: either"
	}
	if r.Bound == r.Nearest {
		return near
	}
	return fmt.Sprintf("%s: no unit comes to %.0f %% of its peak; nearest is %s", r.BoundText(), 100*timing.BoundFrom, near)
}

// localText says why a variable of a thread's own is in memory.
func localText(v *simengine.LocalArray) string {
	text := fmt.Sprintf("%d bytes a thread that are no spills: %s ", v.Bytes, v.Name)
	if v.Line > 0 {
		return text + fmt.Sprintf("is indexed at run time (PTX line %d)", v.Line)
	}
	return text + "is accessed in parts of words, or by an address that is kept"
}

// printRates writes what DRAM and L2 move in the time on the GPU.
func printRates(t *table, r *simengine.Report, d *arch.Descriptor) {
	m := r.Metrics
	us := r.TimeUS - d.LaunchGapUS
	if us <= 0 {
		return
	}
	rate := func(bytes float64) string { return fmt.Sprintf("%.3g TB/s", bytes/us/1e6) }
	read, written := m["dram__bytes_read.sum"], m["dram__bytes_write.sum"]
	t.row("  DRAM", fmt.Sprintf("%s, %s read and %s written; peak %.3g TB/s", rate(read+written), bytesText(read), bytesText(written), d.DRAMBytesPerSecond/1e12))
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
	fmt.Fprintf(a.stdout, "\nthe second takes %.3f times the first's time; the counters of such launches that differ most:\n", y.TimeUS/x.TimeUS)
	t := newTable(a.stdout, "  counter", "first", "second")
	for _, d := range diffs[:min(most, len(diffs))] {
		t.row("  "+d.name, fmt.Sprintf("%.6g", x.Metrics[d.name]), fmt.Sprintf("%.6g", y.Metrics[d.name]))
	}
	return t.flush()
}
