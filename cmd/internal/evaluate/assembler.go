package evaluate

import (
	"context"
	"errors"
	"strings"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// target is the job's architecture as compilers call it.
func (j *Job) target() string { return compile.Target(j.Arch.CC[0], j.Arch.CC[1]) }

// recorded is what the launch's record says of its machine code for the job's target, where nobody else is asked.
func (j *Job) recorded(launch *call.Launch) *call.Assembled {
	a := launch.Assembled
	if a == nil || j.Assembler != nil || j.Modelled || strings.TrimRight(a.Target, "af") != strings.TrimRight(j.target(), "af") {
		return nil
	}
	return a
}

// assembledBy says in a request who is to say registers, spills and static shared memory: the job's assembler, whose
// answer does not change the request's digest, or the launch's record.
func (j *Job) assembledBy(ctx context.Context, launch *call.Launch, req *simengine.Request) error {
	if a := j.recorded(launch); a != nil {
		req.Assembled = &simengine.Assembled{By: a.By, Stated: &simengine.Resources{Registers: a.Registers, SpillBytes: a.SpillBytes}}
	}
	if j.Assembler == nil {
		return nil
	}
	by, err := j.Assembler.Identify(ctx, j.target())
	if err != nil {
		return err
	}
	req.Assembled = &simengine.Assembled{By: by}
	return nil
}

// assemble asks the assembler, if there is one.
func (j *Job) assemble(ctx context.Context, ptx []byte, req *simengine.Request) error {
	if j.Assembler == nil {
		return nil
	}
	said, err := j.Assembler.Assemble(ctx, ptx, j.target(), req.MaxRegisters)
	if err != nil {
		return err
	}
	req.Assembled.Kernels = make(map[string]simengine.Resources, len(said))
	for name, r := range said {
		req.Assembled.Kernels[name] = simengine.Resources{Registers: r.Registers, SpillBytes: r.SpillBytes(), Shared: r.Shared}
	}
	return nil
}

// compiler is how an outcome names who made the program: the compiler of its PTX and, but for the model, the assembler.
func (j *Job) compiler(ctx context.Context, launch *call.Launch, ptx compile.Result) string {
	if a := j.recorded(launch); a != nil {
		return ptx.Compiler + ", registers by " + a.By
	}
	if j.Assembler == nil {
		return ptx.Compiler
	}
	by, err := j.Assembler.Identify(ctx, j.target())
	if err != nil {
		return ptx.Compiler
	}
	return ptx.Compiler + ", registers by " + by
}

// Built is what a kernel comes to by the model of the assembler, and by the assembler.
type Built struct {
	Model, Real simengine.Resources
	By          string // the assembler
	Refused     error  // of the compiler, the assembler or the model: a *compile.Error, or the simulator's *Failure
}

// Build compiles a configuration and assembles it by the model and by the job's assembler. Nothing is simulated. The error is
// this machine's fault or the caller's cancellation.
func (e *Evaluator) Build(ctx context.Context, job Job) (Built, error) {
	launch, err := job.Kernel.Launch(job.Config, job.Problem)
	if err != nil {
		return Built{Refused: err}, nil
	}
	ptx, err := e.compiler.Compile(ctx, compile.Request{Compile: launch.Compile, Target: job.target()})
	if err != nil {
		return refused(err)
	}
	req, err := request(launch, job.Arch, simengine.Model)
	if err != nil {
		return Built{Refused: err}, nil
	}
	return e.build(ctx, &job, launch, ptx, req)
}

func (e *Evaluator) build(ctx context.Context, job *Job, launch *call.Launch, ptx compile.Result, req simengine.Request) (b Built, err error) {
	req.Kernel, req.Without = entryOf(ptx, launch), job.Without
	module, err := e.engine.Parse(launch.Compile.SourceFile, ptx.PTX)
	if err == nil {
		b.Model, err = e.engine.Resources(module, req)
	}
	if err != nil {
		return Built{Refused: err}, nil
	}
	if err := job.assembledBy(ctx, launch, &req); err != nil {
		return b, err
	}
	if err := job.assemble(ctx, ptx.PTX, &req); err != nil {
		return refused(err)
	}
	b.By = req.Assembled.By
	if b.Real, err = e.engine.Resources(module, req); err != nil {
		return Built{Refused: err}, nil
	}
	return b, nil
}

// refused tells a configuration's own fault from the machine's.
func refused(err error) (Built, error) {
	var own *compile.Error
	if errors.As(err, &own) {
		return Built{Refused: err}, nil
	}
	return Built{}, err
}

// SpillAgrees reports whether both spill or neither does.
func (b *Built) SpillAgrees() bool { return (b.Model.SpillBytes > 0) == (b.Real.SpillBytes > 0) }

// Occupancies are the CTAs of an SM by the model's and by the assembler's resources, for a launch's threads and dynamic shared
// memory.
func (b *Built) Occupancies(d *arch.Descriptor, threads, dynamic int) (model, actual int) {
	of := func(r simengine.Resources) int {
		k := arch.Kernel{Threads: threads, Registers: r.Registers, Shared: r.Shared + dynamic, Static: r.Shared}
		carveOut, err := arch.ChooseCarveOut(d, k, -1)
		if err != nil {
			return 0
		}
		o, err := arch.Occupy(d, k, carveOut)
		if err != nil {
			return 0
		}
		return o.CTAs
	}
	return of(b.Model), of(b.Real)
}
