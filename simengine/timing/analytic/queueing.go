package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// The CTAs of an SM as a closed queueing network: n customers that queue for the SM's units and
// then leave their slot empty for a while. Solved by approximate mean value analysis
// (Schweitzer, "Approximate analysis of multiclass closed networks of queues", 1979), with
// constant service times.

// demand is what a CTA asks of an SM, cycles.
type demand struct {
	busy, blocking [numResources]float64 // of one unit: a sub-partition's share
	// idle is how long a resource has nothing to do while the first CTAs of
	// the grid, which start together, are on their way to it, and the last ones
	// have left it.
	idle [numResources]float64
	// apart is how much longer the memory system takes for CTAs that run in
	// step, first all reading, then all writing, than for CTAs that do not.
	apart      float64
	alone      float64                    // cycles with the SM to itself
	lockstep   float64                    // the same if it keeps step with CTAs that read the same
	contended  float64                    // mean DRAM contention delays in that
	vacancy    float64                    // cycles its slot stays empty after it
	contention func(busy float64) float64 // such a delay where DRAM is busy for a share of the time
}

func newDemand(f *cost.Figures, m *memory, total *work, a alone, warps, cluster int, products bool) *demand {
	d := &demand{alone: a.time, lockstep: a.lockstep, contended: a.contended, contention: m.contention}
	for r := range resource(numResources) {
		d.busy[r], d.blocking[r] = total.busy[r], total.blocking[r]
		if r.ofSub() {
			d.busy[r] /= float64(f.Schedulers)
			d.blocking[r] = d.busy[r]
		}
	}
	d.busy[issueSlot] /= float64(f.IssueWidth)
	if products {
		d.besideProducts()
	}
	for r := lsu; r < numResources; r++ {
		rounds, busy := a.waits, d.busy[r]
		if r.shared() || r == inPort {
			rounds = a.fromL2
		}
		if r.shared() {
			busy /= m.burst
		}
		d.idle[r] = math.Max(a.time-busy, 0) / math.Max(rounds, 1)
	}
	most := 0.0
	for r := l2Slices; r < numResources; r++ {
		most = math.Max(most, d.busy[r])
	}
	d.apart = math.Max(a.staged-most, 0)
	d.vacancy = cost.VacancyOf(f.Vacancy, f.VacancyWarp, warps, cluster)
	return d
}

// besideProducts lengthens what arithmetic takes of its pipes by what products of other warps leave less of them, and the
// products by what single-precision arithmetic takes of the tensor cores.
func (d *demand) besideProducts() {
	product := d.busy[cost.PipeTensor]
	delay := math.Min(d.busy[cost.PipeFMA]*cost.DelaysProduct/dram.Fraction, product)
	for p := range cost.NumPipes {
		times := cost.SlowedBeside(p)
		d.busy[p] = math.Min(times*d.busy[p], d.busy[p]+(1-1/times)*product)
		d.blocking[p] = d.busy[p]
	}
	d.busy[cost.PipeTensor] += delay
	d.blocking[cost.PipeTensor] = d.busy[cost.PipeTensor]
}

// least is the least time that n CTAs take on any unit.
func (d *demand) least(n float64) float64 {
	most := 0.0
	for r, b := range d.busy {
		if b > 0 {
			most = math.Max(most, n*b+d.idle[r])
		}
	}
	return most
}

// wait is how many times its own service one of n customers waits at a unit that is busy for a share of the time. It
// is the queue that an independent observer of the other customers would find, less half of the service that is under
// way.
func wait(busy, n float64) float64 {
	if n <= 1 {
		return 0
	}
	others := (n - 1) / n
	u := math.Min(busy, 1)
	queue := u * (1 - others*u/2) / (1 - others*u)
	return others * (queue - u/2)
}

// lifetime is how long a CTA holds its slot, its vacancy included, when n CTAs are resident and
// rate of them finish a cycle.
func (d *demand) lifetime(rate, n float64) float64 {
	t := d.alone + d.vacancy
	for r, b := range d.busy {
		t += d.blocking[r] * wait(rate*b, n)
	}
	t += d.contended * d.contention(rate*d.busy[dramBus])
	return math.Max(t, d.lockstep+d.vacancy)
}
