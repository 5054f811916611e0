// Package inventory has the commands that say what there is: kernels, archs, and the space
// of a kernel.
package inventory

import (
	"fmt"
	"sort"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/simengine/arch"
)

// ArchsCommand is warptune archs.
func ArchsCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "archs [NAME]",
		Short: "List the architectures, or one with every number and its source",
		Args:  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("warptune archs: want at most one name, got %d", len(args))
			}
			if len(args) == 1 {
				return oneArch(a, args[0])
			}
			return allArchs(a)
		},
	}
}

func allArchs(a *cli.App) error {
	type row struct {
		Name  string  `json:"name"`
		Title string  `json:"title"`
		CC    string  `json:"compute_capability"`
		SMs   int     `json:"sms"`
		Clock float64 `json:"clock_mhz"`
		DRAM  float64 `json:"dram_gb_per_s"`
		L2    int     `json:"l2_bytes"`
		// Verified is how many of the descriptor's figures somebody measured or read again.
		Verified int `json:"verified_figures"`
		Figures  int `json:"figures"`
	}
	var rows []row
	for _, name := range arch.Names() {
		d, err := arch.Load(name)
		if err != nil {
			return err
		}
		unverified, figures := fidelity.Unverified(d)
		rows = append(rows, row{d.Name, d.Title, fmt.Sprintf("%d.%d", d.CC[0], d.CC[1]), d.SMs, d.ClockMHz, d.DRAMBytesPerSecond / 1e9, d.L2Bytes, figures - unverified, figures})
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	t := cli.NewTable(a.Stdout, "NAME", "CC", "SMS", "MHZ", "DRAM GB/S", "L2", "VERIFIED", "TITLE")
	for _, r := range rows {
		t.Row(r.Name, r.CC, fmt.Sprint(r.SMs), fmt.Sprintf("%.0f", r.Clock), fmt.Sprintf("%.0f", r.DRAM), cli.BytesText(float64(r.L2)), fmt.Sprintf("%d of %d", r.Verified, r.Figures), r.Title)
	}
	return t.Flush()
}

func oneArch(a *cli.App, name string) error {
	d, err := cluster.LoadArch(name)
	if err != nil {
		return cli.Usage(err)
	}
	if a.JSON {
		return a.PrintJSON(struct {
			Name    string                 `json:"name"`
			Title   string                 `json:"title"`
			CC      [2]int                 `json:"compute_capability"`
			Digest  string                 `json:"digest"`
			Numbers map[string]arch.Number `json:"numbers"`
		}{d.Name, d.Title, d.CC, d.Digest, d.Numbers})
	}
	fmt.Fprintf(a.Stdout, "%s: %s, compute capability %d.%d, digest %.12s\n", d.Name, d.Title, d.CC[0], d.CC[1], d.Digest)
	names := make([]string, 0, len(d.Numbers))
	for n := range d.Numbers {
		names = append(names, n)
	}
	sort.Strings(names)
	t := cli.NewTable(a.Stdout, "NUMBER", "VALUE", "UNIT", "SOURCE")
	for _, n := range names {
		v := d.Numbers[n]
		source := v.Source
		if !v.Verified {
			source += " (not verified)"
		}
		t.Row(n, fmt.Sprintf("%g", v.Value), v.Unit, source)
	}
	return t.Flush()
}
