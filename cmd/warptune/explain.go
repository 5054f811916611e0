package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/record"
)

func (a *app) explainCommand() *cobra.Command {
	var s simulation
	var configs []string
	var problem []int64
	var groups groupFlag
	cmd := &cobra.Command{
		Use:   "explain KERNEL --arch A --config NAME=V,… [--config NAME=V,…]",
		Short: "Say why a configuration is as fast as it is, or why two differ",
		Args:  exactly(1, kernelHelp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(configs) < 1 || len(configs) > 2 {
				return usagef("give --config once to explain one configuration, twice to compare two")
			}
			def, err := a.openLaunchable(args[0], groups, problem)
			if err != nil {
				return err
			}
			return a.explain(cmd.Context(), &s, def, configs, problem)
		},
	}
	s.flags(cmd)
	cmd.Flags().StringArrayVar(&configs, "config", nil, "a configuration, NAME=V,…; parameters left out take their default")
	cmd.Flags().Int64SliceVar(&problem, "problem", nil, "problem size; default: the definition's")
	groups.flags(cmd)
	return cmd
}

func (a *app) explain(ctx context.Context, s *simulation, def *kernel.Definition, configs []string, problem []int64) error {
	d, level, err := s.open()
	if err != nil {
		return err
	}
	depth, warn, err := s.checking.parse()
	if err != nil {
		return err
	}
	compiler, err := a.compiler(s.compiler)
	if err != nil {
		return err
	}
	ptx, done, err := openPTX(s.ptxDir)
	if err != nil {
		return err
	}
	defer done()
	records := make([]record.Record, len(configs))
	for i, text := range configs {
		if records[i], err = configRecord(def, text, problem); err != nil {
			return err
		}
	}
	batch := evaluate.Batch{
		Compiler: compiler, PTX: ptx, Arch: d, Level: level, Slots: 1, Check: depth, Warn: warn, Compare: true,
		Kernels: func(string) (*kernel.Definition, error) { return def, nil },
	}
	results, err := batch.Run(ctx, records)
	if err != nil {
		return err
	}
	for i := range results {
		if results[i].Report == nil {
			o := results[i].Outcome
			return fmt.Errorf("%s: the configuration is not valid (%s): %s", configs[i], o.Validity, o.Message)
		}
	}
	caps := make([]string, len(records))
	for i := range records {
		if config, err := evaluate.Config(def, &records[i]); err == nil {
			caps[i] = raisedCap(def, d, config, problem)
		}
	}
	return a.printExplanation(configs, caps, results, d)
}

// printExplanation prints reports; caps say what was made of register caps that are too
// small.
func (a *app) printExplanation(configs, caps []string, results []evaluate.Result, d *arch.Descriptor) error {
	reports := make([]*simengine.Report, len(results))
	for i := range results {
		reports[i] = results[i].Report
	}
	if a.json {
		return a.printJSON(reports)
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		fmt.Fprintf(a.stdout, "%s\n", configs[i])
		if caps[i] != "" {
			fmt.Fprintf(a.stdout, "  register %s\n", caps[i])
		}
		if err := a.printReport(r, d, results[i].Outcome.Compiler); err != nil {
			return err
		}
	}
	if len(reports) == 2 {
		return a.printDifference(reports[0], reports[1])
	}
	return nil
}
