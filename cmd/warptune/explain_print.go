package main

import (
	"fmt"
	"strings"

	"github.com/warptune/warptune/cmd/internal/explain"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/tuner/plot"
)

// printExplained writes what is to be said of configurations, and how those after the first differ from it.
func (x *explanation) printExplained(cases []explainedCase) error {
	for i := range cases {
		c := &cases[i]
		if i > 0 {
			fmt.Fprintln(x.stdout)
		}
		fmt.Fprintf(x.stdout, "%s %s", x.def.Name, plainText(c.text))
		if x.from != "" {
			fmt.Fprintf(x.stdout, " (%s)", x.from)
		}
		fmt.Fprintf(x.stdout, "\n%s.\n%s\n", c.Explained.Headline, c.Explained.Timing)
		for _, r := range c.Explained.Rates {
			fmt.Fprintf(x.stdout, "  %s\n", r.Text())
		}
		if len(c.Explained.Findings) == 0 {
			fmt.Fprintln(x.stdout, "No mechanism by itself costs 2 % or more.")
		}
		for n := range c.Explained.Findings {
			fmt.Fprintf(x.stdout, "%d. %s\n", n+1, plainText(c.Explained.Findings[n].Sentence()))
		}
		fmt.Fprintln(x.stdout, "Details")
		if c.raised != "" {
			fmt.Fprintf(x.stdout, "  register %s\n", c.raised)
		}
		if err := x.printReport(c.Report, x.arch, c.Outcome.Compiler); err != nil {
			return err
		}
	}
	for i := 1; i < len(cases); i++ {
		fmt.Fprintf(x.stdout, "\nFrom %s to %s\n", plainText(cases[0].text), plainText(cases[i].text))
		for _, s := range explain.Compare(&cases[0].Subject, &cases[i].Subject).Sentences {
			fmt.Fprintf(x.stdout, "  %s\n", s)
		}
	}
	return nil
}

// printExplainedJSON prints one document.
func (x *explanation) printExplainedJSON(cases []explainedCase) error {
	all := make([]explain.Case, len(cases))
	for i := range cases {
		all[i] = cases[i].Case
	}
	return x.printJSON(explain.NewDocument(x.def.Name, x.arch.Name, x.batch.Level.String(), x.from, all))
}

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
