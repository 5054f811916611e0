package simengine

import (
	"errors"

	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/simengine/ir"
)

// checkBudget is the warp instructions that checking one CTA may execute, about
// 10 ms. A race or an access out of bounds shows in the first iterations of a
// loop or in its last ones; the last are the sampled execution's to find.
const checkBudget = 30_000

// check executes the first CTA, looking for races on shared memory and for
// barriers that some threads never reach.
//
// The slice, long loops shortened, shows most kernels free of both, at a small
// part of the cost: it executes the same accesses. Where it does not, the CTA is
// executed in full as far as the budget goes, since what is stored decides
// whether two writes race.
func (e *Engine) check(m *Module, k *ir.Kernel, rec *recording) error {
	if rec.checked {
		return rec.verdict
	}
	rec.checked = true
	code, err := m.compiled(k, exec.Full)
	if err != nil {
		rec.verdict = err
		return err
	}
	longest := 1
	for _, b := range k.Blocks {
		longest = max(longest, b.End-b.Start)
	}
	warps := int(rec.launch.CTA.Count()+exec.WarpSize-1) / exec.WarpSize
	limit := int64(max(checkBudget/(warps*longest), 2*len(k.Blocks), 4))
	err = rec.runner.Run(rec.launch, rec.memory, 0, exec.Options{Mode: exec.Slice, LoopSample: loopSample, Races: true, StepLimit: limit}, nil)
	rec.memory.Reset()
	if clean(err) {
		return nil
	}
	err = exec.NewRunner(code).Run(rec.launch, rec.memory, 0, exec.Options{Mode: exec.Full, Races: true, StepLimit: limit}, nil)
	rec.memory.Reset()
	if !clean(err) {
		rec.verdict = failureOf(err)
	}
	return rec.verdict
}

// clean says that a check found no defect as far as its budget went.
func clean(err error) bool {
	var fault *exec.Fault
	return err == nil || errors.As(err, &fault) && fault.Kind == exec.StepLimit
}
