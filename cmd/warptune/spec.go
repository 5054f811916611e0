package main

import (
	"github.com/spf13/cobra"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/search/strategies"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
)

// sweepFlags say what to tune, for tune and sweep submit.
type sweepFlags struct {
	archs    []string
	problem  []int64
	sets     []string
	strategy string
	budget   int64
	seed     uint64
	level    string
	compiler string
}

func (s *sweepFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&s.archs, "arch", nil, "architectures to tune for, comma-separated (see \"warptune archs\")")
	f.Int64SliceVar(&s.problem, "problem", nil, "problem size; for a kernel of one dimension several are several sweeps; default: the definition's")
	f.StringArrayVar(&s.sets, "set", nil, "restrict a parameter: NAME=V[,V…]; repeatable")
	f.StringVar(&s.strategy, "strategy", cluster.DefaultStrategy, "search strategy")
	f.Int64Var(&s.budget, "budget", 0, "most evaluations; 0: until the strategy is done")
	f.Uint64Var(&s.seed, "seed", 1, "seed of everything random in the strategy")
	f.StringVar(&s.level, "level", "cycle", "cycle: the clocked machine; model: closed form")
	f.StringVar(&s.compiler, "compiler", "", "compile driver: prebuilt, nvcc or clang; default: the first that works")
}

// plan is what the flags ask for: the kernel's bundle and one spec for each
// architecture and problem size, in the order given.
type plan struct {
	def    *kernel.Definition
	bundle []byte
	specs  []*warptunev1.Spec
}

// plan checks everything that can be checked before a coordinator is asked.
func (s *sweepFlags) plan(a *app, name string) (*plan, error) {
	if len(s.archs) == 0 {
		return nil, usagef("--arch is required: one or more of %v", arch.Names())
	}
	def, err := a.openKernel(name)
	if err != nil {
		return nil, err
	}
	set, err := parseSets(s.sets)
	if err != nil {
		return nil, err
	}
	if _, err := simengine.ParseLevel(s.level); err != nil {
		return nil, usageError{err}
	}
	if s.budget < 0 {
		return nil, usagef("--budget must not be negative, got %d", s.budget)
	}
	if err := strategies.Check(s.strategy); err != nil {
		return nil, usageError{err}
	}
	bundle, digest, err := def.Bundle()
	if err != nil {
		return nil, err
	}
	p := &plan{def: def, bundle: bundle}
	for _, name := range s.archs {
		d, err := arch.Load(name)
		if err != nil {
			return nil, usageError{err}
		}
		for _, problem := range problems(def, s.problem) {
			if _, err := def.Space(problem, set); err != nil {
				return nil, err
			}
			p.specs = append(p.specs, s.spec(def.Name, digest, d, problem, set))
		}
	}
	return p, nil
}

// problems splits --problem into problem sizes: as many dimensions as the
// definition's own are one size; several numbers for a kernel of one dimension
// are several sizes.
func problems(def *kernel.Definition, flag []int64) [][]int64 {
	if len(flag) == 0 {
		return [][]int64{def.Problem}
	}
	if len(def.Problem) != 1 {
		return [][]int64{flag}
	}
	out := make([][]int64, len(flag))
	for i, n := range flag {
		out[i] = []int64{n}
	}
	return out
}

func (s *sweepFlags) spec(name, bundle string, d *arch.Descriptor, problem []int64, set map[string][]string) *warptunev1.Spec {
	spec := &warptunev1.Spec{
		Kernel: name, Bundle: bundle, Arch: d.Name, Problem: problem, Set: map[string]*warptunev1.Values{},
		Strategy: s.strategy, Budget: s.budget, Seed: s.seed, Level: s.level, Compiler: s.compiler,
		ArchDigest: d.Digest, Engine: simengine.Version(),
	}
	for param, values := range set {
		spec.Set[param] = &warptunev1.Values{Values: values}
	}
	return spec
}
