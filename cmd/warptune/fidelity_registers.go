package main

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
)

// registersSample is how many configurations of a kernel are compared where nobody says.
const registersSample = 256

// fidelityOfRegisters compares the assembler model with ptxas for configurations of a kernel: no GPU, nothing simulated.
func (a *app) fidelityOfRegisters(ctx context.Context, s *simulation, m *measured) error {
	d, _, err := s.open()
	if err != nil {
		return err
	}
	def, err := a.openLaunchable(m.kernel, nil, nil)
	if err != nil {
		return err
	}
	compiler, err := a.compiler(s.choice())
	if err != nil {
		return err
	}
	configs, of, err := sampleConfigs(def, m.sample)
	if err != nil {
		return err
	}
	bar := a.progress("configurations")
	batch := evaluate.Batch{Compiler: compiler, Assembler: compiler.Assembler(), Arch: d, Slots: s.slots, Without: m.without, Done: bar.update}
	built, err := batch.Builds(ctx, def, configs, nil)
	bar.finish()
	if err != nil {
		return err
	}
	builds := make([]fidelity.Built, len(built))
	for i := range built {
		builds[i] = occupied(def, d, configs[i], built[i])
	}
	r := fidelity.CompareRegisters(builds)
	r.Kernel, r.Arch, r.Of = def.Name, d.Name, of
	if a.json {
		return a.printJSON(r)
	}
	return fidelity.PrintRegisters(a.stdout, &r)
}

// sampleConfigs draws n configurations of a kernel by a fixed seed, in the order of the space; 0: registersSample.
func sampleConfigs(def *kernel.Definition, n int) (configs []search.Config, of int64, err error) {
	space, err := def.Space(nil, nil)
	if err != nil {
		return nil, 0, err
	}
	of = space.Size()
	if n == 0 {
		n = registersSample
	}
	var picked []int64
	if of <= int64(n) {
		for i := range of {
			picked = append(picked, i)
		}
	} else {
		draw, seen := rand.New(rand.NewPCG(sampleSeed, 0)), map[int64]bool{}
		for len(picked) < n {
			if i := draw.Int64N(of); !seen[i] {
				seen[i], picked = true, append(picked, i)
			}
		}
		slices.Sort(picked)
	}
	for _, i := range picked {
		configs = append(configs, space.At(i))
	}
	return configs, of, nil
}

func occupied(def *kernel.Definition, d *arch.Descriptor, config search.Config, b evaluate.Built) fidelity.Built {
	out := fidelity.Built{Config: config, Built: b}
	if l, err := def.Launch(config, nil); err == nil && b.Refused == nil {
		out.ModelCTAs, out.RealCTAs = b.Occupancies(d, int(l.Block[0]*l.Block[1]*l.Block[2]), l.DynamicShared)
	}
	return out
}
