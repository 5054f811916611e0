// Package calibration has warptune calibrate: a descriptor of what was measured of a GPU.
package calibration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/internal/measure"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
	"github.com/warptune/warptune/cmd/internal/microbench"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/simengine/arch/calibrate"
)

// calibration is what a descriptor is made of.
type calibration struct {
	name, title, base, source, output string
	kept                              string // where the results go, too
	gpu                               measure.Options
}

// Command is warptune calibrate.
func Command(a *cli.App) *cobra.Command {
	var c calibration
	cmd := &cobra.Command{
		Use:   "calibrate [RESULTS.jsonl[.gz] --name NAME --base cc9.0]",
		Short: "Make an architecture descriptor of this machine's GPU",
		Long: "Make an architecture descriptor of this machine's GPU: microbenchmarks measure it, in about a\n" +
			"minute, by the driver alone. Whatever takes --arch takes the file: --arch FILE.json. Every\n" +
			"figure carries its source: the microbenchmark, or the nearest known architecture where there\n" +
			"is none. Given RESULTS, as deploy/calibrate/microbench/run.sh writes them, nothing is measured.",
		Args: cli.AtMost(1, "at most one file of results"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return calibrateHere(cmd.Context(), a, &c)
			}
			if c.name == "" || c.base == "" {
				return cli.Usagef("--name and --base are required, e.g. --name mygpu --base cc9.0 (or the name of a like architecture)")
			}
			return calibrateFrom(a, args[0], &c)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.name, "name", "", "the architecture's name; default: of the GPU's name")
	f.StringVar(&c.title, "title", "", "what it is, e.g. \"NVIDIA H100 SXM5 80 GB\"; default: the GPU's name")
	f.StringVar(&c.base, "base", "", "where figures that were not measured come from: a base such as cc8.6, or an architecture; default: the nearest known")
	f.StringVar(&c.source, "source", "", "what the descriptor names as its source; default: the GPU, its driver and the day, or the results file")
	f.StringVar(&c.kept, "results", "", "file that what was measured is written to, too, one JSON object a line")
	f.StringVarP(&c.output, "output", "o", "", "file to write; default: standard output")
	f.IntVar(&c.gpu.Device, "device", 0, "number of the GPU to measure, from 0")
	f.BoolVar(&c.gpu.Shared, "shared", false, "measure although other processes use the GPU")
	f.DurationVar(&c.gpu.Limit, "limit", measure.DefaultLimit, "longest time of one microbenchmark; what takes longer hangs, and is ended")
	return cmd
}

// calibrateFrom makes a descriptor of a file of results.
func calibrateFrom(a *cli.App, file string, c *calibration) error {
	content, err := results.Content(file)
	if err != nil {
		return err
	}
	parsed, err := calibrate.Parse(content)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if c.title == "" {
		c.title = c.name
	}
	if c.source == "" {
		c.source = filepath.ToSlash(file)
	}
	return describe(a, parsed, c)
}

// calibrateHere makes a descriptor of this machine's GPU.
func calibrateHere(ctx context.Context, a *cli.App, c *calibration) error {
	if c.gpu.Limit <= 0 {
		return cli.Usagef("--limit must be positive, got %v", c.gpu.Limit)
	}
	m, err := measure.Open(ctx, c.gpu)
	if err != nil {
		return err
	}
	defer m.Close()
	d := m.Device()
	if err := c.complete(&d, time.Now()); err != nil {
		return err
	}
	began := time.Now()
	all, skipped, err := microbench.Run(ctx, m, func(program string) { fmt.Fprintf(a.Stderr, "warptune: measuring: %s\n", program) })
	if err != nil {
		return err
	}
	if c.kept != "" {
		lines, err := microbench.Lines(all)
		if err == nil {
			err = os.WriteFile(c.kept, lines, 0o644)
		}
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(a.Stderr, "warptune: %s was measured in %.0f s\n", d.GPU, time.Since(began).Seconds())
	for _, s := range skipped {
		fmt.Fprintf(a.Stderr, "warptune: microbenchmark %s was skipped: %s\n", s.Program, s.Why)
	}
	return describe(a, all, c)
}

// complete fills in what the flags left open.
func (c *calibration) complete(d *wire.Device, now time.Time) error {
	short := strings.TrimPrefix(strings.ToLower(d.GPU), "nvidia ")
	if c.name == "" {
		c.name = strings.Join(strings.Fields(short), "-") + "-calibrated"
	}
	if c.title == "" {
		c.title = d.GPU
	}
	if c.source == "" {
		c.source = fmt.Sprintf("warptune calibrate, %s, driver %s, %s:", d.GPU, d.Driver, now.UTC().Format(time.DateOnly))
	}
	if c.base == "" {
		base, err := calibrate.Nearest(d.GPU, d.CC, d.SMs)
		if err != nil {
			return err
		}
		c.base = base
	}
	return nil
}

// describe renders the descriptor, and says what it took over and where it differs from its base.
func describe(a *cli.App, all calibrate.Results, c *calibration) error {
	text, err := calibrate.Descriptor(all, c.name, c.title, c.base, c.source)
	if err != nil {
		return err
	}
	taken, different := calibrate.Compare(text)
	if len(different) > 0 {
		fmt.Fprintf(a.Stderr, "warptune: %d figures are more than 10 %% off those of %s: %s\n", len(different), c.base, strings.Join(different, ", "))
	}
	if len(taken) > 0 {
		fmt.Fprintf(a.Stderr, "warptune: not measured, taken from %s: %s\n", c.base, strings.Join(taken, ", "))
	}
	if c.output == "" {
		_, err = a.Stdout.Write(text)
		return err
	}
	if err := os.WriteFile(c.output, text, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "warptune: wrote %s: use it by --arch %s\n", c.output, c.output)
	return nil
}
