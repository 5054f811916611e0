package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/worker"
)

// Evaluator evaluates a worker's trials. It keeps an evaluate.Evaluator for
// each evaluation at a time, and the definitions of the bundles it has seen.
// It is safe for concurrent use.
type Evaluator struct {
	// AnyCompiler runs compilers that a sweep names by their path: it is this
	// user's own.
	AnyCompiler bool

	mu        sync.Mutex
	idle      []*evaluate.Evaluator
	compilers map[string]*compile.Compiler // by Spec.Compiler
	kernels   definitions
	known     *worker.Known
	answers   *evaluate.Answers

	descriptors descriptors
}

var _ worker.Evaluator = (*Evaluator)(nil)

// NewEvaluator makes an evaluator that asks known, unless it is nil, before it
// simulates: the same question is simulated once, in whichever sweep it comes.
func NewEvaluator(known *worker.Known) *Evaluator {
	return &Evaluator{known: known, compilers: map[string]*compile.Compiler{}, kernels: definitions{most: keptBundles}, answers: evaluate.NewAnswers()}
}

// Evaluate answers one trial.
func (e *Evaluator) Evaluate(ctx context.Context, q tuner.Question, bundle []byte) (tuner.Outcome, error) {
	job, ev, err := e.prepare(&q, bundle)
	if err != nil {
		return tuner.Outcome{}, fmt.Errorf("%s on %s, trial %d: %w", q.Spec.Kernel, q.Spec.Arch, q.Seq, err)
	}
	if e.known != nil && !q.Again {
		job.Known = e.lookup(ev, job, q.Ahead)
	}
	out, _, err := ev.Evaluate(ctx, job)
	err = lacking(err, &q)
	if err == nil && e.known != nil {
		e.known.Note(out)
	}
	e.release(ev)
	return out, err
}

// release gives an evaluator back.
func (e *Evaluator) release(ev *evaluate.Evaluator) {
	e.mu.Lock()
	e.idle = append(e.idle, ev)
	e.mu.Unlock()
}

// lacking says of an error for want of a compiler that the machine can evaluate nothing of the sweep.
func lacking(err error, q *tuner.Question) error {
	var lacks *compile.UnavailableError
	// The prebuilt PTX is of some configurations, on any machine.
	if errors.As(err, &lacks) && (strings.TrimSuffix(q.Spec.Compiler, compile.WithPTXAS) != "prebuilt" || strings.HasPrefix(lacks.Driver, "ptxas")) {
		return &tuner.Error{Kind: tuner.Mismatch, Err: err}
	}
	return err
}

// lookup returns what finds a job's outcome if it is known. It asks for those of
// the configurations ahead with it, but not where a compiler would have to run:
// however long that takes, this job would wait for it and answer for it.
func (e *Evaluator) lookup(ev *evaluate.Evaluator, job evaluate.Job, ahead []search.Config) func(context.Context, string) (tuner.Outcome, bool) {
	return func(ctx context.Context, digest string) (tuner.Outcome, bool) {
		var digests []string
		for _, c := range ahead {
			job.Config = c
			if d, ok := ev.Digest(ctx, job); ok {
				digests = append(digests, d)
			}
		}
		return e.known.Find(ctx, digest, digests...)
	}
}

// prepare finds what a trial needs: nothing here depends on the configuration.
func (e *Evaluator) prepare(q *tuner.Question, bundle []byte) (evaluate.Job, *evaluate.Evaluator, error) {
	d, err := e.descriptors.of(&q.Spec, q.Descriptor)
	if err != nil {
		return evaluate.Job{}, nil, err
	}
	level, err := levelOf(&q.Spec)
	if err != nil {
		return evaluate.Job{}, nil, err
	}
	depth, err := simengine.ParseDepth(q.Spec.Check)
	if err != nil {
		return evaluate.Job{}, nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	def, err := e.kernels.open(q.Spec.Bundle, bundle)
	if err != nil {
		return evaluate.Job{}, nil, err
	}
	ev, assembler, err := e.evaluatorLocked(q.Spec.Compiler)
	return evaluate.Job{Kernel: def, Config: q.Config, Problem: q.Spec.Problem, Arch: d, Level: level,
		Check: depth, Warn: q.Spec.Faults == "warn", Answers: e.answers, Assembler: assembler}, ev, err
}

// levelOf is the level that a spec's configurations are simulated at. What is measured is beside the
// predictions at level cycle.
func levelOf(spec *tuner.Spec) (simengine.Level, error) {
	if spec.Measured() {
		return simengine.Cycle, nil
	}
	return simengine.ParseLevel(spec.Level)
}

// evaluatorLocked takes an idle evaluator or makes one, with the compiler that
// the sweep chose, and the assembler, if it did.
func (e *Evaluator) evaluatorLocked(choice string) (*evaluate.Evaluator, *compile.PTXAS, error) {
	c, ok := e.compilers[choice]
	if !ok {
		if err := compile.CheckChoice(choice); err != nil && !e.AnyCompiler {
			return nil, nil, err
		}
		var err error
		if c, err = compile.New(compile.Options{Compiler: choice}); err != nil {
			return nil, nil, err
		}
		e.compilers[choice] = c
	}
	if n := len(e.idle); n > 0 {
		ev := e.idle[n-1]
		e.idle = e.idle[:n-1]
		return ev.With(c), c.Assembler(), nil
	}
	return evaluate.New(c), c.Assembler(), nil
}

// Descriptors are the architectures a worker can simulate: name to digest.
func Descriptors() (map[string]string, error) {
	out := map[string]string{}
	for _, name := range arch.Names() {
		d, err := arch.Load(name)
		if err != nil {
			return nil, err
		}
		out[d.Name] = d.Digest
	}
	return out, nil
}
