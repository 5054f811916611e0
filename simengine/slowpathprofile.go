package simengine

import (
	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
)

// slowPathBudget is the work (exec.Runner.Work) of executing a CTA in full for its slow-path
// profile, about 3 ms. Which slow paths warps take, and how many values they match, differs little
// from one thousand quotients to the next.
const slowPathBudget = 300_000

// profileSlowPaths counts how often warps take the slow paths of divisions and roots, and how many
// values the lanes of one match, in one CTA in the middle of the grid, within the budget. A slice
// does not compute what no address depends on, so that CTA is executed in full. A kernel that cannot
// be executed in full, or has none of these operations, takes no slow path and matches one value.
func (r *recording) profileSlowPaths() {
	if r.counted {
		return
	}
	r.counted = true
	program, err := r.module.slowPathProgram(r.kernel)
	if err != nil || program == nil {
		return
	}
	runner := exec.NewRunner(program)
	grid := [3]int{r.launch.Grid.X, r.launch.Grid.Y, r.launch.Grid.Z}
	// A fault, of the budget or another, leaves what was counted before it.
	_ = runner.Run(r.launch, r.memory, timing.Middle(grid), exec.Options{Mode: exec.Full, StepLimit: stepLimit, WorkLimit: slowPathBudget}, nil)
	r.memory.Reset()
	for _, d := range runner.SlowPaths() {
		if d.Taken[ir.PathEntered] == 0 {
			continue
		}
		t := timing.SlowPath{PC: int32(d.PC)}
		for p, n := range d.Taken {
			t.Shares[p], t.Lanes[p] = float64(n)/float64(d.Warps), float64(d.Lanes[p])/float64(d.Warps)
		}
		r.slowPaths = append(r.slowPaths, t)
	}
	for _, m := range runner.Matches() {
		r.matches = append(r.matches, timing.Match{PC: int32(m.PC), Values: float64(m.Values) / float64(m.Warps)})
	}
}

// slowPathProgram is a kernel compiled to count slow paths and matches, nil for one that has none.
func (m *Module) slowPathProgram(k *ir.Kernel) (*exec.Program, error) {
	if p, ok := m.counters[k.Name]; ok {
		return p, nil
	}
	p, err := exec.CompileCounting(k)
	if err != nil {
		return nil, err
	}
	m.counters[k.Name] = p
	return p, nil
}
