package evaluate

import (
	"context"
	"errors"
	"slices"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ir/lower"
	ptxsource "github.com/warptune/warptune/simengine/ptx"
	"github.com/warptune/warptune/simengine/verify"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// Prepared is a configuration ready to be launched on a GPU.
type Prepared struct {
	Launch *call.Launch
	PTX    compile.Result
	Inputs *simengine.Inputs
	// Args are the launch's arguments as the simulator takes them. Inputs has textures, surfaces and
	// managed memory as buffers.
	Args []simengine.Arg
	// Cooperative says that it is a cooperative launch, asked for or needed by the kernel.
	Cooperative bool
	// Execution is what the simulator comes to that executes CTAs of the same launch; nil:
	// Unchecked says why there is none.
	Execution *simengine.Execution
	Unchecked string
	// Digest is that of the question which a prediction at the job's level answers.
	Digest string
}

// Tolerance is by how much elements of an argument's buffer may differ, and whether they
// are to be compared.
func (p *Prepared) Tolerance(name string) (share float64, compared bool) {
	for i := range p.Launch.Args {
		if a := &p.Launch.Args[i]; a.Name == name {
			return a.Tolerance, a.Answer != call.AnswerNone
		}
	}
	return 0, true
}

// Prepare compiles a job's configuration, executes some of its CTAs as the reference, and
// says what its launch is given. If failed is not nil there is nothing to launch: it is the
// configuration's outcome. The error is this machine's fault or the caller's cancellation.
func (e *Evaluator) Prepare(ctx context.Context, job Job) (p *Prepared, failure *tuner.Outcome, err error) {
	wrong := func(o tuner.Outcome, compiler string) (*Prepared, *tuner.Outcome, error) {
		o.Compiler = compiler
		return nil, &o, nil
	}
	launch, err := job.Kernel.Launch(job.Config, job.Problem)
	if err != nil {
		return wrong(failed(tuner.Constraints, err), "")
	}
	ptx, err := e.compiler.Compile(ctx, compile.Request{Compile: launch.Compile, Target: compile.Target(job.Arch.CC[0], job.Arch.CC[1])})
	var refused *compile.Error
	if errors.As(err, &refused) {
		return wrong(failed(tuner.Compile, err), "")
	} else if err != nil {
		return nil, nil, err
	}
	job.Answers, job.Assembler = nil, nil
	req, err := e.question(ctx, launch, ptx, &job)
	if err != nil {
		return wrong(failed(tuner.Constraints, err), ptx.Compiler)
	}
	module, err := e.engine.Parse(launch.Compile.SourceFile, ptx.PTX)
	if err != nil {
		return wrong(outcomeOf(err), ptx.Compiler)
	}
	p = &Prepared{Launch: launch, PTX: ptx, Digest: req.Digest(module.Digest)}
	p.Args, p.Cooperative = req.Args, req.Cooperative || meetsInGrid(ptx.PTX, launch.Compile.SourceFile, req.Kernel)
	plain := req
	plain.Args = slices.Clone(req.Args)
	for i := range plain.Args {
		plain.Args[i].Texture = nil
	}
	if p.Inputs, err = e.engine.Inputs(module, &plain); err != nil {
		return wrong(outcomeOf(inTerms(err, launch)), ptx.Compiler)
	}
	if job.Check == simengine.CheckNone {
		p.Unchecked = "not asked for"
		return p, nil, ctx.Err()
	}
	req.Check.Outputs, req.Check.Patient = true, true
	p.Execution, err = e.engine.Execute(module, req)
	var f *simengine.Failure
	switch {
	case errors.As(err, &f) && (f.Kind == simengine.FailureUnsupported || f.Kind == simengine.FailureTimeout):
		p.Execution, p.Unchecked = nil, "the simulator cannot execute it: "+f.Error()
	case err != nil:
		return wrong(outcomeOf(inTerms(err, launch)), ptx.Compiler)
	case p.Execution.Skipped != "":
		p.Unchecked = p.Execution.Skipped
	}
	return p, nil, ctx.Err()
}

// meetsInGrid reports whether a kernel waits for all CTAs of its grid in the workspace that a
// cooperative launch has.
func meetsInGrid(text []byte, name, kernel string) bool {
	tree, err := ptxsource.Parse(name, text)
	if err != nil {
		return false
	}
	module, err := lower.Build(tree)
	if err != nil {
		return false
	}
	k, err := module.Kernel(kernel)
	return err == nil && k.Cooperative()
}

// Outputs are what the executed CTAs wrote, by buffer as Inputs has them; nil: nothing is
// to be compared.
func (p *Prepared) Outputs() []verify.Output {
	if p.Execution == nil || p.Unchecked != "" {
		return nil
	}
	return p.Execution.Outputs
}

// CheckedOf says of an execution what was executed and looked for.
func CheckedOf(c *simengine.Checked) tuner.Checked { return checked(c) }
