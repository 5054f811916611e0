package explain

import (
	"fmt"

	"github.com/warptune/warptune/cmd/internal/explain"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/simengine"
)

// printExplained writes what is to be said of configurations, and how those after the first differ from it.
func (x *explanation) printExplained(cases []explainedCase) error {
	for i := range cases {
		c := &cases[i]
		if i > 0 {
			fmt.Fprintln(x.Stdout)
		}
		fmt.Fprintf(x.Stdout, "%s %s", x.def.Name, cli.PlainText(c.Config.String()))
		if x.from != "" {
			fmt.Fprintf(x.Stdout, " (%s)", x.from)
		}
		fmt.Fprintf(x.Stdout, "\n%s.\n%s\n%s\n", c.Explained.Headline, c.Explained.Timing, c.Explained.Certainty)
		for _, r := range c.Explained.Rates {
			fmt.Fprintf(x.Stdout, "  %s\n", r.Text())
		}
		if len(c.Explained.Findings) == 0 {
			fmt.Fprintln(x.Stdout, "No mechanism by itself costs 2 % or more.")
		}
		for n := range c.Explained.Findings {
			fmt.Fprintf(x.Stdout, "%d. %s\n", n+1, cli.PlainText(c.Explained.Findings[n].Sentence()))
		}
		fmt.Fprintln(x.Stdout, "Details")
		if c.raised != "" {
			fmt.Fprintf(x.Stdout, "  register %s\n", c.raised)
		}
		if err := printReport(x.App, c.Report, c.Outcome.Compiler); err != nil {
			return err
		}
	}
	for i := 1; i < len(cases); i++ {
		fmt.Fprintf(x.Stdout, "\nFrom %s to %s\n", cli.PlainText(cases[0].text), cli.PlainText(cases[i].text))
		for _, s := range explain.Compare(&cases[0].Subject, &cases[i].Subject).Sentences {
			fmt.Fprintf(x.Stdout, "  %s\n", s)
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
	return x.PrintJSON(explain.NewDocument(x.def.Name, x.arch.Name, x.batch.Level.String(), x.from, all))
}

// printReport writes one report: what holds the SM, how near units come to their peaks, and where the issue slots went.
func printReport(a *cli.App, r *simengine.Report, compiler string) error {
	t := cli.NewTable(a.Stdout, "  predicted", fmt.Sprintf("for %s by simulator %s, level %s; PTX from %s", r.Arch, r.Engine, levelWords(r.Level), compiler))
	if r.SampledInstructions > 0 {
		t.Row("  sampling", fmt.Sprintf("%d CTAs with %d warp instructions were simulated; estimated error %.1f %%", r.SampledCTAs, r.SampledInstructions, 100*r.ErrorShare))
	}
	t.Row("  checked", message.CheckedText(message.ReportChecked(&r.Checked)))
	t.Row("  occupancy", occupancyText(r))
	t.Row("  registers", fmt.Sprintf("%d a thread, %d bytes spilled", r.Registers, r.SpillBytes))
	for i, v := range r.LocalArrays {
		t.Row(label("  local memory", i), localText(&v))
	}
	t.Row("  shared", fmt.Sprintf("%s a CTA; carve-out %s leaves %s of L1 on each SM", cli.BytesText(float64(r.SharedStatic+r.SharedDynamic)), cli.BytesText(float64(r.CarveOut)), cli.BytesText(float64(r.L1Bytes))))
	t.Row("  DRAM", fmt.Sprintf("%s read, %s written", explain.Bytes(r.Metrics["dram__bytes_read.sum"]), explain.Bytes(r.Metrics["dram__bytes_write.sum"])))
	printShares(t, "  share of peak", r.Use, explain.UnitWords)
	if len(r.Slots) > 0 {
		t.Row("  issue slots", "of the schedulers' cycles; findings say shares of what all warps wait")
	}
	printShares(t, "", r.Slots, explain.SlotWords)
	for i, name := range r.NotModelled {
		t.Row(label("  not modelled", i), name)
	}
	return t.Flush()
}

// levelWords is a level of the simulator, and what that is.
func levelWords(level string) string {
	switch level {
	case simengine.Cycle.String():
		return level + " (SMs are simulated cycle by cycle)"
	case simengine.Model.String():
		return level + " (closed form)"
	}
	return level
}

// occupancyText is the warps that fit an SM, and those that were there.
func occupancyText(r *simengine.Report) string {
	text := fmt.Sprintf("%.0f %%, %d CTAs on an SM, limited by %s", 100*r.Occupancy, r.CTAsPerSM, explain.LimiterWords(r.Limiter))
	if v, ok := r.Metrics["sm__warps_active.avg.pct_of_peak_sustained_active"]; ok {
		text += fmt.Sprintf("; %.0f %% in the mean", v)
	}
	return text + fmt.Sprintf("; %.2f waves", r.Waves)
}

// localText says why a variable of a thread's own is in memory.
func localText(v *simengine.LocalArray) string {
	text := fmt.Sprintf("%d bytes a thread, which are no spilled registers: the array %s of the PTX ", v.Bytes, v.Name)
	if v.Line > 0 {
		return text + fmt.Sprintf("is indexed at run time (PTX line %d)", v.Line)
	}
	return text + "is accessed in parts of words, or by an address that is kept"
}

// printShares writes the shares that show at a tenth of a percent.
func printShares(t *cli.Table, text string, shares []simengine.Share, words func(string) string) {
	const least = 0.0005
	for i, s := range shares {
		if s.Value >= least {
			t.Row(label(text, i), fmt.Sprintf("%5.1f %% %s", 100*s.Value, words(s.Name)))
		}
	}
}

func label(text string, i int) string {
	if i > 0 {
		return ""
	}
	return text
}
