package input

import (
	"github.com/spf13/pflag"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// ToolFlags say what makes a kernel's program: --compiler its PTX, --ptxas its machine code.
type ToolFlags struct {
	compiler string
	PTXAS    bool
}

// Flags adds --compiler and --ptxas.
func (t *ToolFlags) Flags(f *pflag.FlagSet) {
	f.StringVar(&t.compiler, "compiler", "", "compile driver: prebuilt, nvcc or clang; default: the first that works, clang brought nearer to nvcc")
	f.BoolVar(&t.PTXAS, "ptxas", false, "take registers, spills and static shared memory from CUDA's ptxas, which needs no GPU, instead of from the model of it")
}

// Choice is both as compile.Options has them.
func (t *ToolFlags) Choice() string {
	if t.PTXAS {
		return t.compiler + compile.WithPTXAS
	}
	return t.compiler
}

// Compiler is the compile drivers that a choice names.
func Compiler(a *cli.App, choice string) (*compile.Compiler, error) {
	c, err := compile.New(compile.Options{Compiler: choice})
	if err != nil {
		return nil, cli.Usage(err)
	}
	return c, nil
}
