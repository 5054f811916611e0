package functional_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// table is a kernel of the name evaluate that is a table of functions: row blockIdx.y of its grid is the
// function of that number, and a thread has a column. It takes what it reads and where it
// writes, all of one type.
type table struct {
	source        string
	elem          call.Type
	rows, columns int
	block         int      // threads of a CTA
	dynamic       int      // bytes of shared memory
	options       []string // of the compiler
}

// cases are those of a switch that sets a variable to one of some expressions.
func cases(variable string, calls []string) string {
	var b strings.Builder
	for i, call := range calls {
		fmt.Fprintf(&b, "    case %d: %s = %s; break;\n", i, variable, call)
	}
	return b.String()
}

// evaluate compiles the table by clang for a target and executes it. It returns what is written, row by row.
func (f *table) evaluate(t *testing.T, target string, in ...[]byte) []byte {
	t.Helper()
	return f.evaluateBy(t, needClang(t), target, in...)
}

func (f *table) evaluateBy(t *testing.T, driver compile.Driver, target string, in ...[]byte) []byte {
	t.Helper()
	launch := &call.Launch{
		KernelName: "evaluate",
		Grid:       [3]int64{int64(f.columns / f.block), int64(f.rows), 1}, Block: [3]int64{int64(f.block), 1, 1},
		DynamicShared: f.dynamic,
		Compile:       call.Compile{Language: call.CUDA, SourceFile: "evaluate.cu", Source: []byte(f.source), Options: f.options},
	}
	before := map[string][]byte{}
	add := func(name string, content []byte) {
		launch.Args = append(launch.Args, call.Arg{Name: name, Type: f.elem, Lanes: 1, Count: int64(len(content) / f.elem.Bytes())})
		before[name] = content
	}
	for i, content := range in {
		add(fmt.Sprint("in", i), content)
	}
	add("out", make([]byte, f.rows*f.columns*f.elem.Bytes()))
	res, err := driver.Compile(t.Context(), compile.Request{Compile: launch.Compile, Target: target})
	if err != nil {
		t.Fatal(err)
	}
	after, err := run(launch, res.PTX, before)
	if err != nil {
		t.Fatal(err)
	}
	return after["out"]
}
