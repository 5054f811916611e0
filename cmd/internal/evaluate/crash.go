package evaluate

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"strings"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/tuner"
)

// survived evaluates a record and reports whether the simulator crashed on it. A crash is a fault of warptune that the
// same record has everywhere. It costs the record its prediction and the others nothing; the evaluator is of no use after it.
func survived(ctx context.Context, ev *Evaluator, t *task) (r Result, crashed bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, crashed = Result{Outcome: failed(tuner.Runtime, crash(p))}, true
		}
	}()
	r, err = evaluate(ctx, ev, t)
	return r, false, err
}

// guarded is Evaluate, whose crash is an error. The evaluator is of no use after it.
func (e *Evaluator) guarded(ctx context.Context, job Job) (o tuner.Outcome, r *simengine.Report, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = crash(p)
		}
	}()
	return e.Evaluate(ctx, job)
}

// crash is the error of a panic, to be called by the deferred function that recovers.
func crash(p any) error {
	return fmt.Errorf("warptune crashed on it, which is no fault of the kernel: %v in %s. Please report it, with the record and its PTX", p, panicked())
}

// panicked is the function that panicked and where, to be called by crash.
func panicked() string {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") || !more {
			return fmt.Sprintf("%s (%s:%d)", path.Base(f.Function), path.Base(f.File), f.Line)
		}
	}
}
