package tune

import (
	"context"
	"fmt"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/tuner/rpc"
)

// lookCloser executes the best configuration of a sweep in full where its turn did not come, and
// replaces what its result says of checking. It returns what is wrong with it, "" for nothing. A
// configuration that cannot be compiled here stays as it is.
func lookCloser(ctx context.Context, a *cli.App, p *plan.Plan, i int, names []string, best *warptunev1.Result) (wrong string, err error) {
	o, spec := best.GetOutcome(), p.Specs[i]
	depth, err := simengine.ParseDepth(spec.GetCheck())
	if err != nil || depth != simengine.CheckSample || o.GetChecked().GetOf() == 0 || o.GetChecked().GetFull() > 0 {
		return "", err
	}
	level, err := simengine.ParseLevel(message.LastLevel(spec))
	if err != nil {
		return "", err
	}
	compiler, err := input.Compiler(a, spec.GetCompiler())
	if err != nil {
		return "", err
	}
	out, report, err := evaluate.New(compiler).Evaluate(ctx, evaluate.Job{
		Kernel: p.Of[i].Def, Config: search.Config{Names: names, Values: rpc.ToValues(best.GetConfig())}, Problem: spec.GetProblem(),
		Arch: p.Of[i].Arch.Descriptor, Level: level, Warn: spec.GetFaults() == "warn", Answers: evaluate.NewAnswers(), Closely: true, Assembler: compiler.Assembler(),
	})
	switch {
	case err != nil || out.Compiler != o.GetCompiler():
		return "", err
	case report == nil:
		return fmt.Sprintf("%s: %s", message.OutcomeName(warptunev1.Validity(out.Validity)), cli.OneLineText(out.Message)), nil
	}
	o.Checked = message.ReportChecked(&report.Checked)
	return "", nil
}
