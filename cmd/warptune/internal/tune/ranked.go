package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/explain"
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
	"github.com/warptune/warptune/cmd/warptune/internal/sweep"
	"github.com/warptune/warptune/tuner/plot"
)

// printTuned prints a sweep that has ended: every trial accounted for, the
// ranked table, and what bounds the best; as JSON it adds a document. An IncompleteError names rows that are
// damaged and not in it.
func printTuned(ctx context.Context, a *cli.App, c *connect.Client, p *plan.Plan, i int, s *warptunev1.Sweep, rows int, docs *[]*tunedDocument) (err error) {
	if rows == 0 {
		rows = int(min(max(s.GetCounts().GetDone(), 1), sweep.MostRows))
	}
	r, err := c.Top(ctx, &warptunev1.TopRequest{Id: s.GetId(), Count: int64(max(rows, tieRows))})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, cli.DamagedRows(r.GetDamagedRows(), r.GetDamaged(), s.GetId())) }()
	correct := slices.DeleteFunc(r.GetResults(), func(r *warptunev1.Result) bool {
		return r.GetOutcome().GetValidity() != warptunev1.Validity_VALIDITY_CORRECT
	})
	var wrong string
	if len(correct) > 0 && (c.Embedded != nil || c.Beside) {
		if wrong, err = lookCloser(ctx, a, p, i, r.GetNames(), correct[0]); err != nil {
			return err
		}
	}
	ranked := newRanking(p, i, r.GetNames(), correct)
	ranked.show(rows)
	if a.JSON {
		top, err := ranked.json()
		if err != nil {
			return err
		}
		failed, err := sweep.Failures(ctx, c, s)
		if err != nil {
			return err
		}
		*docs = append(*docs, &tunedDocument{
			"warptune.tune.v1", message.JSON(s), r.GetNames(), top, ranked.ties, ranked.margin, fidelity.Caveat(ranked.arch, message.LastLevel(s.GetSpec())), failed,
		})
		return nil
	}
	fmt.Fprintf(a.Stdout, "%s: %s\n", message.Target(s.GetSpec()), accounted(s))
	for _, f := range s.GetFailures() {
		fmt.Fprintf(a.Stdout, "  %s, e.g. %s: %s\n", f.GetKind(), message.ExampleText(f), cli.OneLineText(f.GetMessage()))
	}
	if len(correct) == 0 {
		return nil
	}
	if err := printRanked(a, ranked); err != nil {
		return err
	}
	if text := localRows(correct); text != "" {
		fmt.Fprintln(a.Stdout, text)
	}
	best := correct[0]
	o := best.GetOutcome()
	_, err = fmt.Fprintf(a.Stdout, "best: %s at %s, bound by %s; occupancy %.0f %% limited by %s; PTX from %s; simulator %s, level %s\n",
		message.ConfigText(r.GetNames(), best.GetConfig()), plot.Microseconds(o.GetTimeUs()), explain.BoundWords(o.GetBound()), 100*o.GetOccupancy(), explain.LimiterWords(o.GetLimiter()),
		o.GetCompiler(), s.GetSpec().GetEngine(), message.LevelsText(s.GetSpec()))
	if err == nil {
		_, err = fmt.Fprintf(a.Stdout, "it %s\n%s\n", message.CheckedText(o.GetChecked()), message.ProofText(s))
	}
	if wrong != "" && err == nil {
		err = fmt.Errorf("executed in full, the best configuration %s: %s: \"--check all\" on a smaller --problem looks at all of them", message.ConfigText(r.GetNames(), best.GetConfig()), wrong)
	}
	if left := s.GetLeft(); left != nil && err == nil {
		_, err = fmt.Fprintf(a.Stdout, "left to gain in what was not evaluated (%d), as %s believes: %s\n",
			s.GetCounts().GetSpace()-s.GetCounts().GetDone(), s.GetSpec().GetStrategy(), message.LeftText(left, message.RoofLeaves(o, correct)))
	}
	return err
}

// localRows names the rows whose kernels keep variables of a thread in local memory though they spill no
// register, "" where there is none.
func localRows(results []*warptunev1.Result) string {
	const loads, stores = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"
	var rows []string
	for i, r := range results {
		if m := r.GetOutcome().GetMetrics(); r.GetOutcome().GetSpillBytes() == 0 && m[loads]+m[stores] > 0 {
			rows = append(rows, fmt.Sprint(i+1))
		}
	}
	if len(rows) == 0 {
		return ""
	}
	const most = 8
	if len(rows) > most {
		rows = append(rows[:most], fmt.Sprintf("and %d more", len(rows)-most))
	}
	return "no spills, but a variable of a thread's own in local memory (explain says where): rank " + strings.Join(rows, ", ")
}

// accounted says what became of every trial of a sweep.
func accounted(s *warptunev1.Sweep) string {
	n := s.GetCounts()
	_, parts := message.Outcomes(n)
	if n.GetAbandoned() > 0 {
		parts = append(parts, fmt.Sprintf("%d abandoned", n.GetAbandoned()))
	}
	text := fmt.Sprintf("%d of %d configurations evaluated: %s", n.GetDone()+n.GetAbandoned(), n.GetSpace(), strings.Join(parts, ", "))
	if p := s.GetProof(); s.GetSpec().GetLevel() != message.LastLevel(s.GetSpec()) {
		text = fmt.Sprintf("%d of %d configurations ranked, %d evaluated: of both, %s", p.GetOf(), n.GetSpace(), p.GetEvaluated(), strings.Join(parts, ", "))
	}
	if from := len(s.GetTransferred()); from > 0 {
		text += fmt.Sprintf("; begun with %d that are best elsewhere", from)
	}
	if n.GetReused() > 0 {
		text += fmt.Sprintf(" (%d answered from earlier results)", n.GetReused())
	}
	return text
}

func printRanked(a *cli.App, r *ranking) error {
	header := append([]string{"RANK", "TIME", "OVER BEST"}, r.names...)
	t := cli.NewTable(a.Stdout, append(header, "REGS", "SPILL", "SHARED", "OCC", "LIMITER", "BOUND", "CLEAN IN")...)
	best := r.results[0].GetOutcome().GetTimeUs()
	for i, row := range r.results {
		o := row.GetOutcome()
		cells := []string{r.rank(i), plot.Microseconds(o.GetTimeUs()), fmt.Sprintf("%.3f", o.GetTimeUs()/best)}
		for _, v := range row.GetConfig() {
			cells = append(cells, message.ValueText(v))
		}
		t.Row(append(cells, r.registers(row), fmt.Sprint(o.GetSpillBytes()), fmt.Sprint(o.GetSharedBytes()),
			fmt.Sprintf("%.0f %%", 100*o.GetOccupancy()), o.GetLimiter(), explain.BoundShort(o.GetBound()), message.OfCTAs(o.GetChecked()))...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, note := range r.notes() {
		if _, err := fmt.Fprintln(a.Stdout, note); err != nil {
			return err
		}
	}
	return nil
}
