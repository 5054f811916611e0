package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel"
)

func (a *app) spaceCommand() *cobra.Command {
	var q spaceQuestion
	var list bool
	cmd := &cobra.Command{
		Use:   "space KERNEL",
		Short: "Show a kernel's search space: parameters, conditions, sizes",
		Args:  exactly(1, kernelHelp),
		RunE: func(cmd *cobra.Command, args []string) error {
			defs, spaces, err := a.readSpaces(cmd.Context(), args[0], &q)
			if err != nil {
				return err
			}
			if list && len(defs) > 1 {
				_, err := q.groups.one(args[0], defs, q.problem)
				return err
			}
			if list {
				return a.listSpace(spaces[0])
			}
			if len(defs) > 1 {
				return a.printGroups(defs, spaces)
			}
			return a.printSpace(defs[0].Name, spaces[0])
		},
	}
	cmd.Flags().Int64SliceVar(&q.problem, "problem", nil, "problem size; default: the definition's")
	cmd.Flags().StringArrayVar(&q.sets, "set", nil, "restrict a parameter: NAME=V[,V…]; repeatable")
	q.groups.flags(cmd)
	cmd.Flags().BoolVar(&list, "list", false, "print every valid configuration, one a line")
	return cmd
}

// spaceQuestion says which space of a kernel is asked for.
type spaceQuestion struct {
	problem []int64
	sets    []string
	groups  groupFlag
}

// readSpaces loads a kernel, or those of a folder's groups, and solves the conditions.
func (a *app) readSpaces(ctx context.Context, name string, q *spaceQuestion) (defs []*kernel.Definition, spaces []*search.Space, err error) {
	spaces, err = atOnce(ctx, func() ([]*search.Space, error) {
		all, warnings, err := a.findKernels(name)
		if err != nil {
			return nil, err
		}
		a.warn(name, warnings)
		var problem []int64
		if defs, problem, err = q.groups.choose(name, all, q.problem); err != nil {
			return nil, err
		}
		set, err := parseSets(q.sets)
		if err != nil {
			return nil, err
		}
		var spaces []*search.Space
		for _, def := range defs {
			sizes, err := problems(def, problem)
			if err != nil {
				return nil, err
			}
			if len(sizes) > 1 {
				return nil, usagef("--problem: one problem size is wanted, got %d", len(sizes))
			}
			space, err := a.solve(ctx, def, sizes[0], set)
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
func (a *app) printGroups(defs []*kernel.Definition, spaces []*search.Space) error {
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
	if a.json {
		return a.printJSON(rows)
	}
	t := newTable(a.stdout, "GROUP", "KERNEL", "PROBLEM", "CONFIGURATIONS")
	for _, r := range rows {
		t.row(r.Group, r.Kernel, problemText(r.Problem), fmt.Sprint(r.Configs))
	}
	return t.flush()
}

// parseSets reads --set NAME=V[,V…] flags.
func parseSets(sets []string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, s := range sets {
		name, values, ok := strings.Cut(s, "=")
		if !ok || name == "" || values == "" {
			return nil, usagef("--set: %q is not NAME=V[,V…]", s)
		}
		out[name] = append(out[name], strings.Split(values, ",")...)
	}
	return out, nil
}

func (a *app) printSpace(name string, s *search.Space) error {
	type param struct {
		Name   string         `json:"name"`
		Values []search.Value `json:"values"`
	}
	var params []param
	for _, p := range s.Params() {
		params = append(params, param{p.Name, p.Values})
	}
	if a.json {
		return a.printJSON(struct {
			Kernel    string  `json:"kernel"`
			Params    []param `json:"parameters"`
			Cartesian int64   `json:"cartesian"`
			Valid     int64   `json:"valid"`
		}{name, params, s.Cartesian(), s.Size()})
	}
	t := newTable(a.stdout, "PARAMETER", "VALUES")
	for _, p := range params {
		texts := make([]string, len(p.Values))
		for i, v := range p.Values {
			texts[i] = v.String()
		}
		t.row(p.Name, strings.Join(texts, " "))
	}
	if err := t.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "%d configurations, %d valid\n", s.Cartesian(), s.Size())
	return err
}

func (a *app) listSpace(s *search.Space) error {
	for _, cfg := range s.All() {
		if a.json {
			if err := a.printJSON(cfg); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(a.stdout, cfg.String()); err != nil {
			return err
		}
	}
	return nil
}
