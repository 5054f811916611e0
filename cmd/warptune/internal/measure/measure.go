// Package measure has warptune measure: which configurations are to be measured, and the
// table of what was.
package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/internal/measure"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
	"github.com/warptune/warptune/cmd/warptune/internal/sweep"
	"github.com/warptune/warptune/search/strategies"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/record"
)

// GPUFlags say how this machine's GPU is measured on, for measure, tune --confirm and worker --measure.
type GPUFlags struct {
	options   measure.Options
	assembler string
}

// Flags adds the flags of the GPU of this machine.
func (g *GPUFlags) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&g.options.Device, "device", 0, "number of the GPU to measure on, from 0")
	f.BoolVar(&g.options.Shared, "shared", false, "measure although other processes use the GPU")
	f.DurationVar(&g.options.Limit, "limit", measure.DefaultLimit, "longest measurement of one configuration; what takes longer hangs, and is ended")
	f.StringVar(&g.assembler, "assembler", "", "what makes the code: ptxas, or driver, its own compiler; default: ptxas if there is one")
}

// open opens the GPU.
func (g *GPUFlags) open(ctx context.Context) (*measure.Gauge, error) {
	if g.options.Limit <= 0 {
		return nil, cli.Usagef("--limit must be positive, got %v", g.options.Limit)
	}
	return measure.NewGauge(ctx, g.options, g.assembler)
}

// Command is warptune measure.
func Command(a *cli.App) *cobra.Command {
	var m Measuring
	var config, configs string
	var all bool
	cmd := &cobra.Command{
		Use:   "measure KERNEL [--top K | --config NAME=V,… | --configs FILE.jsonl[.gz] | --all]",
		Short: "Time configurations on this machine's own GPU",
		Long: "Time configurations on this machine's own GPU: by default the ten that are predicted\n" +
			"fastest. Results are stored beside the predictions, marked measured. With --coordinator\n" +
			"workers that measure (worker --measure) do it.",
		Args: cli.Exactly(1, input.KernelHelp),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := 0
			for _, name := range []string{"top", "config", "configs", "all"} {
				if cmd.Flags().Changed(name) {
					given++
				}
			}
			if given > 1 {
				return cli.Usagef("give one of --top, --config, --configs and --all")
			}
			if m.blind && !all {
				return cli.Usagef("--blind is of --all: the others measure what is predicted fastest, or named")
			}
			if m.Top < 1 {
				return cli.Usagef("--top must be at least 1, got %d", m.Top)
			}
			if config != "" || configs != "" || all {
				m.Top = 0
			}
			return Run(cmd.Context(), a, &m, args[0], config, configs)
		},
	}
	m.flags(cmd)
	cmd.Flags().IntVar(&m.Top, "top", 10, "how many of those predicted fastest to measure")
	cmd.Flags().StringVar(&config, "config", "", "one configuration to measure, NAME=V,…; parameters left out take their default")
	cmd.Flags().StringVar(&configs, "configs", "", "records of the configurations to measure, one JSON object a line, - for standard input")
	cmd.Flags().BoolVar(&all, "all", false, "measure every configuration, as --strategy and --budget say; strategy "+strategies.Recommended+" begins with predictions")
	cmd.Flags().BoolVar(&m.blind, "blind", false, "with --all: predict nothing before")
	return cmd
}

// Measuring is what measure and tune --confirm have in common.
type Measuring struct {
	Conn  connect.Connection
	Sweep plan.Flags
	GPU   GPUFlags
	On    string
	Slots int
	Top   int  // configurations predicted fastest to measure; 0: those that are named, or all
	blind bool // of all: without predictions to begin with
}

func (m *Measuring) flags(cmd *cobra.Command) {
	m.Conn.Flags(cmd)
	m.Sweep.Flags(cmd)
	m.GPU.Flags(cmd)
	cmd.Flags().StringVar(&m.On, "on", "", "labels that a measuring worker must have, NAME=VALUE,…; a value alone is the GPU's name")
	cmd.Flags().IntVar(&m.Slots, "slots", input.DefaultSlots(), "configurations predicted, or made ready to be measured, at a time")
}

// Run measures what the flags name.
func Run(ctx context.Context, a *cli.App, m *Measuring, name, config, configs string) error {
	labels, err := cluster.ParseLabels(m.On)
	if err != nil {
		return cli.Usagef("--on: %w", err)
	}
	here, err := m.openHere(ctx)
	if err != nil {
		return err
	}
	defer here.close()
	if err := m.defaultArch(here); err != nil {
		return err
	}
	p, err := m.Sweep.Plan(ctx, a, name)
	if err != nil {
		return err
	}
	chosen := make([]selection, len(p.Specs))
	switch {
	case m.Top > 0:
		if chosen, err = predict(ctx, a, m, p, m.Top); err != nil {
			return err
		}
	case config != "" || configs != "":
		for i := range p.Specs {
			if chosen[i].configs, err = named(a, p, i, config, configs); err != nil {
				return err
			}
		}
	default:
		if chosen, err = foretell(ctx, a, m, p); err != nil {
			return err
		}
	}
	return measureChosen(ctx, a, m, p, chosen, labels, here)
}

// hereGPU is this machine's GPU, where it is the one to measure on.
type hereGPU struct {
	gauge     *measure.Gauge // nil: workers elsewhere measure
	evaluator *cluster.Measuring
}

func (h *hereGPU) close() {
	if h.gauge != nil {
		h.gauge.Close()
	}
}

// openHere opens this machine's GPU unless a coordinator has workers that measure.
func (m *Measuring) openHere(ctx context.Context) (*hereGPU, error) {
	if m.Conn.Coordinator != "" {
		return &hereGPU{}, nil
	}
	g, err := m.GPU.open(ctx)
	if err != nil {
		return nil, err
	}
	e, err := cluster.NewMeasuring(g)
	if err != nil {
		g.Close()
		return nil, err
	}
	return &hereGPU{g, e}, nil
}

// defaultArch is the architecture of this machine's GPU, if --arch says none. It refuses others.
func (m *Measuring) defaultArch(here *hereGPU) error {
	if here.gauge == nil {
		return nil
	}
	for _, name := range m.Sweep.Archs {
		d, err := cluster.LoadArch(name)
		if err == nil {
			err = here.evaluator.Fits(d.Descriptor)
		}
		if err != nil {
			return cli.Usage(err)
		}
	}
	if len(m.Sweep.Archs) > 0 {
		return nil
	}
	m.Sweep.Archs = slices.Sorted(maps.Keys(here.evaluator.Archs()))
	if len(m.Sweep.Archs) != 1 {
		d := here.gauge.GPU()
		return cli.Usagef("--arch is required: of the GPU here, %s (compute capability %d.%d, %d SMs), warptune has %d descriptors; \"warptune calibrate\" makes one", d.GPU, d.CC[0], d.CC[1], d.SMs, len(m.Sweep.Archs))
	}
	return nil
}

// named are the configurations that --config or --configs names, in the order given.
func named(a *cli.App, p *plan.Plan, i int, config, configs string) ([]string, error) {
	def := p.Of[i].Def
	var records []record.Record
	if config != "" {
		rec, err := input.ConfigRecord(def, config, p.Specs[i].GetProblem())
		if err != nil {
			return nil, err
		}
		records = []record.Record{rec}
	} else {
		var err error
		if records, err = a.ReadRecords(configs, record.Read); err != nil {
			return nil, err
		}
	}
	space, err := def.Space(p.Specs[i].GetProblem(), nil)
	if err != nil {
		return nil, err
	}
	var out []string
	for k := range records {
		cfg, err := evaluate.Config(def, &records[k])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", records[k].Line, err)
		}
		if cfg, err = space.Conform(cfg); err == nil {
			_, err = space.ParseConfig(cfg.String())
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", records[k].Line, err)
		}
		if text := cfg.String(); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out, nil
}

// predict predicts a plan's sweeps, and selects the top to measure of each; 0: none.
func predict(ctx context.Context, a *cli.App, m *Measuring, p *plan.Plan, count int) ([]selection, error) {
	out := make([]selection, len(p.Specs))
	m.Conn.Embed = cluster.EmbedOptions{Create: true, Sweeps: p.IDs()}
	err := m.Conn.With(ctx, func(c *connect.Client) error {
		answers, err := sweep.Submit(ctx, c, p)
		if err != nil {
			return err
		}
		ctx, fault := context.WithCancelCause(ctx)
		defer fault(nil)
		if err := sweep.Work(ctx, a, c, p, m.Conn.Path(), m.Slots, answers, fault); err != nil {
			return err
		}
		for i, r := range answers {
			if _, err := sweep.Watch(ctx, a, c, r.GetSweep().GetId()); ctx.Err() != nil {
				return context.Cause(ctx)
			} else if err != nil {
				return err
			}
			top, err := c.Top(ctx, &warptunev1.TopRequest{Id: r.GetSweep().GetId(), Count: sweep.MostRows})
			if err != nil {
				return err
			}
			if out[i] = selectFrom(top, count); count > 0 && len(out[i].configs) == 0 {
				return fmt.Errorf("nothing to measure: no configuration of %s is predicted to run on %s", p.Specs[i].GetKernel(), p.Specs[i].GetArch())
			}
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil, errors.New("interrupted: what was evaluated is stored, and the same command resumes")
	}
	return out, err
}

// measured is the plan of the sweeps that measure what was chosen of another's.
func (m *Measuring) measured(p *plan.Plan, chosen []selection, labels map[string]string) (*plan.Plan, error) {
	q := &plan.Plan{Of: slices.Clone(p.Of)}
	for i, spec := range p.Specs {
		s := &warptunev1.Spec{
			Kernel: spec.GetKernel(), Bundle: spec.GetBundle(), Arch: spec.GetArch(), Problem: spec.GetProblem(), Set: spec.GetSet(),
			Strategy: "exhaustive", Seed: spec.GetSeed(), Level: tuner.LevelMeasured, Compiler: spec.GetCompiler(), Check: spec.GetCheck(),
			ArchDigest: spec.GetArchDigest(), Engine: measure.Engine, ArchDescriptor: spec.GetArchDescriptor(), On: labels,
		}
		if s.Start = chosen[i].configs; len(s.Start) > 0 {
			s.Budget = int64(len(s.Start))
			if chosen[i].predicted == nil {
				s.Strategy = tuner.StrategyListed
			}
		} else {
			s.Strategy, s.Budget, s.BudgetMs, s.Patience, s.Negligible, s.Start = spec.GetStrategy(), spec.GetBudget(), spec.GetBudgetMs(), spec.GetPatience(), spec.GetNegligible(), spec.GetStart()
			if err := chosen[i].begin(s, &q.Of[i]); err != nil {
				return nil, err
			}
		}
		q.Specs = append(q.Specs, s)
	}
	return q, nil
}

// measureChosen measures what was chosen, and prints what came of it.
func measureChosen(ctx context.Context, a *cli.App, m *Measuring, p *plan.Plan, chosen []selection, labels map[string]string, here *hereGPU) error {
	q, err := m.measured(p, chosen, labels)
	if err != nil {
		return err
	}
	m.Conn.Embed = cluster.EmbedOptions{Create: true, Sweeps: q.IDs()}
	began := time.Now()
	err = m.Conn.With(ctx, func(c *connect.Client) error {
		answers, err := sweep.Submit(ctx, c, q)
		if err != nil {
			return err
		}
		ctx, fault := context.WithCancelCause(ctx)
		defer fault(nil)
		if c.Embedded != nil && !allEnded(answers) {
			if err := c.Embedded.Measure(here.evaluator, m.Slots, fault); err != nil {
				return err
			}
		}
		var docs []*measuredDocument
		var failed error
		for i, r := range answers {
			s, err := sweep.Watch(ctx, a, c, r.GetSweep().GetId())
			if ctx.Err() != nil {
				return context.Cause(ctx)
			} else if err != nil {
				return err
			}
			t, err := newMeasuredTable(ctx, c, s, &chosen[i])
			if err != nil {
				return err
			}
			t.spend(here, time.Since(began))
			if len(chosen[i].predicted) > 0 {
				space, err := q.Of[i].Def.Space(q.Specs[i].GetProblem(), nil)
				if err != nil {
					return err
				}
				t.learned = t.correct(space)
			}
			if a.JSON {
				docs = append(docs, t.json())
			} else if err := printMeasured(a, t); err != nil {
				return err
			}
			failed = cmp.Or(failed, t.failure(), message.IncompleteSweep(s))
		}
		if a.JSON {
			var v any = docs
			if len(docs) == 1 {
				v = docs[0]
			}
			return cmp.Or(a.PrintJSON(v), failed)
		}
		return failed
	})
	if ctx.Err() != nil {
		return errors.New("interrupted: what was measured is stored, and the same command resumes")
	}
	return err
}

func allEnded(answers []*warptunev1.SubmitResponse) bool {
	return !slices.ContainsFunc(answers, func(r *warptunev1.SubmitResponse) bool { return !message.Ended(r.GetSweep()) })
}

// deviceList is the GPUs that measured results, each once.
func deviceList(results []*warptunev1.Result) string {
	var all []string
	for _, r := range results {
		if d := r.GetOutcome().GetDevice(); d != "" && !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return strings.Join(all, "; ")
}
