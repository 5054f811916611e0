// Package input reads what several commands are given: kernels, groups of launch records,
// problem sizes, architectures, configurations, compilers, checks, recorded spaces.
package input

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
)

// KernelHelp is what KERNEL may be.
const KernelHelp = "one kernel: a built-in name, a path to a T1 file, or a folder of launch records"

// OpenKernel loads KERNEL as the user names it: a built-in name, a path to a T1
// file, or a folder of launch records, of which groups and problem choose one group.
// Warnings go to stderr.
func OpenKernel(a *cli.App, name string, groups Groups, problem []int64) (*kernel.Definition, error) {
	defs, warnings, err := FindKernels(a, name)
	if err != nil {
		return nil, err
	}
	def, err := groups.One(name, defs, problem)
	if err != nil {
		return nil, err
	}
	Warn(a, name, warnings)
	return def, nil
}

// OpenLaunchable is OpenKernel for what simulates: it refuses definitions none of
// whose configurations can be launched.
func OpenLaunchable(a *cli.App, name string, groups Groups, problem []int64) (*kernel.Definition, error) {
	def, err := OpenKernel(a, name, groups, problem)
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

// LaunchableOf returns the kernels that can be launched. Of a folder's groups, those that
// cannot are left out, and stderr says so.
func LaunchableOf(a *cli.App, name string, defs []*kernel.Definition) ([]*kernel.Definition, error) {
	var can []*kernel.Definition
	var first error
	for _, def := range defs {
		err := launchable(name, def)
		switch {
		case err == nil:
			can = append(can, def)
		case len(defs) > 1:
			fmt.Fprintf(a.Stderr, "warptune: warning: left out: %v\n", err)
		}
		first = cmp.Or(first, err)
	}
	if len(can) == 0 {
		return nil, first
	}
	return can, nil
}

// Warn writes a definition's warnings to stderr.
func Warn(a *cli.App, name string, warnings []kernel.Warning) {
	for _, w := range warnings {
		fmt.Fprintf(a.Stderr, "warptune: warning: %s: %s: %s\n", name, w.Field, w.Message)
	}
}

// FindKernels loads KERNEL: one definition, or those of a folder's groups.
func FindKernels(a *cli.App, name string) ([]*kernel.Definition, []kernel.Warning, error) {
	builtIn, err := catalogue.Open(name)
	if IsPath(name) || err != nil && kernel.IsLaunchFolder(name) {
		return loadKernels(a, name)
	}
	if err != nil {
		return nil, nil, cli.Usage(err)
	}
	def, err := builtIn.Definition()
	return []*kernel.Definition{def}, nil, err
}

// loadKernels loads a definition's file, or a folder of launch records.
func loadKernels(a *cli.App, name string) ([]*kernel.Definition, []kernel.Warning, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		defs, err := kernel.LoadFolder(name)
		return defs, nil, err
	}
	def, warnings, err := kernel.Load(name)
	return []*kernel.Definition{def}, warnings, err
}

// IsPath reports whether KERNEL is a path, and no built-in's name.
func IsPath(name string) bool {
	return strings.HasSuffix(name, ".json") || strings.ContainsRune(name, filepath.Separator)
}
