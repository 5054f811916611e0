// Package worker is the worker's side of the protocol: it asks a coordinator
// for trials, has an Evaluator evaluate them, and reports what came out, until
// it is drained or nothing is left.
//
// It survives the coordinator: it may start before it, keeps its results while
// it is away, and goes on when it is back. It does not know what evaluating
// means.
package worker

import (
	"context"

	"github.com/warptune/warptune/tuner"
)

// Evaluator evaluates configurations. It is called from as many goroutines as
// the worker has slots.
type Evaluator interface {
	// Evaluate evaluates one configuration. bundle is the content of the
	// kernel bundle q.Spec.Bundle; do not modify it, what q refers to, or what
	// the outcome refers to once it is returned. The outcome is the
	// configuration's; an error is the machine's, and the trial is tried
	// elsewhere: one of the kind tuner.Mismatch says that the machine can
	// evaluate no configuration of the sweep. When ctx ends, so should Evaluate, with any error.
	Evaluate(ctx context.Context, q tuner.Question, bundle []byte) (tuner.Outcome, error)
}

// EvaluatorFunc is a function as an Evaluator.
type EvaluatorFunc func(ctx context.Context, q tuner.Question, bundle []byte) (tuner.Outcome, error)

// Evaluate calls f.
func (f EvaluatorFunc) Evaluate(ctx context.Context, q tuner.Question, bundle []byte) (tuner.Outcome, error) {
	return f(ctx, q, bundle)
}
