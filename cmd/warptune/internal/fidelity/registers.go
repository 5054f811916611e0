package fidelity

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/simulate"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
)

// registersSample is how many configurations of a kernel are compared where nobody says.
const registersSample = 256

// fidelityOfRegisters compares the assembler model with ptxas for configurations of a kernel: no GPU, nothing simulated.
func fidelityOfRegisters(ctx context.Context, a *cli.App, s *simulate.Simulation, m *measured) error {
	batch, done, err := s.Open(a)
	if err != nil {
		return err
	}
	defer done()
	defs, _, err := input.FindKernels(a, m.kernel)
	if err == nil {
		defs, err = input.LaunchableOf(a, m.kernel, defs)
	}
	if err != nil {
		return err
	}
	batch.Without = m.without
	var all []fidelity.Registers
	for _, def := range defs {
		r, err := compareRegisters(ctx, a, *batch, def, m.sample)
		if err != nil {
			return err
		}
		all = append(all, r)
		if !a.JSON {
			if err := fidelity.PrintRegisters(a.Stdout, &r); err != nil {
				return err
			}
		}
	}
	if a.JSON {
		return a.PrintJSON(all)
	}
	return nil
}

// compareRegisters compares them for one kernel, or one group of launch records.
func compareRegisters(ctx context.Context, a *cli.App, batch evaluate.Batch, def *kernel.Definition, sample int) (fidelity.Registers, error) {
	configs, of, err := sampleConfigs(def, sample)
	if err != nil {
		return fidelity.Registers{}, err
	}
	bar := a.Progress("configurations")
	batch.Done = bar.Update
	built, err := batch.Builds(ctx, def, configs, nil)
	bar.Finish()
	if err != nil {
		return fidelity.Registers{}, err
	}
	builds := make([]fidelity.Built, len(built))
	for i := range built {
		builds[i] = occupied(def, batch.Arch, configs[i], built[i])
	}
	r := fidelity.CompareRegisters(builds)
	r.Kernel, r.Arch, r.Of = def.Name, batch.Arch.Name, of
	return r, nil
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
