package simengine

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// A CTA in the middle of the grid and its neighbours stand for all of it where
// CTAs do the same. Where the work depends on where the CTA is or on what it reads
// (escape times, triangles, rows of different lengths), CTAs drawn from the whole
// grid stand for it.
const (
	// spreadProbes is how many CTAs elsewhere are compared with the one in the
	// middle at first.
	spreadProbes = 3
	// spreadFewest and spreadMost are how many CTAs are drawn then, fewer of
	// long ones: no more than spreadWork instructions in all.
	spreadFewest, spreadMost = 8, 32
	spreadWork               = 50_000
	// longWork is the work (exec.Runner.Work) of a CTA so long that the first one
	// that differs settles it. No more are drawn, and at least spreadLong, than
	// half of what is left of workLimit executes.
	longWork, spreadLong = 500_000, 2
	// probeWork is the work of CTAs compared with the one in the middle after which
	// no more are: what is left of workLimit must do for those that are drawn, and
	// for the neighbours of the one in the middle.
	probeWork = workLimit / 8
	// uneven is by how much CTAs' instructions differ in the mean from those of
	// the one in the middle before they are drawn: guards at the grid's edges and
	// predicates that depend on data make a few per cent.
	uneven = 0.05
)

// drawn is what spread found of a launch.
type drawn struct {
	ids  []int64
	work int64 // of the executions that left no trace
}

// spread is the CTAs drawn from the whole grid, nil where one in the middle is like
// them all. It is a pure function of the launch.
func (r *recording) spread() ([]int64, error) {
	if r.launch.Grid.Count() <= spreadMost {
		return nil, nil
	}
	if d := r.drawn; d != nil {
		r.work += d.work
		for _, id := range d.ids {
			if _, err := r.cta(id); err != nil {
				return nil, err
			}
		}
		return d.ids, nil
	}
	d := &drawn{}
	var err error
	if d.ids, err = r.draw(&d.work); err != nil {
		return nil, err
	}
	r.drawn = d
	return d.ids, nil
}

// draw is spread where it is not known, and adds the work of what left no trace.
func (r *recording) draw(work *int64) ([]int64, error) {
	grid := [3]int{r.launch.Grid.X, r.launch.Grid.Y, r.launch.Grid.Z}
	id := timing.Middle(grid)
	middle, err := r.instructions(id) // its trace is needed anyway
	if err != nil {
		return nil, err
	}
	off, sum := func(of float64) float64 { return math.Abs(of/math.Max(middle, 1) - 1) }, 0.0
	differs, probed, before := false, 0, r.work
	for k := 0; k < spreadProbes && (!differs || r.work-before < longWork) && r.work-before < probeWork; k++ {
		one, err := r.pathLength(drawCTA(k, grid), id, work)
		if err != nil {
			return nil, err
		}
		differs = differs || off(one) > uneven
		sum += one
		probed++
	}
	if !differs {
		return nil, nil
	}
	count := int(min(max(spreadWork*float64(probed)/max(sum, 1), spreadFewest), spreadMost))
	if each := (r.work - before) / int64(probed); each > longWork {
		count = min(count, max(int((workLimit-r.work)/2/each), spreadLong))
	}
	ids, apart, half := make([]int64, count), 0.0, r.work+(workLimit-r.work)/2
	for k := range ids {
		ids[k] = drawCTA(k, grid)
		one, err := r.instructions(ids[k])
		if err != nil {
			return nil, err
		}
		apart += off(one)
		if k+1 >= spreadLong && r.work > half { // longer than those before told
			ids = ids[:k+1]
			break
		}
	}
	if apart/float64(len(ids)) <= uneven {
		return nil, nil
	}
	return ids, nil
}

// sobol are the direction numbers of the first three dimensions of I. M. Sobol's
// sequence (On the distribution of points in a cube, 1967), to spreadMost points,
// and turned what turns it so that the first points are not at the grid's edges.
var (
	sobol  = [3][5]int{{16, 8, 4, 2, 1}, {16, 24, 20, 30, 17}, {16, 8, 28, 22, 13}}
	turned = [3]int{13, 11, 6}
)

// drawCTA is the k-th of a sequence of spreadMost CTAs that covers a grid evenly
// however long it is: of the first 8, 16 and 32 as many lie in each 8th, 16th and
// 32nd of each axis, so that rows at an edge come in as often as they are. Grids of
// other shapes over the same data are looked at in the same places, so that what
// chance does to one it does to all.
func drawCTA(k int, grid [3]int) int64 {
	id, step := int64(0), int64(1)
	for axis, n := range grid {
		at := turned[axis]
		for bit, v := range sobol[axis] {
			if k>>bit&1 != 0 {
				at ^= v
			}
		}
		id += int64(2*at+1) * int64(n) / (2 * spreadMost) * step
		step *= int64(n)
	}
	return id
}

// pathLength is what instructions says of a CTA, without a trace of it. like is one
// that was traced: the path of all where it is the same.
func (r *recording) pathLength(id, like int64, work *int64) (float64, error) {
	if r.asked[wanted{id, false}] {
		return r.instructions(id)
	}
	if c := r.ctas[wanted{like, false}]; r.runner.Program().SamePath() && c.path < workLimit-r.work {
		r.work += c.path
		*work += c.path
		return r.instructions(like)
	}
	opt := r.sliced(max(workLimit-r.work, 1))
	opt.PathOnly = true
	if err := r.run(id, opt); err != nil {
		r.forget()
		return 0, failureOf(err)
	}
	r.work += r.runner.Work()
	*work += r.runner.Work()
	return float64(instructions(r.kernel, r.recorder.CTA())), nil
}

// instructions is the warp instructions of a CTA, those of iterations that its
// trace leaves out counted.
func (r *recording) instructions(id int64) (float64, error) {
	cta, err := r.cta(id)
	if err != nil {
		return 0, err
	}
	return float64(instructions(r.kernel, cta)), nil
}

func instructions(k *ir.Kernel, cta *trace.CTA) (n int64) {
	var weight []int64
	for i := range cta.Warps {
		w := &cta.Warps[i]
		weight = coalesce.Weights(w, weight)
		for j, s := range w.Steps {
			b := &k.Blocks[s.Block]
			n += weight[j] * int64(b.End-b.Start)
		}
	}
	return n
}
