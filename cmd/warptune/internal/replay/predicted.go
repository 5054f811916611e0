package replay

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/portfolio"
	"github.com/warptune/warptune/search/replay"
)

// predictedAfter are the numbers of measurements after which regrets are compared.
var predictedAfter = []int{10, 25, 50}

// predictedLeast is how many configurations make a space of which 10 are a few.
const predictedLeast = 50

// overRow is by how much the best found is slower than the optimum, by number of measurements: over
// some spaces the geometric mean, and the largest.
type overRow struct {
	Way   string    `json:"way"`
	Mean  []float64 `json:"mean"`
	Worst []float64 `json:"worst"`
}

// overSums adds up ratios.
type overSums struct {
	logs, worst []float64
	n           float64
}

func (s *overSums) add(r *replay.Record, curves ...replay.Curve) {
	if s.logs == nil {
		s.logs, s.worst = make([]float64, len(predictedAfter)), make([]float64, len(predictedAfter))
	}
	s.n++
	for i, n := range predictedAfter {
		mean := 0.0
		for _, c := range curves {
			mean += math.Log(c.Over(r, n)) / float64(len(curves))
		}
		s.logs[i] += mean
		s.worst[i] = max(s.worst[i], math.Exp(mean))
	}
}

func (s *overSums) row(way string) overRow {
	r := overRow{Way: way, Worst: s.worst}
	for _, l := range s.logs {
		r.Mean = append(r.Mean, math.Exp(l/s.n))
	}
	return r
}

// replayPredicted compares measuring what is predicted fastest with searching without predictions.
// The files are records with times and predictions, as fidelity --predictions writes them, or recorded spaces
// whose kernels were recorded on another GPU too (--transfer).
func replayPredicted(ctx context.Context, a *cli.App, r *replays, names []string) error {
	plain, corrected, from, misled := &overSums{}, &overSums{}, &overSums{}, &overSums{}
	searched := make([]*overSums, len(r.strategies))
	for i := range searched {
		searched[i] = &overSums{}
	}
	bar := a.Progress("files")
	for k, name := range names {
		records, err := input.OpenRecorded(a, name, predictedLeast)
		if err != nil && !strings.Contains(err.Error(), "nothing to search") {
			return err
		}
		for _, rec := range records {
			r.donors.predict(name, rec)
			if !rec.Predicts() {
				return fmt.Errorf("%s: %s has no predictions: \"warptune fidelity --predictions FILE\" writes records with them", name, rec.Name)
			}
			most := predictedAfter[len(predictedAfter)-1]
			plain.add(rec, replay.SimulationFirst(rec, most, false))
			corrected.add(rec, replay.SimulationFirst(rec, most, true))
			for way, of := range map[*overSums]func(int) search.Prior{
				from:   func(int) search.Prior { return rec.Prior() },
				misled: func(seed int) search.Prior { return rec.Permuted(uint64(seed)) },
			} {
				curves := make([]replay.Curve, r.seeds)
				if err := eachSeed(ctx, r.seeds, func(seed int) error {
					curves[seed] = replay.Run(rec, portfolio.From(of(seed), rec.Space, uint64(seed)), most, 0)
					return nil
				}); err != nil {
					return err
				}
				way.add(rec, curves...)
			}
			for i, strategy := range r.strategies {
				curves := make([]replay.Curve, r.seeds)
				if err := r.eachSeed(ctx, rec, strategy, func(seed int, s search.Strategy) { curves[seed] = replay.Run(rec, s, most, 0) }); err != nil {
					return err
				}
				searched[i].add(rec, curves...)
			}
		}
		bar.Show(k+1, len(names), "")
	}
	bar.Finish()
	if plain.n == 0 {
		return fmt.Errorf("no space of %d configurations or more in %s", predictedLeast, strings.Join(names, ", "))
	}
	rows := []overRow{plain.row("those predicted fastest, in order"), corrected.row("predicted, corrected"),
		from.row("portfolio, from predictions"), misled.row("portfolio, from permuted predictions")}
	for i, s := range searched {
		rows = append(rows, s.row(r.strategies[i]+", without predictions"))
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	write := func(w io.Writer) error { return writeOver(w, rows, int(plain.n)) }
	if r.markdown != "" {
		return replaceTables(r.markdown, r.tables(), write)
	}
	return write(a.Stdout)
}

func writeOver(w io.Writer, rows []overRow, spaces int) error {
	fmt.Fprintf(w, "\n%d spaces of %d configurations and more; time of the best measured over the optimum: geometric mean, and the largest.\n\n| measured are", spaces, predictedLeast)
	line := "|---"
	for _, n := range predictedAfter {
		fmt.Fprintf(w, " | after %d | largest", n)
		line += "|--:|--:"
	}
	fmt.Fprintf(w, " |\n%s|\n", line)
	for _, r := range rows {
		fmt.Fprintf(w, "| %s", r.Way)
		for i := range r.Mean {
			fmt.Fprintf(w, " | %.3f | %.3f", r.Mean[i], r.Worst[i])
		}
		fmt.Fprintln(w, " |")
	}
	_, err := fmt.Fprintln(w)
	return err
}
