// Package explain has warptune explain: which configurations are explained, and how it is
// printed.
package explain

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/internal/explain"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/simulate"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/record"
)

// Command is warptune explain.
func Command(a *cli.App) *cobra.Command {
	var s simulate.Simulation
	var conn connect.Connection
	var configs []string
	var problem []int64
	var groups input.Groups
	cmd := &cobra.Command{
		Use:   "explain KERNEL --arch A [--config NAME=V,…]…",
		Short: "Say why a configuration is as fast as it is and what would help, or why two differ",
		Long: "Says in sentences what a configuration's time goes to, at which line, and what each mechanism\n" +
			"costs: it is simulated again on a machine of which the mechanism costs nothing. Without --config\n" +
			"it is the best known: of the sweeps in the database, else of up to " + strconv.Itoa(mostRanked) + " configurations\n" +
			"ranked by the closed-form model.",
		Args: cli.Exactly(1, input.KernelHelp),
		RunE: func(cmd *cobra.Command, args []string) error {
			def, err := input.OpenLaunchable(a, args[0], groups, problem)
			if err != nil {
				return err
			}
			x := explanation{App: a, Simulation: &s, conn: &conn, def: def, problem: problem, configs: configs}
			return x.run(cmd.Context())
		},
	}
	s.Flags(cmd)
	conn.Flags(cmd)
	cmd.Flags().StringArrayVar(&configs, "config", nil, "a configuration, NAME=V,…; parameters left out take their default; several: what changed since the first")
	cmd.Flags().Int64SliceVar(&problem, "problem", nil, "problem size; default: the definition's")
	groups.Flags(cmd)
	return cmd
}

// explanation is one call of the command.
type explanation struct {
	*cli.App
	*simulate.Simulation
	conn    *connect.Connection
	def     *kernel.Definition
	problem []int64
	configs []string
	from    string // where the configuration comes from, if nobody gave it
	arch    *arch.Descriptor
	batch   evaluate.Batch
}

func (x *explanation) run(ctx context.Context) error {
	done, err := x.open()
	if err != nil {
		return err
	}
	defer done()
	if len(x.configs) == 0 {
		if err := x.choose(ctx); err != nil {
			return err
		}
	}
	records := make([]record.Record, len(x.configs))
	for i, text := range x.configs {
		if records[i], err = input.ConfigRecord(x.def, text, x.problem); err != nil {
			return err
		}
	}
	studies, err := x.batch.Study(ctx, records)
	if err != nil {
		return err
	}
	cases := make([]explainedCase, len(records))
	var wrong []error
	for i := range records {
		if cases[i], err = x.explained(&records[i], &studies[i]); err != nil {
			return err
		}
		cases[i].text = x.configs[i]
		if o := &studies[i].Outcome; studies[i].Report == nil {
			wrong = append(wrong, fmt.Errorf("%s: the configuration is not valid (%s): %s", x.configs[i], o.Validity, o.Message))
		}
	}
	if x.JSON {
		return errors.Join(append([]error{x.printExplainedJSON(cases)}, wrong...)...)
	}
	if len(wrong) > 0 {
		return errors.Join(wrong...)
	}
	return x.printExplained(cases)
}

// open opens what the flags name.
func (x *explanation) open() (done func(), err error) {
	batch, done, err := x.Simulation.Open(x.App)
	if err != nil {
		return nil, err
	}
	def := x.def
	x.arch, x.batch = batch.Arch, *batch
	x.batch.Kernels = func(string) (*kernel.Definition, error) { return def, nil }
	return done, nil
}

// explainedCase is a configuration, explained.
type explainedCase struct {
	explain.Case
	text   string
	raised string // what was made of a register cap that is too small
}

func (x *explanation) explained(rec *record.Record, s *evaluate.Study) (c explainedCase, err error) {
	config, err := evaluate.Config(x.def, rec)
	if err != nil {
		return c, err
	}
	c.Case, err = explain.NewCase(x.def, x.arch, config, x.problem, s)
	if c.Report != nil {
		c.raised = input.RaisedCap(x.def, x.arch, config, x.problem)
	}
	return c, err
}
