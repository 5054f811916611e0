package main

import (
	"context"
	"io"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/replay"
)

// everywhere stands for all spaces together.
const everywhere = "all"

// replayBeliefs compares what strategies believe is left to gain with what is,
// on each space and on all together.
func (a *app) replayBeliefs(ctx context.Context, r *replays, names []string) error {
	var list []replay.Calibration
	total := map[string][]replay.Belief{}
	bar := a.progress("runs")
	for k, name := range names {
		records, err := a.openRecorded(name, replay.Searchable)
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
		bar.show((k+1)*len(r.strategies)*r.seeds, len(names)*len(r.strategies)*r.seeds, "")
	}
	bar.finish()
	for _, strategy := range r.strategies {
		list = append(list, replay.Calibrate(everywhere, strategy, total[strategy])...)
	}
	return a.printBeliefs(r, list)
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

func (a *app) printBeliefs(r *replays, list []replay.Calibration) error {
	header, rows := replay.CalibrationTable(list)
	if r.markdown != "" {
		err := replaceTables(r.markdown, r.tables(), func(w io.Writer) error { return replay.MarkdownTable(w, header, rows) })
		if err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(list)
	}
	t := newTable(a.stdout, header...)
	for _, row := range rows {
		t.row(row...)
	}
	return t.flush()
}
