package simengine

import (
	"cmp"
	"math"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// How long CTAs that differ are is looked at in more places than are traced, so that
// chance decides less which those are.
const (
	// surveyWork is the work (exec.Runner.Work) after which no more are looked at: some
	// milliseconds, as long as the tracing of those chosen.
	surveyWork = 250_000
	// surveyWarps is how many warps of a CTA are executed, where they go by themselves.
	surveyWarps = 4
	// mostGlances is how many CTAs are compared with the one in the middle where the
	// first few did the same, and glanceWork the work after which no more are. These cost
	// nothing that shows in BenchmarkDataset, 32 and 10,000 an eighth of the median at level
	// model.
	mostGlances, glanceWork = 16, 4_000
)

// size is the PTX instructions of warps, and those of them that ask for data of the
// device: of two CTAs of as many instructions one may leave the loads to the other.
type size struct{ instructions, requests float64 }

// off is by what share of it a size differs from another: by its instructions, or by
// its length where it asks for more or less.
func (s size) off(than size) float64 {
	return max(off(s.instructions, than.instructions), off(s.length(), than.length()))
}

// length is one number for a size: a request counts as what an SM issues in the time of a
// line.
func (s size) length() float64 { return s.instructions + lineLength*s.requests }

// times is n times a size.
func (s size) times(n float64) size { return size{n * s.instructions, n * s.requests} }

// lineLength is the instructions that the four schedulers of an SM issue while it gets a
// line at its share of L2's bandwidth: 128 bytes at 32 a cycle (h200, l2_bandwidth by 132 SMs).
const lineLength = 16

// extent is how long a CTA is.
type extent struct {
	k int // it is the one of drawCTA(k)
	size
}

// survey adds extents of CTAs all over the grid to those known of the first of them, each
// of which took so much work.
func (r *recording) survey(known []extent, each int64, work *int64) ([]extent, error) {
	grid := r.grid()
	stride := 1
	if r.runner.Program().WarpsApart() {
		stride = max(r.warps()/surveyWarps, 1)
	}
	if surveyWork*int64(stride) < each*spreadMost {
		return known, nil // no more than are traced
	}
	seen := map[int64]bool{}
	for _, e := range known {
		seen[drawCTA(e.k, grid)] = true
	}
	before := r.work
	for k := len(known); k < mostDrawn; k++ {
		if k&(k-1) == 0 && 2*(r.work-before) > surveyWork {
			break // as many more, which would cover the grid evenly again, are too many
		}
		id := drawCTA(k, grid)
		if seen[id] {
			continue
		}
		seen[id] = true
		one, err := r.someLength(id, k%stride, stride, work)
		if err != nil {
			return nil, err
		}
		known = append(known, extent{k, one})
	}
	return known, nil
}

// someLength is the size of a CTA by each stride-th warp from first on, of one
// whose warps go by themselves if that is not each.
func (r *recording) someLength(id int64, first, stride int, work *int64) (size, error) {
	if stride == 1 {
		return r.warpsLength(id, 0, work)
	}
	some, n := uint32(0), 0
	for w := first; w < r.warps(); w += stride {
		some |= 1 << w
		n++
	}
	sum, err := r.warpsLength(id, some, work)
	return sum.times(float64(r.warps()) / float64(n)), err
}

// glance looks at further CTAs, a warp of each where warps go by themselves, until one
// differs from one that was traced, and adds what it saw to those known, which did not;
// nil: none does.
func (r *recording) glance(known []extent, traced *trace.CTA, work *int64) ([]extent, error) {
	p := r.runner.Program()
	if p.SamePath() {
		return nil, nil
	}
	stride := 1
	if p.WarpsApart() {
		stride = r.warps()
	}
	before := r.work
	for k := len(known); k < mostGlances && r.work-before < glanceWork; k++ {
		one, err := r.someLength(drawCTA(k, r.grid()), k%stride, stride, work)
		if err != nil {
			return nil, err
		}
		like := traced.Warps
		if stride > 1 {
			like = like[k%stride:][:1]
		}
		known = append(known, extent{k, one})
		if one.off(sizeOf(r.kernel, like).times(float64(len(traced.Warps)/len(like)))) > uneven {
			return known, nil
		}
	}
	return nil, nil
}

// mean is the mean size.
func mean(of []extent) (m size) {
	for _, e := range of {
		m.instructions += e.instructions / float64(len(of))
		m.requests += e.requests / float64(len(of))
	}
	return m
}

// represent chooses n of CTAs that are in the mean about as long as all: of each n-th of
// them, by their length, one, the shortest first. length says how long one really is;
// what those chosen are too short or too long together, the next is to make up for.
func represent(all []extent, n int, length func(k int) (float64, error)) ([]int, error) {
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b extent) int { return cmp.Compare(a.length(), b.length()) })
	chosen, owed := make([]int, n), 0.0
	for i := range chosen {
		part := order[i*len(all)/n : (i+1)*len(all)/n]
		owed += mean(part).length()
		chosen[i] = slices.MinFunc(part, func(a, b extent) int {
			return cmp.Compare(math.Abs(a.length()-owed), math.Abs(b.length()-owed))
		}).k
		is, err := length(chosen[i])
		if err != nil {
			return nil, err
		}
		owed -= is
	}
	slices.Sort(chosen)
	return chosen, nil
}

// pathLength is what size says of a CTA, without a trace of it. like is one
// that was traced: the path of all where it is the same.
func (r *recording) pathLength(id, like int64, work *int64) (size, error) {
	if r.asked[wanted{id, false}] {
		return r.size(id)
	}
	if c := r.ctas[wanted{like, false}]; r.runner.Program().SamePath() && c.path < workLimit-r.work {
		r.work += c.path
		*work += c.path
		return r.size(like)
	}
	return r.warpsLength(id, 0, work)
}

// warpsLength is the size of some warps of a CTA, of all for 0, without a trace of them.
func (r *recording) warpsLength(id int64, warps uint32, work *int64) (size, error) {
	opt := r.sliced(max(workLimit-r.work, 1))
	opt.PathOnly, opt.Warps = true, warps
	if err := r.run(id, opt); err != nil {
		r.forget()
		return size{}, failureOf(err)
	}
	r.work += r.runner.Work()
	*work += r.runner.Work()
	return sizeOf(r.kernel, r.recorder.CTA().Warps), nil
}

// size is the size of a CTA, iterations that its trace leaves out counted.
func (r *recording) size(id int64) (size, error) {
	cta, err := r.cta(id)
	if err != nil {
		return size{}, err
	}
	return sizeOf(r.kernel, cta.Warps), nil
}

func sizeOf(k *ir.Kernel, warps []trace.Warp) (sum size) {
	var weight []int64
	requests := make([]int64, len(k.Blocks))
	for i := range k.Blocks {
		requests[i] = requestsOf(k, &k.Blocks[i])
	}
	for i := range warps {
		w := &warps[i]
		weight = coalesce.Weights(w, weight)
		for j, s := range w.Steps {
			b := &k.Blocks[s.Block]
			sum.instructions += float64(weight[j] * int64(b.End-b.Start))
			sum.requests += float64(weight[j] * requests[s.Block])
		}
	}
	return sum
}

// requestsOf is how many instructions of a block ask for data of the device.
func requestsOf(k *ir.Kernel, b *ir.Block) (n int64) {
	for i := b.Start; i < b.End; i++ {
		switch in := &k.Instrs[i]; in.Op {
		case ir.Ld, ir.Ldu, ir.St, ir.Atom, ir.Red:
			if in.Space == ir.Global || in.Space == ir.Generic {
				n++
			}
		case ir.CpAsync:
			n++
		}
	}
	return n
}
