package simengine

import (
	"errors"

	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// checkBudget is how many warp instructions may be executed of one CTA in full, about 10 ms. A race
// shows in the first iterations of a loop or in its last ones.
const checkBudget = 30_000

// fault executes a CTA's slice, without accesses to shared memory if device is set, and returns its
// fault.
func (r *recording) fault(id int64, device bool) error {
	if err := r.bounded(id, device); err != nil {
		return failureOf(err)
	}
	return nil
}

// recheck returns the failure of a configuration whose prediction failed. Faults that the prediction
// was to find come first.
func (r *recording) recheck(err error) error {
	if r.runner.Program().SameShared() {
		if fault := r.fault(r.launch.Grid.Count()-1, false); fault != nil {
			return fault
		}
	}
	return err
}

// confirm executes a CTA in full, within the budget, whose slice showed what may be a race. Whether
// two writes race depends on the values stored, which the slice does not compute. It returns nil if
// it finds no fault. It executes nothing where the budget does not go as far as the race, MMAs counted.
func (r *recording) confirm(id int64, suspect *fault.Fault) error {
	limit := r.checkLimit()
	if suspect.CTA == id {
		if warps := r.recorder.CTA().Warps; stepsOf(&warps[suspect.Thread/exec.WarpSize]) > limit || productWork(r.kernel, warps) > checkBudget {
			return nil
		}
	}
	full, err := r.module.compiled(r.kernel, exec.Full)
	if err != nil {
		return err
	}
	err = exec.NewRunner(full).Run(r.launch, r.memory, id, exec.Options{Mode: exec.Full, Races: true, StepLimit: limit}, nil)
	r.memory.Reset()
	if isFault(err, fault.StepLimit) {
		return nil // no defect as far as the budget goes
	}
	return err
}

// checkLimit is how many basic blocks of each warp the budget allows.
func (r *recording) checkLimit() int64 {
	longest := 1
	for _, b := range r.kernel.Blocks {
		longest = max(longest, b.End-b.Start)
	}
	return int64(max(checkBudget/(r.warps()*longest), 2*len(r.kernel.Blocks), 4))
}

// stepsOf is how many basic blocks a traced warp has executed, those of iterations that were left out counted.
func stepsOf(w *trace.Warp) (sum int64) {
	for _, n := range coalesce.Weights(w, nil) {
		sum += n
	}
	return sum
}

func isFault(err error, kind fault.Kind) bool {
	var found *fault.Fault
	return errors.As(err, &found) && found.Kind == kind
}
