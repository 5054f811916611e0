package evaluate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ideal"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// Compiler gives the PTX of a configuration: compile.Compiler, or PTX that the
// user has.
type Compiler interface {
	Compile(ctx context.Context, r compile.Request) (compile.Result, error)
	// Made gives what Compile would if no compiler has to run for it.
	Made(ctx context.Context, r compile.Request) (compile.Result, bool)
}

// Evaluator evaluates configurations, one at a time: make one for each slot.
// What its evaluations share (parsed PTX, assembled kernels) it keeps.
type Evaluator struct {
	compiler Compiler
	engine   *simengine.Engine
}

// New makes an evaluator. Evaluators may share a compiler.
func New(c Compiler) *Evaluator {
	room()
	return &Evaluator{compiler: c, engine: simengine.New()}
}

// With is the evaluator with another compiler; what it keeps it goes on keeping.
func (e *Evaluator) With(c Compiler) *Evaluator { return &Evaluator{compiler: c, engine: e.engine} }

// Job is one configuration to evaluate.
type Job struct {
	Kernel  *kernel.Definition
	Config  search.Config
	Problem []int64 // nil: the definition's own
	Arch    *arch.Descriptor
	Level   simengine.Level
	Cold    bool // a launch by itself, as a profiler makes one
	// Repeated says that it stores what one before it stored.
	Repeated bool
	Check    simengine.Depth
	Warn     bool // harmless faults are warnings
	// Answers has what the configuration's outputs are compared with; nil: they are not. Peers are
	// the configurations that can be, nil: those of the kernel's space.
	Answers *Answers
	Peers   *Peers
	// Closely executes CTAs in full and compares what they write whether or not it is the launch's turn.
	Closely bool
	// Without are rules of the assembler model to leave out.
	Without []string
	// Assembler says registers, spills and static shared memory; nil: the model of one does.
	Assembler *compile.PTXAS
	// Modelled has the model say them even where a launch record does.
	Modelled bool
	// Ideal is mechanisms that are to cost nothing; Lines asks for what each source line does.
	Ideal ideal.Set
	Lines bool
	// Known finds the outcome of a question that was answered before, by its
	// digest; nil: none is known.
	Known func(ctx context.Context, digest string) (tuner.Outcome, bool)
}

// Evaluate answers a job. The outcome is the configuration's, and the same
// everywhere; the error is this machine's fault or the caller's cancellation.
// The report is nil unless the outcome is correct and was not known.
func (e *Evaluator) Evaluate(ctx context.Context, job Job) (tuner.Outcome, *simengine.Report, error) {
	launch, err := job.Kernel.Launch(job.Config, job.Problem)
	if err != nil {
		return failed(tuner.Constraints, err), nil, nil
	}
	if err := unlaunchable(launch, job.Arch); err != nil {
		return outcomeOf(err), nil, nil
	}
	ptx, err := e.compiler.Compile(ctx, compile.Request{Compile: launch.Compile, Target: job.target(), Lines: job.Lines})
	if err != nil {
		var refused *compile.Error
		if errors.As(err, &refused) {
			return failed(tuner.Compile, err), nil, nil
		}
		return tuner.Outcome{}, nil, err
	}
	if err := ctx.Err(); err != nil {
		return tuner.Outcome{}, nil, err
	}
	out, report, err := e.simulate(ctx, launch, ptx, &job)
	out.Compiler = job.compiler(ctx, launch, ptx)
	return out, report, err
}

// question is what the simulator is asked for a job.
func (e *Evaluator) question(ctx context.Context, launch *call.Launch, ptx compile.Result, job *Job) (simengine.Request, error) {
	req, err := request(launch, job.Arch, job.Level)
	if err != nil {
		return req, err
	}
	if err := job.assembledBy(ctx, launch, &req); err != nil {
		return req, err
	}
	req.Cold, req.Repeated = job.Cold, job.Repeated
	req.Ideal, req.Lines = job.Ideal, job.Lines && job.Ideal == 0 // of an ideal machine's lines nothing is asked
	req.Without, req.Kernel = job.Without, entryOf(ptx, launch)
	req.Check = simengine.Check{Depth: job.Check, Warn: job.Warn}
	if job.Answers != nil && job.Check != simengine.CheckNone {
		req.Check.Outputs = true
		req.Check.Against, req.Check.Always, err = job.Answers.name(job, e.compiler)
		req.Check.Always = req.Check.Always || job.Closely
	}
	return req, err
}

// entryOf is the kernel's name in the PTX.
func entryOf(ptx compile.Result, launch *call.Launch) string {
	return cmp.Or(ptx.Entry, launch.KernelName)
}

// Digest returns the digest that a job's outcome will carry; false if it will
// carry none, or a compiler would have to run to know it.
func (e *Evaluator) Digest(ctx context.Context, job Job) (string, bool) {
	launch, err := job.Kernel.Launch(job.Config, job.Problem)
	if err != nil {
		return "", false
	}
	ptx, ok := e.compiler.Made(ctx, compile.Request{Compile: launch.Compile, Target: job.target()})
	if !ok || ptx.Digest == "" {
		return "", false
	}
	req, err := e.question(ctx, launch, ptx, &job)
	if err != nil {
		return "", false
	}
	return req.Digest(ptx.Digest), true
}

func (e *Evaluator) simulate(ctx context.Context, launch *call.Launch, ptx compile.Result, job *Job) (tuner.Outcome, *simengine.Report, error) {
	req, err := e.question(ctx, launch, ptx, job)
	var lacks *compile.UnavailableError
	if errors.As(err, &lacks) {
		return tuner.Outcome{}, nil, err
	} else if err != nil {
		return failed(tuner.Constraints, err), nil, nil
	}
	module, err := e.engine.Parse(launch.Compile.SourceFile, ptx.PTX)
	if err != nil {
		return outcomeOf(err), nil, nil
	}
	if job.Known != nil {
		if out, ok := job.Known(ctx, req.Digest(module.Digest)); ok {
			return out, nil, nil
		}
	}
	if err := job.assemble(ctx, ptx.PTX, &req); err != nil {
		var refused *compile.Error
		if errors.As(err, &refused) {
			return failed(tuner.Compile, err), nil, nil
		}
		return tuner.Outcome{}, nil, err
	}
	report, err := e.engine.Simulate(module, req)
	if report != nil && job.Lines && ptx.Digest != "" { // as of the PTX without lines
		report.Module, report.Digest = ptx.Digest, req.Digest(ptx.Digest)
	}
	if err != nil {
		out := outcomeOf(inTerms(err, launch))
		out.Digest = req.Digest(module.Digest)
		return out, nil, nil
	}
	wrong, err := e.compare(ctx, launch, report, job)
	if err != nil {
		return tuner.Outcome{}, nil, err
	}
	if wrong != "" {
		return tuner.Outcome{Validity: tuner.Correctness, Message: wrong, Digest: report.Digest, Checked: checked(&report.Checked)}, nil, nil
	}
	if report.ErrorShare > 0 && report.Metrics != nil {
		report.Metrics[SamplingError] = report.ErrorShare
	}
	return tuner.Outcome{
		Validity: tuner.Correct, TimeUS: report.TimeUS, FloorUS: report.FloorUS, Digest: report.Digest,
		Registers: report.Registers, SpillBytes: report.SpillBytes,
		Shared: report.SharedStatic + report.SharedDynamic, CarveOut: report.CarveOut,
		Occupancy: report.Occupancy, Limiter: report.Limiter, Bound: report.BoundText(),
		Metrics: report.Metrics, Checked: checked(&report.Checked),
	}, report, nil
}

// compare compares what a configuration wrote with what others do, and notes in its report what was
// compared. It returns what is wrong; "": nothing.
func (e *Evaluator) compare(ctx context.Context, launch *call.Launch, report *simengine.Report, job *Job) (wrong string, err error) {
	x := report.Execution
	switch {
	case job.Answers == nil || job.Ideal != 0: // what is computed is no other
		return "", nil
	case x.Skipped != "":
		report.Checked.Outputs = "not compared: " + x.Skipped
		return "", nil
	}
	c, err := job.Answers.compare(ctx, job, e.compiler, launch, x.Outputs)
	if err != nil {
		return "", err
	}
	report.Checked.Outputs, report.Checked.Compared = c.text(), c.compared
	if c.wrong != "" {
		report.Checked.Outputs = "disagree"
	}
	return c.wrong, nil
}

// checked is what a report says of checking, for an outcome.
func checked(c *simengine.Checked) tuner.Checked {
	return tuner.Checked{
		CTAs: c.CTAs, Full: c.Full, Of: c.Of, For: strings.Join(c.For, ", "), ForFull: strings.Join(c.ForFull, ", "),
		Compared: c.Compared, Outputs: line(c.Outputs), Warnings: line(strings.Join(c.Warnings, "; ")),
	}
}

// line is a text in one line of the length that an outcome may have.
func line(text string) string {
	return tuner.Clip(strings.Join(strings.Fields(text), " "), tuner.MaxMessage)
}

// SamplingError is the metric, none of the profiler's, that says by what share
// sampling may have the time wrong (Report.ErrorShare); absent where all was simulated.
const SamplingError = "warptune__sampling_error"

// validities maps what the simulator refused to the outcome it is.
var validities = map[simengine.FailureKind]tuner.Validity{
	simengine.FailurePTX:         tuner.Compile,
	simengine.FailureUnsupported: tuner.Compile,
	simengine.FailureLaunch:      tuner.Runtime,
	simengine.FailureRuntime:     tuner.Runtime,
	simengine.FailureCorrectness: tuner.Correctness,
	simengine.FailureTimeout:     tuner.Timeout,
}

func outcomeOf(err error) tuner.Outcome {
	var f *simengine.Failure
	if errors.As(err, &f) {
		return failed(validities[f.Kind], err)
	}
	return failed(tuner.Runtime, fmt.Errorf("simulation: %w", err))
}

func failed(v tuner.Validity, err error) tuner.Outcome {
	return tuner.Outcome{Validity: v, Message: err.Error()}
}
