// Package simulate has warptune simulate: predictions of records, without sweeps or a
// database.
package simulate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/record"
)

// Simulation is the flags that simulate, explain and fidelity share.
type Simulation struct {
	Arch, Level, PTXDir string
	input.ToolFlags
	Slots    int
	Checking input.Checking
}

// Flags adds the flags of what predicts without a sweep.
func (s *Simulation) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.Arch, "arch", "", input.ArchHelp("architecture to predict for"))
	f.StringVar(&s.Level, "level", "cycle", "cycle: the clocked machine; model: closed form, about a millisecond")
	f.StringVar(&s.PTXDir, "ptx-dir", "", "directory, .zip or .tar.zst with the PTX that records name")
	s.ToolFlags.Flags(f)
	s.Checking.Flags(f)
	f.IntVar(&s.Slots, "slots", input.DefaultSlots(), "configurations simulated at a time")
}

// Open checks the flags and opens what they name: a batch that lacks its kernels, and what closes
// its PTX.
func (s *Simulation) Open(a *cli.App) (*evaluate.Batch, func(), error) {
	d, level, err := s.machine()
	if err != nil {
		return nil, nil, err
	}
	depth, warn, err := s.Checking.Parse()
	if err != nil {
		return nil, nil, err
	}
	compiler, err := input.Compiler(a, s.Choice())
	if err != nil {
		return nil, nil, err
	}
	ptx, done, err := cli.OpenPTX(s.PTXDir)
	if err != nil {
		return nil, nil, err
	}
	return &evaluate.Batch{
		Compiler: compiler, Assembler: compiler.Assembler(), PTX: ptx, Arch: d, Level: level, Slots: s.Slots,
		Check: depth, Warn: warn, Compare: true,
	}, done, nil
}

// machine is the architecture and the level that the flags name.
func (s *Simulation) machine() (*arch.Descriptor, simengine.Level, error) {
	if s.Arch == "" {
		return nil, 0, cli.Usagef("--arch is required: one of %s", strings.Join(arch.Names(), ", "))
	}
	d, err := cluster.LoadArch(s.Arch)
	if err != nil {
		return nil, 0, cli.Usage(err)
	}
	level, err := simengine.ParseLevel(s.Level)
	if err != nil {
		return nil, 0, cli.Usage(err)
	}
	if s.Slots < 1 {
		return nil, 0, cli.Usagef("--slots must be at least 1, got %d", s.Slots)
	}
	return d.Descriptor, level, nil
}

// Command is warptune simulate.
func Command(a *cli.App) *cobra.Command {
	var s Simulation
	var config, configs, launches, output string
	var problem []int64
	var groups input.Groups
	cmd := &cobra.Command{
		Use:   "simulate KERNEL --arch A (--config NAME=V,… | --configs FILE.jsonl[.gz]) | --launches FILE.jsonl[.gz] --ptx-dir DIR --arch A",
		Short: "Predict configurations of a kernel, or launch records, one record each",
		Args: func(cmd *cobra.Command, args []string) error {
			if launches != "" && len(args) > 0 {
				return cli.Usagef("--launches says all that is to be known of its launches: give no kernel")
			} else if launches != "" {
				return nil
			}
			return cli.Exactly(1, input.KernelHelp)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if launches != "" {
				return simulateLaunches(a, cmd, &s, launches, output)
			}
			if (config == "") == (configs == "") {
				return cli.Usagef("give either --config NAME=V,… or --configs FILE.jsonl")
			}
			def, err := input.OpenLaunchable(a, args[0], groups, problem)
			if err != nil {
				return err
			}
			records, err := simulateRecords(a, def, config, configs, problem)
			if err != nil {
				return err
			}
			return simulate(cmd.Context(), a, &s, records, output, only(def), nil)
		},
	}
	s.Flags(cmd)
	cmd.Flags().StringVar(&config, "config", "", "one configuration, NAME=V,…; parameters left out take their default")
	cmd.Flags().StringVar(&configs, "configs", "", "records to predict, one JSON object a line, - for standard input")
	cmd.Flags().StringVar(&launches, "launches", "", "launch records to predict, which need no kernel's definition, - for standard input")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the records here instead of to standard output")
	cmd.Flags().Int64SliceVar(&problem, "problem", nil, "problem size for --config; default: the definition's")
	groups.Flags(cmd)
	return cmd
}

// only gives the one kernel that records may be of.
func only(def *kernel.Definition) func(string) (*kernel.Definition, error) {
	return func(name string) (*kernel.Definition, error) {
		if name != "" && name != def.Name {
			return nil, fmt.Errorf("the record is of kernel %q, not %q", name, def.Name)
		}
		return def, nil
	}
}

// simulateLaunches predicts launch records.
func simulateLaunches(a *cli.App, cmd *cobra.Command, s *Simulation, file, output string) error {
	for _, flag := range []string{"config", "configs", "problem", "compiler"} {
		if cmd.Flags().Changed(flag) {
			return cli.Usagef("--%s: the launch records say that: give --launches without it", flag)
		}
	}
	if s.PTXDir == "" {
		return cli.Usagef("--launches wants --ptx-dir: the directory, .zip or .tar.zst with the PTX that its records name")
	}
	records, err := a.ReadRecords(file, record.Read)
	if err != nil {
		return err
	}
	listed, err := evaluate.Launches(records)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return simulate(cmd.Context(), a, s, records, output, noLaunch, listed)
}

// noLaunch refuses a record among launch records that is none.
func noLaunch(string) (*kernel.Definition, error) {
	return nil, errors.New(`not a launch record: it has no "args"; other records are of a kernel, and --configs takes them`)
}

func simulateRecords(a *cli.App, def *kernel.Definition, config, configs string, problem []int64) ([]record.Record, error) {
	if configs != "" {
		return a.ReadRecords(configs, record.Read)
	}
	rec, err := input.ConfigRecord(def, config, problem)
	return []record.Record{rec}, err
}

// simulate predicts records, of kernels by their names or of launches by the records' lines.
func simulate(ctx context.Context, a *cli.App, s *Simulation, records []record.Record, output string, kernels func(string) (*kernel.Definition, error), launches map[int]kernel.Listed) error {
	batch, done, err := s.Open(a)
	if err != nil {
		return err
	}
	defer done()
	out, err := a.Create(output)
	if err != nil {
		return err
	}
	bar := a.Progress("configurations")
	batch.Kernels, batch.Launches, batch.Done = kernels, launches, bar.Update
	results, err := batch.Run(ctx, records)
	bar.Finish()
	if err == nil {
		err = WriteRecords(out, records, results, batch.Arch, batch.Level)
	}
	return out.Finish(err)
}

// WriteRecords writes each record back with its prediction, in input order.
func WriteRecords(w io.Writer, records []record.Record, results []evaluate.Result, d *arch.Descriptor, level simengine.Level) (err error) {
	buf := bufio.NewWriter(w)
	var line []byte
	for i := range records {
		if line, err = records[i].Append(line[:0], predictionOf(&results[i], d, level)); err != nil {
			return err
		}
		if _, err = buf.Write(line); err != nil {
			return err
		}
	}
	return buf.Flush()
}

func checkedRecord(c *tuner.Checked) any {
	if !c.Recorded() {
		return nil
	}
	return c
}

// predictionOf is prediction, with what reports alone say. Metrics are of the launch that the record's counters are of.
func predictionOf(r *evaluate.Result, d *arch.Descriptor, level simengine.Level) record.Prediction {
	p := prediction(&r.Outcome, d, level)
	if r.Report != nil {
		p.NotModelled = r.Report.NotModelled
		if r.Report.Migration != nil {
			p.Migration = r.Report.Migration
		}
	}
	if r.Profiled != nil {
		p.Metrics = r.Profiled.Metrics
	}
	return p
}

func prediction(o *tuner.Outcome, d *arch.Descriptor, level simengine.Level) record.Prediction {
	var predicted *float64
	if o.Validity == tuner.Correct {
		predicted = &o.TimeUS
	}
	return record.Prediction{
		Arch: d.Name, PredictedUS: predicted, Validity: o.Validity.String(), Message: o.Message, Compiler: o.Compiler,
		Registers: o.Registers, SpillBytes: o.SpillBytes, Occupancy: o.Occupancy, Limiter: o.Limiter, Bound: o.Bound,
		Level: level.String(), Engine: simengine.Version(), Digest: o.Digest, Metrics: o.Metrics, Checked: checkedRecord(&o.Checked),
	}
}
