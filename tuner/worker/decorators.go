package worker

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/warptune/warptune/tuner"
)

// Recovering returns an evaluator whose panics are faults of the worker.
func Recovering(base Evaluator) Evaluator {
	return EvaluatorFunc(func(ctx context.Context, q tuner.Question, bundle []byte) (_ tuner.Outcome, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = tuner.Errorf(tuner.Internal, "evaluate", "panic: %v\n%s", p, debug.Stack())
			}
		}()
		return base.Evaluate(ctx, q, bundle)
	})
}

// stuckGrace is how long an evaluation may go on after its time has ended
// before its goroutine is left behind.
const stuckGrace = 5 * time.Second

// TimeLimited returns an evaluator that ends an evaluation after limit with
// the outcome Timeout. One that does not heed its context is left behind.
func TimeLimited(base Evaluator, limit time.Duration) Evaluator {
	return EvaluatorFunc(func(ctx context.Context, q tuner.Question, bundle []byte) (tuner.Outcome, error) {
		timed, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		type answer struct {
			outcome tuner.Outcome
			err     error
		}
		answers := make(chan answer, 1)
		go func() {
			o, err := base.Evaluate(timed, q, bundle)
			answers <- answer{o, err}
		}()
		late := time.NewTimer(limit + stuckGrace)
		defer late.Stop()
		select {
		case a := <-answers:
			if a.err == nil || timed.Err() == nil || ctx.Err() != nil {
				return a.outcome, a.err
			}
		case <-late.C:
			if ctx.Err() != nil {
				return tuner.Outcome{}, ctx.Err()
			}
		}
		return tuner.Outcome{Validity: tuner.Timeout, Message: fmt.Sprintf("the evaluation did not end within %v", limit)}, nil
	})
}

// Logging returns an evaluator that logs each evaluation.
func Logging(base Evaluator, log hclog.Logger) Evaluator {
	return EvaluatorFunc(func(ctx context.Context, q tuner.Question, bundle []byte) (tuner.Outcome, error) {
		started := time.Now()
		o, err := base.Evaluate(ctx, q, bundle)
		took := time.Since(started)
		switch {
		case err != nil && ctx.Err() == nil:
			log.Error("evaluation failed", "sweep", q.Sweep, "kernel", q.Spec.Kernel, "trial", q.Seq, "index", q.Index, "took", took, "error", err)
		case log.IsDebug():
			log.Debug("evaluated", "sweep", q.Sweep, "kernel", q.Spec.Kernel, "trial", q.Seq, "index", q.Index, "took", took, "validity", o.Validity.String(), "time_us", o.TimeUS)
		}
		return o, err
	})
}
