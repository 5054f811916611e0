// Package replay has warptune replay: strategies judged on recorded spaces.
package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/replay"
	"github.com/warptune/warptune/search/seeded"
	"github.com/warptune/warptune/search/stopping"
	"github.com/warptune/warptune/search/strategies"
)

// replays is what the replay command runs.
type replays struct {
	strategies     []string
	budget, seeds  int
	delay          int
	rule           stopping.Rule
	negligible     string
	transfer       []string
	beliefs        int
	donors         donors
	predicted      bool
	markdown, plot string
	table          string
}

// Command is warptune replay.
func Command(a *cli.App) *cobra.Command {
	var r replays
	cmd := &cobra.Command{
		Use:   "replay SPACE.csv.gz…",
		Short: "Judge search strategies on recorded spaces",
		Long: "Judge search strategies on recorded spaces: CSV files in which the columns before\n" +
			"\"status\" are parameters, records (JSONL) of measured configurations, T4 results or\n" +
			"cache files of Kernel Tuner (JSON); gzipped or not.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("%s: want at least one recorded space", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.check(); err != nil {
				return err
			}
			return replaySpaces(cmd.Context(), a, &r, args)
		},
	}
	cmd.Flags().StringSliceVar(&r.strategies, "strategy", []string{"all"}, "strategies, or \"all\": "+strings.Join(strategies.Names(), ", "))
	cmd.Flags().IntVar(&r.budget, "budget", 400, "evaluations")
	cmd.Flags().IntVar(&r.seeds, "seeds", 50, "runs of each strategy, with the seeds 0, 1, …")
	cmd.Flags().IntVar(&r.delay, "delay", 0, "questions that are out while a strategy asks the next, as with one more worker than that")
	cmd.Flags().Int64Var(&r.rule.Patience, "patience", 0, "strategies stop after so many evaluations in a row without a better one; 0: they do not")
	cmd.Flags().StringVar(&r.negligible, "negligible", "", "strategies stop when they believe that less is left to gain, such as 0.5%")
	cmd.Flags().StringSliceVar(&r.transfer, "transfer", nil, "recorded spaces of the same kernels: strategies also begin with what is best there")
	cmd.Flags().IntVar(&r.beliefs, "beliefs", 0, "instead ask strategies after every so many evaluations what they believe is left to gain, and compare with what is")
	cmd.Flags().BoolVar(&r.predicted, "predicted", false, "instead compare measuring first what is predicted fastest, as the records' predictions say (fidelity --predictions), with searching without; with --transfer what was measured there stands for predictions")
	cmd.Flags().StringVar(&r.markdown, "markdown", "", "also replace the tables of this Markdown file")
	cmd.Flags().StringVar(&r.table, "table", "", "of that file replace only the table between the lines \"<!-- begin TABLE -->\" and \"<!-- end TABLE -->\"")
	cmd.Flags().StringVar(&r.plot, "plots", "", "also draw the curves of each space into this directory, as SVG")
	return cmd
}

func (r *replays) check() error {
	if err := r.checkStrategies(); err != nil {
		return err
	}
	var err error
	if r.rule.Negligible, err = plan.NegligibleShare(r.negligible, r.strategies...); err != nil {
		return cli.Usagef("--negligible: %w", err)
	}
	switch {
	case r.rule.Patience < 0:
		return cli.Usagef("--patience must not be negative, got %d", r.rule.Patience)
	case r.budget < 1:
		return cli.Usagef("--budget must be at least 1, got %d", r.budget)
	case r.seeds < 1:
		return cli.Usagef("--seeds must be at least 1, got %d", r.seeds)
	case r.beliefs < 0:
		return cli.Usagef("--beliefs must not be negative, got %d", r.beliefs)
	case r.delay < 0:
		return cli.Usagef("--delay must not be negative, got %d", r.delay)
	case r.table != "" && r.markdown == "":
		return cli.Usagef("--table %s: of which file? --markdown names it", r.table)
	}
	return nil
}

// checkStrategies checks --strategy, for which "all" stands for all, each once.
func (r *replays) checkStrategies() error {
	var names []string
	for _, name := range r.strategies {
		add := []string{name}
		if name == "all" {
			add = strategies.Names()
		} else if err := strategies.Check(name); err != nil || name == "" {
			return cli.Usagef("--strategy: %w", cmp.Or(err, errors.New("a name is empty")))
		}
		for _, name := range add {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if r.strategies = names; len(names) == 0 {
		return cli.Usagef("--strategy: none is named, want \"all\" or some of %s", strings.Join(strategies.Names(), ", "))
	}
	if err := plan.CheckBelief(names...); err != nil && r.beliefs > 0 {
		return cli.Usagef("--beliefs: %w", err)
	}
	return nil
}

func replaySpaces(ctx context.Context, a *cli.App, r *replays, names []string) error {
	if r.markdown != "" { // told before the work, not after
		if _, _, err := cutTables(r.markdown, r.tables()); err != nil {
			return err
		}
	}
	if r.beliefs > 0 {
		return replayBeliefs(ctx, a, r, names)
	}
	var err error
	if r.donors, err = openDonors(a, r.transfer); err != nil {
		return err
	}
	if r.predicted {
		return replayPredicted(ctx, a, r, names)
	}
	var scores []replay.Score
	bar, total := a.Progress("runs"), len(names)*len(r.strategies)*r.seeds
	for k, name := range names {
		records, err := input.OpenRecorded(a, name, replay.Searchable)
		if err != nil {
			return err
		}
		total += (len(records) - 1) * len(r.strategies) * r.seeds
		for _, rec := range records {
			if len(r.donors) > 0 && !r.donors.of(rec) {
				return cli.Usagef("--transfer %s: none is of the kernel of %s, by their names", strings.Join(r.transfer, ","), rec.Name)
			}
			for _, strategy := range r.strategies {
				s, err := r.score(ctx, rec, strategy, nil)
				if err != nil {
					return err
				}
				scores = append(scores, s)
				if first := r.donors.best(name, rec); len(first) > 0 {
					total += r.seeds
					if s, err = r.score(ctx, rec, strategy, first); err != nil {
						return err
					}
					scores = append(scores, s)
				}
				bar.Show(len(scores)*r.seeds, total, fmt.Sprintf("%d of %d files", k, len(names)))
			}
		}
	}
	bar.Finish()
	return printScores(a, r, scores)
}

// eachSeed runs a strategy with every seed, side by side.
func (r *replays) eachSeed(ctx context.Context, rec *replay.Record, strategy string, run func(seed int, s search.Strategy)) error {
	return eachSeed(ctx, r.seeds, func(seed int) error {
		s, err := strategies.New(strategy, rec.Space, uint64(seed))
		if err == nil {
			run(seed, s)
		}
		return err
	})
}

// eachSeed runs something with every seed, side by side.
func eachSeed(ctx context.Context, seeds int, run func(seed int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for seed := range seeds {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return run(seed)
		})
	}
	return group.Wait()
}

// score runs the seeds side by side. first are configurations to begin with.
func (r *replays) score(ctx context.Context, rec *replay.Record, strategy string, first []search.Config) (replay.Score, error) {
	curves := make([]replay.Curve, r.seeds)
	budget := int(min(int64(r.budget), rec.Space.Size()))
	err := r.eachSeed(ctx, rec, strategy, func(seed int, s search.Strategy) {
		if len(first) > 0 {
			s = seeded.New(rec.Space, s, first)
		}
		if r.rule != (stopping.Rule{}) {
			s = stopping.New(s, r.rule)
		}
		curves[seed] = replay.Run(rec, s, budget, r.delay)
	})
	if len(first) > 0 {
		strategy += ", transferred"
	}
	return replay.NewScore(rec, strategy, budget, r.delay, curves), err
}

func printScores(a *cli.App, r *replays, scores []replay.Score) error {
	if r.plot != "" {
		if err := plotScores(r.plot, scores); err != nil {
			return err
		}
	}
	if r.markdown != "" {
		if err := r.markScores(scores); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(scores)
	}
	header, rows := replay.Table(scores, !slices.Contains(replay.Marks, r.budget))
	t := cli.NewTable(a.Stdout, header...)
	for _, row := range rows {
		t.Row(row...)
	}
	return t.Flush()
}
