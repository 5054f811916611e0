package expr

// Env holds the values of the variables that programs are evaluated with, and
// their scratch space. Programs compiled for the same variables share one. It
// is not safe for concurrent use.
type Env struct {
	vars   []Value
	locals []Value // of comprehensions
	steps  int
	expr   *Expr // being evaluated, for errors
	err    *Error
}

// NewEnv returns an environment for n variables, all invalid.
func NewEnv(n int) *Env { return &Env{vars: make([]Value, n)} }

// Set gives variable i its value, which must be of the kind declared for it.
func (e *Env) Set(i int, v Value) { e.vars[i] = v }

// fail records the first error; evaluation goes on with harmless values and
// its result is dropped.
func (e *Env) fail(n Node, format string, args ...any) {
	if e.err == nil {
		e.err = e.expr.Errorf(n, format, args...)
	}
}

// step counts n elements; false ends the evaluation.
func (e *Env) step(n Node, count int) bool {
	if e.steps += count; e.steps > MaxSteps {
		e.fail(n, "expression takes more than %d steps", MaxSteps)
	}
	return e.err == nil
}

// begin prepares for one evaluation of p.
func (e *Env) begin(p *Program) {
	e.expr, e.err, e.steps = p.expr, nil, 0
	if len(e.locals) < p.locals {
		e.locals = make([]Value, p.locals)
	}
}

// end returns the error of an evaluation as an error that may be nil.
func (e *Env) end() error {
	if e.err != nil {
		return e.err
	}
	return nil
}
