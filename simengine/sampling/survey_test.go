package sampling

import (
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// idle executes CTAs of 100 steps, of which those of the points from one on do a tenth of it.
type idle struct {
	grid [3]int
	from int
	work int64
}

const idleWork = 3_500

func (e *idle) warps(id int64) []trace.Warp {
	n := 100
	for k := e.from; k < maxGlances; k++ {
		if CTA(k, e.grid) == id {
			n = 10
		}
	}
	return []trace.Warp{{Steps: make([]trace.Step, n)}}
}

func (e *idle) Trace(id int64) (*trace.CTA, error) {
	e.work += idleWork
	return &trace.CTA{Warps: e.warps(id)}, nil
}
func (e *idle) Traced(int64) bool    { return false }
func (e *idle) PathWork(int64) int64 { return idleWork }
func (e *idle) Work() int64          { return e.work }
func (e *idle) Charge(work int64)    { e.work += work }
func (e *idle) Path(id int64, _ uint32) ([]trace.Warp, error) {
	e.work += idleWork
	return e.warps(id), nil
}

// Where data decides what CTAs do, more of them are looked at before they count as alike.
func TestFewIdleCTAs(t *testing.T) {
	kernel := &ir.Kernel{Blocks: []ir.Block{{Start: 0, End: 1}}, Instrs: []ir.Instr{{Op: ir.Add}}}
	for _, c := range []struct {
		data  bool
		from  int
		found bool
	}{{false, 4, true}, {false, 12, false}, {true, 4, true}, {true, 12, true}, {true, maxGlances, false}} {
		grid := [3]int{32, 8, 32}
		l := &Launch{Executor: &idle{grid: grid, from: c.from}, Kernel: kernel, Grid: grid, Middle: 0, Warps: 1, Limit: 1 << 40, DataDecides: c.data}
		s, err := Choose(l)
		if err != nil {
			t.Fatal(err)
		}
		if found := len(s.IDs) > 0; found != c.found {
			t.Errorf("data decides %v, idle from point %d on: CTAs differ %v, want %v", c.data, c.from, found, c.found)
		}
	}
}
