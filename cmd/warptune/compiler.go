package main

import (
	"github.com/spf13/pflag"

	"github.com/warptune/warptune/tuner/kernel/compile"
)

// toolFlags say what makes a kernel's program: --compiler its PTX, --ptxas its machine code.
type toolFlags struct {
	compiler string
	ptxas    bool
}

func (t *toolFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&t.compiler, "compiler", "", "compile driver: prebuilt, nvcc or clang; default: the first that works, clang brought nearer to nvcc")
	f.BoolVar(&t.ptxas, "ptxas", false, "take registers, spills and static shared memory from CUDA's ptxas, which needs no GPU, instead of from the model of it")
}

// choice is both as compile.Options has them.
func (t *toolFlags) choice() string {
	if t.ptxas {
		return t.compiler + compile.WithPTXAS
	}
	return t.compiler
}

// compiler is the compile drivers that a choice names.
func (a *app) compiler(choice string) (*compile.Compiler, error) {
	c, err := compile.New(compile.Options{Compiler: choice})
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}
