// Package fidelity has warptune fidelity: predictions against measured times, registers
// and counters.
package fidelity

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sort"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
	"github.com/warptune/warptune/cmd/warptune/internal/simulate"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/record"
)

// Command is warptune fidelity.
func Command(a *cli.App) *cobra.Command {
	var s simulate.Simulation
	var m measured
	var set datasetFlags
	var conn connect.Connection
	var stored bool
	cmd := &cobra.Command{
		Use:   "fidelity --arch A --timings FILE.jsonl[.gz] | --arch A --timings SPACE.csv[.gz] --kernel KERNEL | --dataset NAME | --arch A --kernel KERNEL --ptxas | --measured",
		Short: "Score predictions against measured configurations, or registers against ptxas",
		Args:  cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if stored {
				return fidelityMeasured(cmd.Context(), a, &conn)
			}
			if m.sample < 0 {
				return cli.Usagef("--sample must not be negative, got %d", m.sample)
			}
			if err := simengine.CheckRules(m.without); err != nil {
				return cli.Usagef("--without: %v", err)
			}
			if set.name != "" {
				return fidelityOfSets(a, cmd, &s, &m, &set)
			}
			if m.timings == "" && m.kernel != "" && s.PTXAS {
				return fidelityOfRegisters(cmd.Context(), a, &s, &m)
			}
			if m.timings == "" {
				return cli.Usagef("--timings or --dataset is required: a file of measured records, or the name of a measured data set; or --kernel and --ptxas: registers by the model and by ptxas")
			}
			return fidelityOf(cmd.Context(), a, &s, &m)
		},
	}
	s.Flags(cmd)
	set.flags(cmd)
	conn.Flags(cmd)
	cmd.Flags().BoolVar(&stored, "measured", false, "score the predictions in the database against everything that was measured (measure, tune --confirm), by kernel and GPU")
	cmd.Flags().Lookup("level").Usage += "; model,cycle: what ranking by the one saves of the other"
	cmd.Flags().StringVar(&m.timings, "timings", "", "measured records (times or counters), or a space recorded by another tuner (as replay takes it: .csv, .json; its times)")
	cmd.Flags().StringVar(&m.kernel, "kernel", "", "the kernel of a recorded space, or whose registers ptxas is asked for: built-in name, definition file or folder of launch records")
	cmd.Flags().StringVar(&m.kernels, "kernels", "", "directory of kernel definitions NAME.json; default: the built-in kernels")
	cmd.Flags().IntVar(&m.sample, "sample", 0, "score only this many records, drawn by a fixed seed; 0: all (of a kernel's configurations 256)")
	cmd.Flags().StringVar(&m.predictions, "predictions", "", "also write every record with its prediction to this file")
	cmd.Flags().BoolVar(&m.repeated, "repeated", false, "counters are of launches that followed another of the same (data sets' always are): its results were there already")
	cmd.Flags().StringSliceVar(&m.without, "without", nil, "leave out rules of the assembler model, by id, to see what they earn (an unknown id lists them)")
	return cmd
}

// measured is what predictions are compared with.
type measured struct {
	timings, kernel, kernels, predictions string
	sample                                int
	without                               []string // rules of the assembler model
	repeated                              bool     // --repeated; evaluate.Batch.Repeated
}

// fidelityOf scores the predictions of one file of records.
func fidelityOf(ctx context.Context, a *cli.App, s *simulate.Simulation, m *measured) error {
	records, err := timedRecords(a, m.timings, m.kernel)
	if err != nil {
		return err
	}
	return compare(ctx, a, s, sampleRecords(records, m.sample), m)
}

// sampleSeed draws the same sample everywhere.
const sampleSeed = 1

// sampleRecords draws n records, kept in file order; 0: all of them.
func sampleRecords(records []record.Record, n int) []record.Record {
	if n == 0 || n >= len(records) {
		return records
	}
	picked := rand.New(rand.NewPCG(sampleSeed, 0)).Perm(len(records))[:n]
	sort.Ints(picked)
	out := make([]record.Record, n)
	for i, at := range picked {
		out[i] = records[at]
	}
	return out
}

func compare(ctx context.Context, a *cli.App, s *simulate.Simulation, records []record.Record, m *measured) error {
	both := s.Level == plan.BothLevels
	if both {
		s.Level = simengine.Cycle.String()
	}
	batch, done, err := s.Open(a)
	if err != nil {
		return err
	}
	defer done()
	launches, err := evaluate.Launches(records)
	if err != nil {
		return fmt.Errorf("%s: %w", m.timings, err)
	}
	if launches != nil && batch.PTX == nil {
		return cli.Usagef("%s holds launch records: --ptx-dir names the directory, .zip or .tar.zst with their PTX", m.timings)
	}
	open, err := kernelSource(a, records, launches, m.kernels)
	if err != nil {
		return err
	}
	out := &cli.Outfile{Writer: io.Discard}
	if m.predictions != "" {
		if out, err = a.Create(m.predictions); err != nil {
			return err
		}
	}
	bar := a.Progress("configurations")
	batch.Kernels, batch.Launches, batch.Done, batch.Without, batch.Repeated = open, launches, bar.Update, m.without, m.repeated
	// Times are looked at here, not results, and the model of the assembler, unless --ptxas takes its place.
	batch.Check, batch.Compare, batch.Modelled = simengine.CheckNone, false, true
	results, err := batch.Run(ctx, records)
	if err == nil {
		err = simulate.WriteRecords(out, records, results, batch.Arch, batch.Level)
	}
	if err = out.Finish(err); err != nil {
		bar.Finish()
		return err
	}
	if both {
		return compareLevels(ctx, a, batch, records, results, bar)
	}
	bar.Finish()
	r := fidelity.Compare(records, results, batch.Arch)
	r.Level, r.Engine = batch.Level.String(), simengine.Version()
	if a.JSON {
		return a.PrintJSON(r)
	}
	return fidelity.Print(a.Stdout, &r)
}

// compareLevels ranks at level model what is evaluated at level cycle already,
// and says what that saves.
func compareLevels(ctx context.Context, a *cli.App, batch *evaluate.Batch, records []record.Record, high []evaluate.Result, bar *cli.Progress) error {
	batch.Level = simengine.Model
	low, err := batch.Run(ctx, records)
	bar.Finish()
	if err != nil {
		return err
	}
	l := fidelity.CompareLevels(records, low, high)
	l.Arch, l.Engine = batch.Arch.Name, simengine.Version()
	if a.JSON {
		return a.PrintJSON(l)
	}
	return fidelity.PrintLevels(a.Stdout, &l)
}

// kernelSource loads every kernel that records name which are no launch records, once.
func kernelSource(a *cli.App, records []record.Record, launches map[int]kernel.Listed, dir string) (func(string) (*kernel.Definition, error), error) {
	defs := map[string]*kernel.Definition{}
	for i := range records {
		name := records[i].Kernel
		if _, ok := launches[records[i].Line]; ok || defs[name] != nil {
			continue
		}
		path := name
		if dir != "" {
			path = filepath.Join(dir, name+".json")
		}
		def, err := input.OpenLaunchable(a, path, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", records[i].Line, err)
		}
		defs[name] = def
	}
	return func(name string) (*kernel.Definition, error) { return defs[name], nil }, nil
}
