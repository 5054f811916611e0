package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/search"
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
			def, err := a.openKernel(args[0])
			if err != nil {
				return err
			}
			set, err := parseSets(sets)
			if err != nil {
				return err
			}
			sizes, err := problems(def, problem)
			if err != nil {
				return err
			}
			if len(sizes) > 1 {
				return usagef("--problem: one problem size is wanted, got %d", len(sizes))
			}
			space, err := a.solve(cmd.Context(), def, sizes[0], set)
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
