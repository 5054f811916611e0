// Package plan makes sweeps of a command line: flags to the specifications that a coordinator
// is sent.
package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/search/halving"
	"github.com/warptune/warptune/search/stopping"
	"github.com/warptune/warptune/search/strategies"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/exchange"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/rpc"
)

// Flags say what to tune, for tune and sweep submit.
type Flags struct {
	Archs    []string
	groups   input.Groups
	problem  []int64
	sets     []string
	strategy string
	budget   string
	rule     stopping.Rule
	share    string // --negligible
	transfer bool
	seed     uint64
	level    string
	input.ToolFlags
	warm     []string // files of other tuners
	checking input.Checking
}

// Flags adds the flags of sweeps.
func (s *Flags) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&s.Archs, "arch", nil, input.ArchHelp("architectures to tune for, comma-separated, each"))
	f.Int64SliceVar(&s.problem, "problem", nil, "problem size, as many numbers as the definition's; several sizes are several sweeps; default: the definition's")
	s.groups.Flags(cmd)
	f.StringArrayVar(&s.sets, "set", nil, "restrict a parameter: NAME=V[,V…]; repeatable")
	f.StringVar(&s.strategy, "strategy", "", fmt.Sprintf("search strategy: %s;\ndefault: exhaustive up to %d configurations or where the budget covers the space, unless a\n"+
		"time, --patience or --negligible may end it sooner; else %s",
		strings.Join(strategies.Names(), ", "), strategies.Small, strategies.Recommended))
	f.StringVar(&s.budget, "budget", "", "when to end: "+budgetForms+"; default, and 0: when the strategy is done")
	f.Int64Var(&s.rule.Patience, "patience", 0, fmt.Sprintf("end after so many evaluations in a row without a better one; default: never, or %d where the\n"+
		"strategy is chosen for a large space and no budget ends it", DefaultPatience))
	f.StringVar(&s.share, "negligible", "", "end when the strategy believes that less is left to gain, such as 0.1%")
	f.BoolVar(&s.transfer, "transfer", false, "begin with what is stored as best at other problem sizes and architectures")
	f.Uint64Var(&s.seed, "seed", 1, "seed of everything random in the strategy")
	f.StringVar(&s.level, "level", "", "cycle: the clocked machine; model: closed form; model,cycle: rank all by the one and evaluate\n"+
		"the promising ones by the other (default: cycle; model,cycle with a proof as the budget)")
	f.StringArrayVar(&s.warm, "warm-start", nil, "begin with the best of a T4, Kernel Tuner cache or KTT result file, measured anywhere; repeatable")
	s.checking.Flags(f)
	s.ToolFlags.Flags(f)
}

// Plan is what the flags ask for: one spec for each kernel, architecture and problem
// size, in the order given.
type Plan struct {
	Specs []*warptunev1.Spec
	Of    []Subject // of each spec
}

// Subject is what a spec is of.
type Subject struct {
	Def    *kernel.Definition
	Bundle []byte
	Arch   cluster.Arch
	// Predictions are what its strategy begins with; nil: nothing.
	Predictions []byte
}

// IDs are the identities that the plan's sweeps have in any store.
func (p *Plan) IDs() []string {
	ids := make([]string, len(p.Specs))
	for i, m := range p.Specs {
		spec := rpc.ToSpec(m)
		ids[i] = spec.ID("")
	}
	return ids
}

// Plan checks everything that can be checked before a coordinator is asked.
func (s *Flags) Plan(ctx context.Context, a *cli.App, name string) (*Plan, error) {
	return input.AtOnce(ctx, func() (*Plan, error) { return s.planNow(ctx, a, name) })
}

func (s *Flags) planNow(ctx context.Context, a *cli.App, name string) (*Plan, error) {
	set, enough, err := s.check()
	if err != nil {
		return nil, err
	}
	defs, warnings, err := input.FindKernels(a, name)
	if err != nil {
		return nil, err
	}
	defs, problem, err := s.groups.Choose(name, defs, s.problem)
	if err != nil {
		return nil, err
	}
	archs, err := s.loadArchs()
	if err != nil {
		return nil, err
	}
	runs, err := openRuns(a, s.warm)
	if err != nil {
		return nil, err
	}
	p := planning{flags: s, app: a, archs: archs, problem: problem, set: set, enough: enough, runs: runs}
	if defs, err = input.LaunchableOf(a, name, defs); err != nil {
		return nil, err
	}
	for _, def := range defs {
		if err := p.add(ctx, def); err != nil {
			return nil, err
		}
	}
	input.Warn(a, name, warnings)
	return &p.plan, nil
}

// loadArchs loads what --arch names.
func (s *Flags) loadArchs() ([]cluster.Arch, error) {
	var archs []cluster.Arch
	for _, name := range s.Archs {
		d, err := cluster.LoadArch(name)
		if err != nil {
			return nil, cli.Usage(err)
		}
		if err := d.ForSweeps(); err != nil {
			return nil, cli.Usagef("%s: %w", name, err)
		}
		archs = append(archs, d)
	}
	return archs, nil
}

// planning makes a plan of what the flags say.
type planning struct {
	flags   *Flags
	app     *cli.App
	archs   []cluster.Arch
	problem []int64
	set     map[string][]string
	enough  budget
	runs    []*exchange.Run
	plan    Plan
}

// add adds a kernel's specs.
func (p *planning) add(ctx context.Context, def *kernel.Definition) error {
	bundle, digest, err := def.Bundle()
	if err != nil {
		return err
	}
	sizes, err := input.Problems(def, p.problem)
	if err != nil {
		return err
	}
	for _, arch := range p.archs {
		for _, size := range sizes {
			space, err := input.Solve(ctx, p.app, def, size, p.set)
			if err != nil {
				return err
			}
			start, err := warmStart(p.app, p.flags.warm, p.runs, space)
			if err != nil {
				return err
			}
			spec := p.flags.spec(def.Name, digest, arch, size, p.set, p.enough)
			spec.Start = start
			p.flags.choose(spec, space.Size(), p.enough)
			p.plan.Specs, p.plan.Of = append(p.plan.Specs, spec), append(p.plan.Of, Subject{Def: def, Bundle: bundle, Arch: arch})
		}
	}
	return nil
}

// check checks the flags alone, and returns what --set and --budget say.
func (s *Flags) check() (map[string][]string, budget, error) {
	b, err := parseBudget(s.budget)
	if err != nil {
		return nil, b, err
	}
	if len(s.Archs) == 0 {
		return nil, b, cli.Usagef("--arch is required: one or more of %s", strings.Join(arch.Names(), ", "))
	}
	if err := s.checkLevel(&b); err != nil {
		return nil, b, err
	}
	if err := strategies.Check(s.strategy); err != nil {
		return nil, b, cli.Usage(err)
	}
	if s.rule.Patience < 0 {
		return nil, b, cli.Usagef("--patience must not be negative, got %d", s.rule.Patience)
	}
	if s.rule.Negligible, err = NegligibleShare(s.share, s.strategy); err != nil {
		return nil, b, cli.Usagef("--negligible: %w", err)
	}
	if _, err := compile.New(compile.Options{Compiler: s.Choice()}); err != nil {
		return nil, b, cli.Usage(err)
	}
	if _, _, err := s.checking.Parse(); err != nil {
		return nil, b, err
	}
	sets, err := input.ParseSets(s.sets)
	return sets, b, err
}

// DefaultPatience is how many evaluations without a better one end a search of
// a large space that nothing else ends. What that loses is in docs/search/early.md.
const DefaultPatience = 100

// choose says which strategy searches a space of a size, if --strategy does not.
// Where the search may end before the space is exhausted, the best are to come first.
// A proof that nothing else ends is about every configuration: all are ranked. Of two
// levels the one that ranks is so much cheaper that the space may be so much larger.
func (s *Flags) choose(spec *warptunev1.Spec, size int64, b budget) {
	if s.strategy != "" {
		return
	}
	if s.level == BothLevels {
		size = (size + halving.Share - 1) / halving.Share
	}
	switch {
	case b.time > 0 || s.rule != (stopping.Rule{}):
		spec.Strategy = strategies.Recommended
	case b.within != nil && b.evaluations == 0:
		spec.Strategy = strategies.Choose(size, size)
	default:
		spec.Strategy = strategies.Choose(size, b.evaluations)
	}
	if spec.Strategy == strategies.Recommended && size > strategies.Small && b == (budget{}) && s.rule.Patience == 0 {
		spec.Patience = DefaultPatience
	}
}

// NegligibleShare reads --negligible: a share below 1; "" is 0. It takes a strategy that
// believes something, of those named.
func NegligibleShare(text string, named ...string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	v, err := parseShare(text)
	if err == nil && !(v >= 0 && v < 1) {
		err = fmt.Errorf("%q: want a percentage below 100 such as 0.5%%", text)
	}
	if err == nil && v > 0 && named[0] != "" {
		err = CheckBelief(named...)
	}
	return v, err
}

// CheckBelief refuses strategies of which none believes anything of what is left to gain.
func CheckBelief(named ...string) error {
	believing := strategies.Believing()
	if slices.ContainsFunc(named, func(s string) bool { return slices.Contains(believing, s) }) {
		return nil
	}
	return fmt.Errorf("strategy %s believes nothing of what is left to gain: use one of %s", strings.Join(named, ", "), strings.Join(believing, ", "))
}

// BothLevels ranks at level model and evaluates at level cycle.
const BothLevels = "model,cycle"

// checkLevel checks --level, and chooses one if it is not given.
func (s *Flags) checkLevel(b *budget) error {
	proof := b.within != nil
	switch {
	case s.level == "" && proof:
		s.level = BothLevels
	case s.level == "":
		s.level = simengine.Cycle.String()
	case s.level == BothLevels:
	case proof:
		return cli.Usagef("--budget %s: a proof takes --level %s: level %s says nothing of what it did not evaluate", s.budget, BothLevels, s.level)
	default:
		if _, err := simengine.ParseLevel(s.level); err != nil {
			return cli.Usagef("--level: %w, or %s", err, BothLevels)
		}
	}
	return nil
}

func (s *Flags) spec(name, bundle string, d cluster.Arch, problem []int64, set map[string][]string, b budget) *warptunev1.Spec {
	spec := &warptunev1.Spec{
		Kernel: name, Bundle: bundle, Arch: d.Name, Problem: problem, Set: map[string]*warptunev1.Values{},
		Strategy: s.strategy, Budget: b.evaluations, Seed: s.seed, Level: s.level, Compiler: s.Choice(),
		BudgetMs: b.time.Milliseconds(), Within: b.within, Transfer: s.transfer,
		Patience: s.rule.Patience, Negligible: s.rule.Negligible,
		ArchDigest: d.Digest, Engine: simengine.Version(),
	}
	spec.Check, spec.Faults = s.checking.Spec()
	if d.Text != nil {
		spec.ArchDescriptor = kernel.Digest(d.Text)
	}
	for param, values := range set {
		spec.Set[param] = &warptunev1.Values{Values: values}
	}
	return spec
}
