package main

import (
	"context"
	"fmt"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/tuner/rpc"
)

// lookCloser executes the best configuration of a sweep in full where its turn did not come, and
// replaces what its result says of checking. It returns what is wrong with it, "" for nothing. A
// configuration that cannot be compiled here stays as it is.
func (a *app) lookCloser(ctx context.Context, p *plan, i int, names []string, best *warptunev1.Result) (wrong string, err error) {
	o, spec := best.GetOutcome(), p.specs[i]
	depth, err := simengine.ParseDepth(spec.GetCheck())
	if err != nil || depth != simengine.CheckSample || o.GetChecked().GetOf() == 0 || o.GetChecked().GetFull() > 0 {
		return "", err
	}
	level, err := simengine.ParseLevel(lastLevel(spec))
	if err != nil {
		return "", err
	}
	compiler, err := a.compiler(spec.GetCompiler())
	if err != nil {
		return "", err
	}
	out, report, err := evaluate.New(compiler).Evaluate(ctx, evaluate.Job{
		Kernel: p.of[i].def, Config: search.Config{Names: names, Values: rpc.ToValues(best.GetConfig())}, Problem: spec.GetProblem(),
		Arch: p.of[i].arch.Descriptor, Level: level, Warn: spec.GetFaults() == "warn", Answers: evaluate.NewAnswers(), Closely: true, Assembler: compiler.Assembler(),
	})
	switch {
	case err != nil || out.Compiler != o.GetCompiler():
		return "", err
	case report == nil:
		return fmt.Sprintf("%s: %s", outcomeName(warptunev1.Validity(out.Validity)), oneLineText(out.Message)), nil
	}
	o.Checked = reportChecked(&report.Checked)
	return "", nil
}
