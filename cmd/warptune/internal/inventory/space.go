package inventory

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel"
)

// SpaceCommand is warptune space.
func SpaceCommand(a *cli.App) *cobra.Command {
	var q spaceQuestion
	var list bool
	cmd := &cobra.Command{
		Use:   "space KERNEL",
		Short: "Show a kernel's search space: parameters, conditions, sizes",
		Args:  cli.Exactly(1, input.KernelHelp),
		RunE: func(cmd *cobra.Command, args []string) error {
			defs, spaces, err := readSpaces(cmd.Context(), a, args[0], &q)
			if err != nil {
				return err
			}
			if list && len(defs) > 1 {
				_, err := q.groups.One(args[0], defs, q.problem)
				return err
			}
			if list {
				return listSpace(a, spaces[0])
			}
			if len(defs) > 1 {
				return printGroups(a, defs, spaces)
			}
			return printSpace(a, defs[0].Name, spaces[0])
		},
	}
	cmd.Flags().Int64SliceVar(&q.problem, "problem", nil, "problem size; default: the definition's")
	cmd.Flags().StringArrayVar(&q.sets, "set", nil, "restrict a parameter: NAME=V[,V…]; repeatable")
	q.groups.Flags(cmd)
	cmd.Flags().BoolVar(&list, "list", false, "print every valid configuration, one a line")
	return cmd
}

// spaceQuestion says which space of a kernel is asked for.
type spaceQuestion struct {
	problem []int64
	sets    []string
	groups  input.Groups
}

// readSpaces loads a kernel, or those of a folder's groups, and solves the conditions.
func readSpaces(ctx context.Context, a *cli.App, name string, q *spaceQuestion) (defs []*kernel.Definition, spaces []*search.Space, err error) {
	spaces, err = input.AtOnce(ctx, func() ([]*search.Space, error) {
		all, warnings, err := input.FindKernels(a, name)
		if err != nil {
			return nil, err
		}
		input.Warn(a, name, warnings)
		var problem []int64
		if defs, problem, err = q.groups.Choose(name, all, q.problem); err != nil {
			return nil, err
		}
		set, err := input.ParseSets(q.sets)
		if err != nil {
			return nil, err
		}
		var spaces []*search.Space
		for _, def := range defs {
			sizes, err := input.Problems(def, problem)
			if err != nil {
				return nil, err
			}
			if len(sizes) > 1 {
				return nil, cli.Usagef("--problem: one problem size is wanted, got %d", len(sizes))
			}
			space, err := input.Solve(ctx, a, def, sizes[0], set)
			if err != nil {
				return nil, err
			}
			spaces = append(spaces, space)
		}
		return spaces, nil
	})
	return defs, spaces, err
}

// printGroups lists the groups of a folder of launch records.
func printGroups(a *cli.App, defs []*kernel.Definition, spaces []*search.Space) error {
	type row struct {
		Group   string  `json:"group"`
		Kernel  string  `json:"kernel"`
		Problem []int64 `json:"problem_size"`
		Configs int64   `json:"configurations"`
	}
	var rows []row
	for i, d := range defs {
		rows = append(rows, row{d.Group, d.Name, d.Problem, spaces[i].Size()})
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	t := cli.NewTable(a.Stdout, "GROUP", "KERNEL", "PROBLEM", "CONFIGURATIONS")
	for _, r := range rows {
		t.Row(r.Group, r.Kernel, message.ProblemText(r.Problem), fmt.Sprint(r.Configs))
	}
	return t.Flush()
}

func printSpace(a *cli.App, name string, s *search.Space) error {
	type param struct {
		Name   string         `json:"name"`
		Values []search.Value `json:"values"`
	}
	var params []param
	for _, p := range s.Params() {
		params = append(params, param{p.Name, p.Values})
	}
	if a.JSON {
		return a.PrintJSON(struct {
			Kernel    string  `json:"kernel"`
			Params    []param `json:"parameters"`
			Cartesian int64   `json:"cartesian"`
			Valid     int64   `json:"valid"`
		}{name, params, s.Cartesian(), s.Size()})
	}
	t := cli.NewTable(a.Stdout, "PARAMETER", "VALUES")
	for _, p := range params {
		texts := make([]string, len(p.Values))
		for i, v := range p.Values {
			texts[i] = v.String()
		}
		t.Row(p.Name, strings.Join(texts, " "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Stdout, "%d configurations, %d valid\n", s.Cartesian(), s.Size())
	return err
}

func listSpace(a *cli.App, s *search.Space) error {
	for _, cfg := range s.All() {
		if a.JSON {
			if err := a.PrintJSON(cfg); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(a.Stdout, cfg.String()); err != nil {
			return err
		}
	}
	return nil
}
