package simengine

import (
	"errors"
	"math"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/makespan"
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
	// uneven is by how much CTAs' sizes differ in the mean from that of the one in the
	// middle before they are drawn: guards at the grid's edges and
	// predicates that depend on data make a few per cent.
	uneven = 0.05
)

// drawn is what spread found of a launch.
type drawn struct {
	ids   []int64          // nil: one in the middle of the grid is like them all
	ctas  int64            // how many such CTAs execute as many instructions as the grid
	known []makespan.Known // how long CTAs all over the grid are
	work  int64            // of the executions that left no trace
}

// spread is the CTAs drawn from the whole grid. It is a pure function of the launch.
func (r *recording) spread() (*drawn, error) {
	if r.launch.Grid.Count() <= spreadMost {
		return &drawn{}, nil
	}
	if d := r.drawn; d != nil {
		r.work += d.work
		for _, id := range d.ids {
			if _, err := r.cta(id); err != nil {
				return nil, err
			}
		}
		return d, nil
	}
	d := &drawn{}
	if err := r.draw(d); err != nil {
		return nil, err
	}
	r.drawn = d
	return d, nil
}

// draw is spread where it is not known.
func (r *recording) draw(d *drawn) error {
	id := timing.Middle(r.grid())
	middle, err := r.size(id) // its trace is needed anyway
	if err != nil {
		return err
	}
	before := r.work
	known, err := r.probe(id, middle, &d.work)
	if err != nil || known == nil {
		return err
	}
	each := (r.work - before) / int64(len(known))
	if known, err = r.survey(known, each, &d.work); err != nil {
		return err
	}
	apart := 0.0
	for _, e := range known {
		apart += e.off(middle) / float64(len(known))
	}
	if apart <= uneven {
		return nil
	}
	count := int(min(max(spreadWork/math.Max(mean(known).instructions, 1), spreadFewest), spreadMost))
	if each > longWork {
		count = min(count, max(int((workLimit-r.work)/2/each), spreadLong))
	}
	if err := r.drawSome(d, known, count); err != nil {
		return err
	}
	return r.measure(d, known)
}

// measure notes how long CTAs are, of which the first of drawCTA are known: these and those that were drawn.
func (r *recording) measure(d *drawn, known []extent) error {
	seen := map[int64]bool{}
	for _, e := range known {
		id := drawCTA(e.k, r.grid())
		seen[id] = true
		d.known = append(d.known, makespan.Known{CTA: id, Length: e.length()})
	}
	for _, id := range d.ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		one, err := r.size(id)
		if err != nil {
			return err
		}
		d.known = append(d.known, makespan.Known{CTA: id, Length: one.length()})
	}
	return nil
}

// off is by what share a CTA is longer or shorter than another.
func off(of, than float64) float64 { return math.Abs(of/math.Max(than, 1) - 1) }

// probe compares CTAs with one that was traced, and returns how long they are; nil: they
// do the same.
func (r *recording) probe(id int64, like size, work *int64) ([]extent, error) {
	grid := r.grid()
	var known []extent
	differs, before := false, r.work
	for k := 0; k < spreadProbes && (!differs || r.work-before < longWork) && r.work-before < probeWork; k++ {
		one, err := r.pathLength(drawCTA(k, grid), id, work)
		if err != nil {
			return nil, err
		}
		differs = differs || one.off(like) > uneven
		known = append(known, extent{k, one})
	}
	if differs {
		return known, nil
	}
	return r.glance(known, r.ctas[wanted{id, false}].trace, work)
}

// errBeyond says that half of what is left of workLimit is used up.
var errBeyond = errors.New("longer than was to be expected")

// drawSome traces count CTAs that stand for all, given how long some are, or fewer of the
// first of drawCTA where what is left of workLimit does not allow more.
func (r *recording) drawSome(d *drawn, known []extent, count int) error {
	grid := r.grid()
	d.ctas = r.launch.Grid.Count()
	sum, half := 0.0, r.work+(workLimit-r.work)/2
	length := func(k int) (float64, error) {
		if r.work > half {
			return 0, errBeyond
		}
		one, err := r.size(drawCTA(k, grid))
		sum += one.length()
		return one.length(), err
	}
	var turns []int
	if len(known) > count {
		var err error
		if turns, err = represent(known, count, length); err != nil && !errors.Is(err, errBeyond) {
			return err
		}
	}
	if turns != nil {
		d.ctas = int64(math.Round(float64(d.ctas) * mean(known).length() * float64(count) / math.Max(sum, 1)))
	}
	for k := len(turns); k < count && (k < spreadLong || r.work <= half); k++ {
		if _, err := r.size(drawCTA(k, grid)); err != nil {
			return err
		}
		turns = append(turns, k)
	}
	for _, k := range turns {
		d.ids = append(d.ids, drawCTA(k, grid))
	}
	return nil
}
