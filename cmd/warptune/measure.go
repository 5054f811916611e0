package main

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
	"github.com/warptune/warptune/search/strategies"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/record"
)

// gpuFlags say how this machine's GPU is measured on, for measure, tune --confirm and worker --measure.
type gpuFlags struct {
	options   measure.Options
	assembler string
}

func (g *gpuFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&g.options.Device, "device", 0, "number of the GPU to measure on, from 0")
	f.BoolVar(&g.options.Shared, "shared", false, "measure although other processes use the GPU")
	f.DurationVar(&g.options.Limit, "limit", measure.DefaultLimit, "longest measurement of one configuration; what takes longer hangs, and is ended")
	f.StringVar(&g.assembler, "assembler", "", "what makes the code: ptxas, or driver, its own compiler; default: ptxas if there is one")
}

// open opens the GPU.
func (g *gpuFlags) open(ctx context.Context) (*measure.Gauge, error) {
	if g.options.Limit <= 0 {
		return nil, usagef("--limit must be positive, got %v", g.options.Limit)
	}
	return measure.NewGauge(ctx, g.options, g.assembler)
}

func (a *app) measureCommand() *cobra.Command {
	var m measuring
	var config, configs string
	var all bool
	cmd := &cobra.Command{
		Use:   "measure KERNEL [--top K | --config NAME=V,… | --configs FILE.jsonl[.gz] | --all]",
		Short: "Time configurations on this machine's own GPU",
		Long: "Time configurations on this machine's own GPU: by default the ten that are predicted\n" +
			"fastest. Results are stored beside the predictions, marked measured. With --coordinator\n" +
			"workers that measure (worker --measure) do it.",
		Args: exactly(1, kernelHelp),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := 0
			for _, name := range []string{"top", "config", "configs", "all"} {
				if cmd.Flags().Changed(name) {
					given++
				}
			}
			if given > 1 {
				return usagef("give one of --top, --config, --configs and --all")
			}
			if m.blind && !all {
				return usagef("--blind is of --all: the others measure what is predicted fastest, or named")
			}
			if m.top < 1 {
				return usagef("--top must be at least 1, got %d", m.top)
			}
			if config != "" || configs != "" || all {
				m.top = 0
			}
			return a.measure(cmd.Context(), &m, args[0], config, configs)
		},
	}
	m.flags(cmd)
	cmd.Flags().IntVar(&m.top, "top", 10, "how many of those predicted fastest to measure")
	cmd.Flags().StringVar(&config, "config", "", "one configuration to measure, NAME=V,…; parameters left out take their default")
	cmd.Flags().StringVar(&configs, "configs", "", "records of the configurations to measure, one JSON object a line, - for standard input")
	cmd.Flags().BoolVar(&all, "all", false, "measure every configuration, as --strategy and --budget say; strategy "+strategies.Recommended+" begins with predictions")
	cmd.Flags().BoolVar(&m.blind, "blind", false, "with --all: predict nothing before")
	return cmd
}

// measuring is what measure and tune --confirm have in common.
type measuring struct {
	conn  connection
	sweep sweepFlags
	gpu   gpuFlags
	on    string
	slots int
	top   int  // configurations predicted fastest to measure; 0: those that are named, or all
	blind bool // of all: without predictions to begin with
}

func (m *measuring) flags(cmd *cobra.Command) {
	m.conn.flags(cmd)
	m.sweep.flags(cmd)
	m.gpu.flags(cmd)
	cmd.Flags().StringVar(&m.on, "on", "", "labels that a measuring worker must have, NAME=VALUE,…; a value alone is the GPU's name")
	cmd.Flags().IntVar(&m.slots, "slots", defaultSlots(), "configurations predicted, or made ready to be measured, at a time")
}

// measure measures what the flags name.
func (a *app) measure(ctx context.Context, m *measuring, name, config, configs string) error {
	labels, err := cluster.ParseLabels(m.on)
	if err != nil {
		return usagef("--on: %w", err)
	}
	here, err := m.openHere(ctx)
	if err != nil {
		return err
	}
	defer here.close()
	if err := m.defaultArch(here); err != nil {
		return err
	}
	p, err := m.sweep.plan(ctx, a, name)
	if err != nil {
		return err
	}
	chosen := make([]selection, len(p.specs))
	switch {
	case m.top > 0:
		if chosen, err = a.predict(ctx, m, p, m.top); err != nil {
			return err
		}
	case config != "" || configs != "":
		for i := range p.specs {
			if chosen[i].configs, err = a.named(p, i, config, configs); err != nil {
				return err
			}
		}
	default:
		if chosen, err = a.foretell(ctx, m, p); err != nil {
			return err
		}
	}
	return a.measureChosen(ctx, m, p, chosen, labels, here)
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
func (m *measuring) openHere(ctx context.Context) (*hereGPU, error) {
	if m.conn.coordinator != "" {
		return &hereGPU{}, nil
	}
	g, err := m.gpu.open(ctx)
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
func (m *measuring) defaultArch(here *hereGPU) error {
	if here.gauge == nil {
		return nil
	}
	for _, name := range m.sweep.archs {
		d, err := cluster.LoadArch(name)
		if err == nil {
			err = here.evaluator.Fits(d.Descriptor)
		}
		if err != nil {
			return usageError{err}
		}
	}
	if len(m.sweep.archs) > 0 {
		return nil
	}
	m.sweep.archs = slices.Sorted(maps.Keys(here.evaluator.Archs()))
	if len(m.sweep.archs) != 1 {
		d := here.gauge.GPU()
		return usagef("--arch is required: of the GPU here, %s (compute capability %d.%d, %d SMs), warptune has %d descriptors; \"warptune calibrate\" makes one", d.GPU, d.CC[0], d.CC[1], d.SMs, len(m.sweep.archs))
	}
	return nil
}

// named are the configurations that --config or --configs names, in the order given.
func (a *app) named(p *plan, i int, config, configs string) ([]string, error) {
	def := p.of[i].def
	var records []record.Record
	if config != "" {
		rec, err := configRecord(def, config, p.specs[i].GetProblem())
		if err != nil {
			return nil, err
		}
		records = []record.Record{rec}
	} else {
		var err error
		if records, err = a.readRecords(configs, record.Read); err != nil {
			return nil, err
		}
	}
	space, err := def.Space(p.specs[i].GetProblem(), nil)
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
func (a *app) predict(ctx context.Context, m *measuring, p *plan, count int) ([]selection, error) {
	out := make([]selection, len(p.specs))
	m.conn.embed = cluster.EmbedOptions{Create: true, Sweeps: p.ids()}
	err := m.conn.with(ctx, func(c *client) error {
		answers, err := submit(ctx, c, p)
		if err != nil {
			return err
		}
		ctx, fault := context.WithCancelCause(ctx)
		defer fault(nil)
		t := tuning{app: a, plan: p, conn: &m.conn, slots: m.slots}
		if err := t.work(ctx, c, answers, fault); err != nil {
			return err
		}
		for i, r := range answers {
			if _, err := a.watch(ctx, c, r.GetSweep().GetId()); ctx.Err() != nil {
				return context.Cause(ctx)
			} else if err != nil {
				return err
			}
			top, err := c.Top(ctx, &warptunev1.TopRequest{Id: r.GetSweep().GetId(), Count: mostRows})
			if err != nil {
				return err
			}
			if out[i] = selectFrom(top, count); count > 0 && len(out[i].configs) == 0 {
				return fmt.Errorf("nothing to measure: no configuration of %s is predicted to run on %s", p.specs[i].GetKernel(), p.specs[i].GetArch())
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
func (m *measuring) measured(p *plan, chosen []selection, labels map[string]string) (*plan, error) {
	q := &plan{of: slices.Clone(p.of)}
	for i, spec := range p.specs {
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
			if err := chosen[i].begin(s, &q.of[i]); err != nil {
				return nil, err
			}
		}
		q.specs = append(q.specs, s)
	}
	return q, nil
}

// measureChosen measures what was chosen, and prints what came of it.
func (a *app) measureChosen(ctx context.Context, m *measuring, p *plan, chosen []selection, labels map[string]string, here *hereGPU) error {
	q, err := m.measured(p, chosen, labels)
	if err != nil {
		return err
	}
	m.conn.embed = cluster.EmbedOptions{Create: true, Sweeps: q.ids()}
	began := time.Now()
	err = m.conn.with(ctx, func(c *client) error {
		answers, err := submit(ctx, c, q)
		if err != nil {
			return err
		}
		ctx, fault := context.WithCancelCause(ctx)
		defer fault(nil)
		if c.embedded != nil && !allEnded(answers) {
			if err := c.embedded.Measure(here.evaluator, m.slots, fault); err != nil {
				return err
			}
		}
		var docs []*measuredDocument
		var failed error
		for i, r := range answers {
			s, err := a.watch(ctx, c, r.GetSweep().GetId())
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
				space, err := q.of[i].def.Space(q.specs[i].GetProblem(), nil)
				if err != nil {
					return err
				}
				t.learned = t.correct(space)
			}
			if a.json {
				docs = append(docs, t.json())
			} else if err := a.printMeasured(t); err != nil {
				return err
			}
			failed = cmp.Or(failed, t.failure(), incompleteSweep(s))
		}
		if a.json {
			var v any = docs
			if len(docs) == 1 {
				v = docs[0]
			}
			return cmp.Or(a.printJSON(v), failed)
		}
		return failed
	})
	if ctx.Err() != nil {
		return errors.New("interrupted: what was measured is stored, and the same command resumes")
	}
	return err
}

func allEnded(answers []*warptunev1.SubmitResponse) bool {
	return !slices.ContainsFunc(answers, func(r *warptunev1.SubmitResponse) bool { return !ended(r.GetSweep()) })
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
