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
	var problem []int64
	var sets []string
	var list bool
	cmd := &cobra.Command{
		Use:   "space KERNEL",
		Short: "Show a kernel's search space: parameters, conditions, sizes",
		Args:  exactly(1, "one kernel"),
		RunE: func(cmd *cobra.Command, args []string) error {
			def, space, err := a.readSpace(cmd.Context(), args[0], problem, sets)
			if err != nil {
				return err
			}
			if list {
				return a.listSpace(space)
			}
			return a.printSpace(def.Name, space)
		},
	}
	cmd.Flags().Int64SliceVar(&problem, "problem", nil, "problem size; default: the definition's")
	cmd.Flags().StringArrayVar(&sets, "set", nil, "restrict a parameter: NAME=V[,V…]; repeatable")
	cmd.Flags().BoolVar(&list, "list", false, "print every valid configuration, one a line")
	return cmd
}

// readSpace loads a kernel and solves its conditions.
func (a *app) readSpace(ctx context.Context, name string, problem []int64, sets []string) (*kernel.Definition, *search.Space, error) {
	var def *kernel.Definition
	space, err := atOnce(ctx, func() (_ *search.Space, err error) {
		if def, err = a.openKernel(name); err != nil {
			return nil, err
		}
		set, err := parseSets(sets)
		if err != nil {
			return nil, err
		}
		sizes, err := problems(def, problem)
		if err != nil {
			return nil, err
		}
		if len(sizes) > 1 {
			return nil, usagef("--problem: one problem size is wanted, got %d", len(sizes))
		}
		return a.solve(ctx, def, sizes[0], set)
	})
	if err != nil {
		return nil, nil, err
	}
	return def, space, nil
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
