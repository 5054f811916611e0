package measure

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/measure"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/cmd/warptune/internal/sweep"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/plot"
	"github.com/warptune/warptune/tuner/rpc"
)

// measuredTable is what measuring a sweep came to.
type measuredTable struct {
	sweep   *warptunev1.Sweep
	names   []string
	rows    []measuredRow // the fastest first
	failed  []sweep.FailedJSON
	device  string
	reused  int64
	chosen  *selection
	learned *corrected
	gpuTime time.Duration // for which this machine's GPU was needed; 0: others'
	took    time.Duration
}

// measuredRow is a configuration that was timed.
type measuredRow struct {
	Parameters search.Config       `json:"parameters"`
	MeasuredUS float64             `json:"measured_us"`
	MinUS      float64             `json:"min_us"`
	MaxUS      float64             `json:"max_us"`
	ColdUS     float64             `json:"cold_us,omitempty"`
	FirstUS    float64             `json:"first_us,omitempty"` // where managed memory has pages to migrate
	Predicted  *float64            `json:"predicted_us"`
	Rank       int                 `json:"predicted_rank,omitempty"`
	Warnings   string              `json:"warnings,omitempty"`
	Outcome    any                 `json:"outcome"`
	outcome    *warptunev1.Outcome // the same
	values     []*warptunev1.Value
}

// measuredDocument is what measure prints of a sweep as JSON.
type measuredDocument struct {
	Schema   string             `json:"schema"`
	Sweep    any                `json:"sweep"`
	Device   string             `json:"device"`
	Rows     []measuredRow      `json:"rows"`
	Failures []sweep.FailedJSON `json:"failures"`
	// GPUSeconds is for how long the GPU was needed, code loading and copies included.
	GPUSeconds float64    `json:"gpu_seconds"`
	Seconds    float64    `json:"seconds"`
	Corrected  *corrected `json:"corrected,omitempty"`
}

// newMeasuredTable asks for all results of a measured sweep.
func newMeasuredTable(ctx context.Context, c *connect.Client, s *warptunev1.Sweep, chosen *selection) (*measuredTable, error) {
	top, err := c.Top(ctx, &warptunev1.TopRequest{Id: s.GetId(), Count: sweep.MostRows})
	if err != nil {
		return nil, err
	}
	t := &measuredTable{sweep: s, names: top.GetNames(), device: deviceList(top.GetResults()), reused: s.GetCounts().GetReused(), chosen: chosen}
	if t.failed, err = sweep.Failures(ctx, c, s); err != nil {
		return nil, err
	}
	for _, r := range top.GetResults() {
		o := r.GetOutcome()
		if o.GetValidity() != warptunev1.Validity_VALIDITY_CORRECT {
			continue
		}
		row := measuredRow{
			Parameters: search.Config{Names: t.names, Values: rpc.ToValues(r.GetConfig())}, MeasuredUS: o.GetTimeUs(),
			MinUS: measure.Metric(o.GetMetrics(), "min_us"), MaxUS: measure.Metric(o.GetMetrics(), "max_us"), ColdUS: measure.Metric(o.GetMetrics(), "cold_us"),
			FirstUS:  measure.Metric(o.GetMetrics(), "first_us"),
			Warnings: o.GetChecked().GetWarnings(), Outcome: message.JSON(o), outcome: o, values: r.GetConfig(),
		}
		if p, ok := chosen.predicted[row.Parameters.String()]; ok {
			row.Predicted, row.Rank = &p.timeUS, p.rank
		}
		t.rows = append(t.rows, row)
	}
	return t, nil
}

// spend notes what measuring cost.
func (t *measuredTable) spend(here *hereGPU, took time.Duration) {
	t.took = took
	if here.gauge != nil {
		t.gpuTime = time.Duration(here.gauge.Spent() * float64(time.Microsecond))
	}
}

func (t *measuredTable) json() *measuredDocument {
	return &measuredDocument{"warptune.measure.v1", message.JSON(t.sweep), t.device, t.rows, t.failed, t.gpuTime.Seconds(), t.took.Seconds(), t.learned}
}

// failure says that nothing was timed.
func (t *measuredTable) failure() error {
	if len(t.rows) > 0 {
		return nil
	}
	why := "none was asked for"
	if len(t.failed) > 0 {
		why = fmt.Sprintf("%s: %s", t.failed[0].Validity, cli.OneLineText(t.failed[0].Message))
	}
	return fmt.Errorf("no configuration of %s was timed: %s", t.sweep.GetSpec().GetKernel(), why)
}

// printMeasured prints measured times beside what was predicted.
func printMeasured(a *cli.App, t *measuredTable) error {
	fmt.Fprintf(a.Stdout, "%s, measured on %s\n", message.Target(t.sweep.GetSpec()), t.device)
	header := append([]string{"RANK", "MEASURED", "OVER BEST", "FROM", "TO", "COLD L2"}, t.firstHeader()...)
	header = append(append(header, "PREDICTED", "AS RANK"), t.names...)
	w := cli.NewTable(a.Stdout, append(header, "REGS", "SPILL", "OCC", "AGREES")...)
	for i, r := range t.rows {
		predicted, rank, cold := "", "", ""
		if r.Predicted != nil {
			predicted, rank = plot.Microseconds(*r.Predicted), fmt.Sprint(r.Rank)
		}
		if r.ColdUS > 0 {
			cold = plot.Microseconds(r.ColdUS)
		}
		cells := []string{fmt.Sprint(i + 1), plot.Microseconds(r.MeasuredUS), fmt.Sprintf("%.3f", r.MeasuredUS/t.rows[0].MeasuredUS), plot.Microseconds(r.MinUS), plot.Microseconds(r.MaxUS), cold}
		if len(t.firstHeader()) > 0 {
			cells = append(cells, plot.Microseconds(r.FirstUS))
		}
		cells = append(cells, predicted, rank)
		for _, v := range r.values {
			cells = append(cells, message.ValueText(v))
		}
		o := r.outcome
		w.Row(append(cells, fmt.Sprint(o.GetRegisters()), fmt.Sprint(o.GetSpillBytes()), fmt.Sprintf("%.0f %%", 100*o.GetOccupancy()), agreesText(o.GetChecked()))...)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, f := range t.failed {
		fmt.Fprintf(a.Stdout, "%s: %s: %s\n", f.Validity, cli.PlainText(f.Parameters.String()), cli.OneLineText(f.Message))
	}
	for _, f := range t.sweep.GetFailures() {
		if f.GetKind() == "abandoned" {
			fmt.Fprintf(a.Stdout, "given up, e.g. %s: %s\n", message.ExampleText(f), cli.OneLineText(f.GetMessage()))
		}
	}
	for _, r := range t.rows {
		if r.Warnings != "" {
			fmt.Fprintf(a.Stdout, "caution: %s: %s\n", cli.PlainText(r.Parameters.String()), cli.OneLineText(r.Warnings))
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return printMeasuredBest(a, t)
}

// firstHeader heads the times of first launches, which those with managed memory have.
func (t *measuredTable) firstHeader() []string {
	if slices.ContainsFunc(t.rows, func(r measuredRow) bool { return r.FirstUS > 0 }) {
		return []string{"FIRST LAUNCH"}
	}
	return nil
}

// agreesText says of how many elements the outputs were compared.
func agreesText(c *warptunev1.Checked) string {
	if c.GetCompared() == 0 {
		return "not compared"
	}
	return fmt.Sprintf("%d elements", c.GetCompared())
}

func printMeasuredBest(a *cli.App, t *measuredTable) error {
	best := &t.rows[0]
	_, err := fmt.Fprintf(a.Stdout, "measured best: %s at %s; PTX from %s\n", cli.PlainText(best.Parameters.String()), plot.Microseconds(best.MeasuredUS), best.outcome.GetCompiler())
	if err != nil {
		return err
	}
	if best.Predicted != nil {
		sum, n := 0.0, 0
		for _, r := range t.rows {
			if r.Predicted != nil {
				sum, n = sum+math.Abs(*r.Predicted/r.MeasuredUS-1), n+1
			}
		}
		fmt.Fprintf(a.Stdout, "it was predicted at %s as number %d; predictions of these %d are off by %.0f %% in the mean\n", plot.Microseconds(*best.Predicted), best.Rank, n, 100*sum/float64(n))
	}
	printCorrected(a, t.learned, best.MeasuredUS)
	if t.gpuTime > 0 {
		_, err = fmt.Fprintf(a.Stdout, "the GPU was needed for %.1f s\n", t.gpuTime.Seconds())
	}
	return err
}
