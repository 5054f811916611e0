package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
)

// openKernel loads KERNEL as the user names it: a built-in name, or a path to
// a T1 file. Warnings go to stderr.
func (a *app) openKernel(name string) (*kernel.Definition, error) {
	def, warnings, err := a.findKernel(name)
	if err != nil {
		return nil, err
	}
	a.warn(name, warnings)
	return def, nil
}

// openLaunchable is openKernel for what simulates: it refuses definitions none of
// whose configurations can be launched.
func (a *app) openLaunchable(name string) (*kernel.Definition, error) {
	def, err := a.openKernel(name)
	if err != nil {
		return nil, err
	}
	return def, launchable(name, def)
}

// launchable says with the name that the user gave why a kernel cannot be launched.
func launchable(name string, def *kernel.Definition) error {
	if err := def.Launchable(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// warn writes a definition's warnings to stderr.
func (a *app) warn(name string, warnings []kernel.Warning) {
	for _, w := range warnings {
		fmt.Fprintf(a.stderr, "warptune: warning: %s: %s: %s\n", name, w.Field, w.Message)
	}
}

func (a *app) findKernel(name string) (*kernel.Definition, []kernel.Warning, error) {
	if isPath(name) {
		return kernel.Load(name)
	}
	builtIn, err := catalogue.Open(name)
	if err != nil {
		return nil, nil, usageError{err}
	}
	def, err := builtIn.Definition()
	return def, nil, err
}

// isPath reports whether KERNEL is a path, and no built-in's name.
func isPath(name string) bool {
	return strings.HasSuffix(name, ".json") || strings.ContainsRune(name, filepath.Separator)
}

func (a *app) kernelsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kernels",
		Short: "List the built-in kernels",
		Args:  exactly(0, "no arguments"),
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
			if a.json {
				return a.printJSON(rows)
			}
			t := newTable(a.stdout, "KERNEL", "PROBLEM", "CONFIGURATIONS", "")
			for _, r := range rows {
				t.row(r.Name, strings.Trim(fmt.Sprint(r.Problem), "[]"), fmt.Sprint(r.Configs), r.Title)
			}
			return t.flush()
		},
	}
}
