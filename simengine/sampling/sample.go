package sampling

import (
	"errors"
	"math"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/makespan"
	"github.com/warptune/warptune/simengine/trace"
)

// Work is in units of exec.Runner.Work, about 10 ns each.
const (
	// fewest and most bound how many CTAs are chosen: so many that they have
	// chosenInstructions together.
	fewest, most       = 8, 32
	chosenInstructions = 50_000
	// longWork is the work of a long CTA. With long CTAs one that differs is enough to know
	// that CTAs differ. No more of them are chosen than half of the work that is left executes,
	// but at least fewestLong.
	longWork, fewestLong = 500_000, 2
	// tolerance is the mean relative difference of lengths from that of the CTA in the middle
	// from which CTAs are chosen. Guards at the edges of the grid and predicates that depend on
	// data make a few per cent.
	tolerance = 0.05
)

// Executor executes CTAs of one launch for one configuration. It counts their work and gives up
// with an error when that is more than Limit.
type Executor interface {
	// Trace traces a CTA, or returns the trace it made before.
	Trace(id int64) (*trace.CTA, error)
	// Traced reports whether Trace has traced a CTA for this configuration.
	Traced(id int64) bool
	// Path executes a CTA, or those of its warps whose bits are set, without accesses. The
	// result is valid until the next call.
	Path(id int64, warps uint32) ([]trace.Warp, error)
	// PathWork is the work that Path would take for a CTA that was traced.
	PathWork(id int64) int64
	// Work is the work so far. Charge adds some without an execution.
	Work() int64
	Charge(work int64)
}

// Launch is what CTAs are chosen of.
type Launch struct {
	Executor Executor
	Kernel   *ir.Kernel
	Grid     [3]int
	Middle   int64 // the CTA in the middle
	Warps    int   // of a CTA
	Limit    int64 // the most work of all executions
	// DataDecides: the path may depend on what is in memory. SamePath: all CTAs execute the same blocks. IndependentWarps: what a warp executes does not
	// depend on other warps.
	DataDecides, SamePath, IndependentWarps bool
}

// Sample is the CTAs that stand for a grid.
type Sample struct {
	IDs     []int64          // nil: the one in the middle of the grid is like all
	CTAs    int64            // how many CTAs like these execute as many instructions as the grid
	Lengths []makespan.Known // of CTAs all over the grid
	Work    int64            // of the executions that left no trace
}

// Choose chooses the CTAs. The result depends on the launch alone.
func Choose(l *Launch) (*Sample, error) {
	s := &sampler{Launch: l, sample: &Sample{}}
	if count(l.Grid) <= most {
		return s.sample, nil
	}
	return s.sample, s.choose()
}

func count(grid [3]int) int64 { return int64(grid[0]) * int64(grid[1]) * int64(grid[2]) }

type sampler struct {
	*Launch
	sample *Sample
}

func (s *sampler) cta(k int) int64 { return CTA(k, s.Grid) }

// left is the work that is left.
func (s *sampler) left() int64 { return s.Limit - s.Executor.Work() }

func (s *sampler) choose() error {
	middle, err := s.traced(s.Middle) // its trace is needed anyway
	if err != nil {
		return err
	}
	before := s.Executor.Work()
	points, err := s.probe(middle)
	if err != nil || points == nil {
		return err
	}
	each := (s.Executor.Work() - before) / int64(len(points))
	if points, err = s.survey(points, each); err != nil {
		return err
	}
	apart := 0.0
	for _, p := range points {
		apart += p.off(middle) / float64(len(points))
	}
	if apart <= tolerance {
		return nil
	}
	n := int(min(max(chosenInstructions/math.Max(mean(points).Instructions, 1), fewest), most))
	if each > longWork {
		n = min(n, max(int(s.left()/2/each), fewestLong))
	}
	if err := s.take(points, n); err != nil {
		return err
	}
	return s.lengths(points)
}

// errBeyond says that half of the work that was left is done.
var errBeyond = errors.New("longer than was to be expected")

// take traces n CTAs that stand for all, or fewer of the first points of the sequence where the work
// that is left does not allow more.
func (s *sampler) take(points []point, n int) error {
	s.sample.CTAs = count(s.Grid)
	sum, half := 0.0, s.Executor.Work()+s.left()/2
	measure := func(k int) (float64, error) {
		if s.Executor.Work() > half {
			return 0, errBeyond
		}
		one, err := s.traced(s.cta(k))
		sum += one.Scalar()
		return one.Scalar(), err
	}
	var chosen []int
	if len(points) > n {
		var err error
		if chosen, err = stratify(points, n, measure); err != nil && !errors.Is(err, errBeyond) {
			return err
		}
	}
	if chosen != nil {
		s.sample.CTAs = int64(math.Round(float64(s.sample.CTAs) * mean(points).Scalar() * float64(n) / math.Max(sum, 1)))
	}
	for k := len(chosen); k < n && (k < fewestLong || s.Executor.Work() <= half); k++ {
		if _, err := s.traced(s.cta(k)); err != nil {
			return err
		}
		chosen = append(chosen, k)
	}
	for _, k := range chosen {
		s.sample.IDs = append(s.sample.IDs, s.cta(k))
	}
	return nil
}

// lengths notes how long the points and the CTAs chosen are.
func (s *sampler) lengths(points []point) error {
	seen := map[int64]bool{}
	for _, p := range points {
		id := s.cta(p.k)
		seen[id] = true
		s.sample.Lengths = append(s.sample.Lengths, makespan.Known{CTA: id, Length: p.Scalar()})
	}
	for _, id := range s.sample.IDs {
		if seen[id] {
			continue
		}
		seen[id] = true
		one, err := s.traced(id)
		if err != nil {
			return err
		}
		s.sample.Lengths = append(s.sample.Lengths, makespan.Known{CTA: id, Length: one.Scalar()})
	}
	return nil
}
