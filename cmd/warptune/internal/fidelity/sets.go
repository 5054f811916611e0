package fidelity

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/simulate"
	"github.com/warptune/warptune/deploy/calibrate/datasets"
)

// datasetFlags name measured data sets, those of deploy/calibrate/datasets in a checkout.
type datasetFlags struct {
	name, dir string
	counters  bool
}

// allSets stands for every data set whose files are there.
const allSets = "all"

func (d *datasetFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&d.name, "dataset", "", "measured data set, by its name in the manifest, in place of --arch, --timings, --kernels and --ptx-dir; all: each whose files are there")
	f.StringVar(&d.dir, "datasets", "deploy/calibrate/datasets", "directory with manifest.json and the data sets")
	f.BoolVar(&d.counters, "counters", false, "of a data set, its profiled configurations and their counters in place of its times")
}

// fidelityOfSets scores the predictions of data sets, one after another; of several each begins with a line "# NAME".
func fidelityOfSets(a *cli.App, cmd *cobra.Command, s *simulate.Simulation, m *measured, d *datasetFlags) error {
	for _, flag := range []string{"arch", "timings", "kernel", "kernels", "ptx-dir"} {
		if cmd.Flags().Changed(flag) {
			return cli.Usagef("--%s: the data set says that: give --dataset alone", flag)
		}
	}
	manifest, err := datasets.Load(d.dir)
	if err != nil {
		return fmt.Errorf("%w: --datasets names the directory of the data sets, of a checkout of the repository", err)
	}
	sets := manifest.Here()
	if d.name != allSets {
		set, err := manifest.Find(d.name)
		if err != nil {
			return cli.Usagef("--dataset: %v, and %s", err, allSets)
		}
		if err := set.Missing(); err != nil {
			return err
		}
		sets = []*datasets.Set{set}
	} else if m.predictions != "" {
		return cli.Usagef("--predictions is of one data set, --dataset %s is several", allSets)
	}
	for _, set := range sets {
		file := set.Files.Timings
		if d.counters {
			if file = set.Files.Counters; file == "" && d.name == allSets {
				continue
			} else if file == "" {
				return cli.Usagef("--counters: no configuration of data set %s was profiled", set.Name)
			}
		}
		if d.name == allSets && !a.JSON {
			fmt.Fprintf(a.Stdout, "# %s\n\n", set.Name)
		}
		m.repeated = true
		s.Arch, s.PTXDir, m.timings, m.kernels = set.Arch, set.Path(set.Files.PTX), set.Path(file), set.Path(set.Files.Kernels)
		if err := fidelityOf(cmd.Context(), a, s, m); err != nil {
			return fmt.Errorf("data set %s: %w", set.Name, err)
		}
	}
	return nil
}
