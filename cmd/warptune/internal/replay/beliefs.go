package replay

import (
	"context"
	"io"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/replay"
)

// everywhere stands for all spaces together.
const everywhere = "all"

// replayBeliefs compares what strategies believe is left to gain with what is,
// on each space and on all together.
func replayBeliefs(ctx context.Context, a *cli.App, r *replays, names []string) error {
	var list []replay.Calibration
	total := map[string][]replay.Belief{}
	bar := a.Progress("runs")
	for k, name := range names {
		records, err := input.OpenRecorded(a, name, replay.Searchable)
		if err != nil {
			return err
		}
		for _, rec := range records {
			for _, strategy := range r.strategies {
				beliefs, err := r.believe(ctx, rec, strategy)
				if err != nil {
					return err
				}
				list = append(list, replay.Calibrate(rec.Name, strategy, beliefs)...)
				total[strategy] = append(total[strategy], beliefs...)
			}
		}
		bar.Show((k+1)*len(r.strategies)*r.seeds, len(names)*len(r.strategies)*r.seeds, "")
	}
	bar.Finish()
	for _, strategy := range r.strategies {
		list = append(list, replay.Calibrate(everywhere, strategy, total[strategy])...)
	}
	return printBeliefs(a, r, list)
}

// believe runs the seeds side by side, and returns what was believed in their
// order.
func (r *replays) believe(ctx context.Context, rec *replay.Record, strategy string) ([]replay.Belief, error) {
	runs := make([][]replay.Belief, r.seeds)
	err := r.eachSeed(ctx, rec, strategy, func(seed int, s search.Strategy) {
		runs[seed] = replay.Beliefs(rec, s, r.budget, r.beliefs)
	})
	var all []replay.Belief
	for _, run := range runs {
		all = append(all, run...)
	}
	return all, err
}

func printBeliefs(a *cli.App, r *replays, list []replay.Calibration) error {
	header, rows := replay.CalibrationTable(list)
	if r.markdown != "" {
		err := replaceTables(r.markdown, r.tables(), func(w io.Writer) error { return replay.MarkdownTable(w, header, rows) })
		if err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(list)
	}
	t := cli.NewTable(a.Stdout, header...)
	for _, row := range rows {
		t.Row(row...)
	}
	return t.Flush()
}
