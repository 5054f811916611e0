package inventory

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
)

// KernelsCommand is warptune kernels.
func KernelsCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "kernels",
		Short: "List the built-in kernels",
		Args:  cli.Exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			type row struct {
				Name    string  `json:"name"`
				Title   string  `json:"title"`
				Problem []int64 `json:"problem_size"`
				Configs int64   `json:"configurations"`
			}
			var rows []row
			for _, k := range catalogue.All() {
				def, err := k.Definition()
				if err != nil {
					return err
				}
				space, err := def.Space(nil, nil)
				if err != nil {
					return fmt.Errorf("%s: %w", k.Name, err)
				}
				rows = append(rows, row{k.Name, k.Title, def.Problem, space.Size()})
			}
			if a.JSON {
				return a.PrintJSON(rows)
			}
			t := cli.NewTable(a.Stdout, "KERNEL", "PROBLEM", "CONFIGURATIONS", "")
			for _, r := range rows {
				t.Row(r.Name, strings.Trim(fmt.Sprint(r.Problem), "[]"), fmt.Sprint(r.Configs), r.Title)
			}
			return t.Flush()
		},
	}
}
