package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
)

// kernelHelp is what KERNEL may be.
const kernelHelp = "one kernel: a built-in name, a path to a T1 file, or a folder of launch records"

// openKernel loads KERNEL as the user names it: a built-in name, a path to a T1
// file, or a folder of launch records, of which groups and problem choose one group.
// Warnings go to stderr.
func (a *app) openKernel(name string, groups groupFlag, problem []int64) (*kernel.Definition, error) {
	defs, warnings, err := a.findKernels(name)
	if err != nil {
		return nil, err
	}
	def, err := groups.one(name, defs, problem)
	if err != nil {
		return nil, err
	}
	a.warn(name, warnings)
	return def, nil
}

// openLaunchable is openKernel for what simulates: it refuses definitions none of
// whose configurations can be launched.
func (a *app) openLaunchable(name string, groups groupFlag, problem []int64) (*kernel.Definition, error) {
	def, err := a.openKernel(name, groups, problem)
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

// launchableOf returns the kernels that can be launched. Of a folder's groups, those that
// cannot are left out, and stderr says so.
func (a *app) launchableOf(name string, defs []*kernel.Definition) ([]*kernel.Definition, error) {
	var can []*kernel.Definition
	var first error
	for _, def := range defs {
		err := launchable(name, def)
		switch {
		case err == nil:
			can = append(can, def)
		case len(defs) > 1:
			fmt.Fprintf(a.stderr, "warptune: warning: left out: %v\n", err)
		}
		first = cmp.Or(first, err)
	}
	if len(can) == 0 {
		return nil, first
	}
	return can, nil
}

// warn writes a definition's warnings to stderr.
func (a *app) warn(name string, warnings []kernel.Warning) {
	for _, w := range warnings {
		fmt.Fprintf(a.stderr, "warptune: warning: %s: %s: %s\n", name, w.Field, w.Message)
	}
}

// findKernels loads KERNEL: one definition, or those of a folder's groups.
func (a *app) findKernels(name string) ([]*kernel.Definition, []kernel.Warning, error) {
	builtIn, err := catalogue.Open(name)
	if isPath(name) || err != nil && kernel.IsLaunchFolder(name) {
		return a.loadKernels(name)
	}
	if err != nil {
		return nil, nil, usageError{err}
	}
	def, err := builtIn.Definition()
	return []*kernel.Definition{def}, nil, err
}

// loadKernels loads a definition's file, or a folder of launch records.
func (a *app) loadKernels(name string) ([]*kernel.Definition, []kernel.Warning, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		defs, err := kernel.LoadFolder(name)
		return defs, nil, err
	}
	def, warnings, err := kernel.Load(name)
	return []*kernel.Definition{def}, warnings, err
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
