package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// kind is a set of warps of a CTA that execute the same steps.
type kind struct {
	warp   int // the one that is replayed
	count  float64
	phases []phase
}

// maxKinds bounds the warps replayed; warps beyond it count with the last kind.
const maxKinds = 8

// kinds sorts the warps of a CTA by the steps they execute.
func kinds(c *trace.CTA) []kind {
	var out []kind
	var prints [maxKinds]uint64
next:
	for i := range c.Warps {
		h := fingerprint(&c.Warps[i])
		for k := range out {
			if prints[k] == h {
				out[k].count++
				continue next
			}
		}
		if len(out) == maxKinds {
			out[maxKinds-1].count++
			continue
		}
		prints[len(out)] = h
		out = append(out, kind{warp: i, count: 1})
	}
	return out
}

// fingerprint tells sequences of steps and numbers of accesses apart (FNV-1a).
func fingerprint(w *trace.Warp) uint64 {
	h := uint64(14695981039346656037)
	for i := range w.Steps {
		k := &w.Steps[i]
		h = (h ^ uint64(k.Block)) * 1099511628211
		h = (h ^ uint64(k.Access)) * 1099511628211
		if k.Async > 0 {
			h = (h ^ uint64(k.Async)) * 1099511628211
		}
		h = (h ^ uint64(k.Repeat)) * 1099511628211
	}
	return h
}

// conserve scales the phases of the replayed warps so that they ask of each unit beyond the
// issue ports what the whole CTA does. A replayed warp stands for others of its kind, and what
// it brings to L1 they find there.
func conserve(ks []kind, total *work) {
	var sum work
	for i := range ks {
		for p := range ks[i].phases {
			h := &ks[i].phases[p]
			sum.add(&h.work, ks[i].count*h.times)
		}
	}
	var share [numResources]float64
	stage, most := 0.0, 0.0
	for r := lsu; r < numResources; r++ {
		share[r] = 1
		if sum.busy[r] > 0 {
			share[r] = total.busy[r] / sum.busy[r]
		}
		if r >= l2Slices {
			stage, most = math.Max(stage, total.busy[r]), math.Max(most, sum.busy[r])
		}
	}
	for i := range ks {
		for p := range ks[i].phases {
			h := &ks[i].phases[p]
			for r := lsu; r < numResources; r++ {
				h.busy[r] *= share[r]
			}
			if most > 0 {
				h.staged *= stage / most
			}
		}
	}
}

// stretch is a phase of a whole CTA.
type stretch struct {
	longest work // of its warps, by time
	sum     work // of all warps
	warps   float64
	times   float64
}

// alone is how long a CTA takes with the SM to itself, cycles, and how often it waits for
// memory.
type alone struct {
	time, contended float64
	lockstep        float64 // time if it keeps step with CTAs that read the same
	waits, fromL2   float64 // of the warp that takes longest
	staged          float64 // of all warps
}

// add adds n times o.
func (a *alone) add(o *alone, n float64) {
	a.time += n * o.time
	a.lockstep += n * o.lockstep
	a.contended += n * o.contended
	a.waits += n * o.waits
	a.fromL2 += n * o.fromL2
	a.staged += n * o.staged
}

// compose runs the phases of a CTA one after another.
func compose(f *cost.Figures, m *memory, ks []kind) alone {
	n := 0
	for i := range ks {
		n = max(n, len(ks[i].phases))
	}
	var a alone
	for p := range n {
		var s stretch
		for i := range ks {
			if p >= len(ks[i].phases) {
				continue
			}
			h := &ks[i].phases[p]
			s.sum.add(&h.work, ks[i].count)
			s.warps += ks[i].count
			s.times = math.Max(s.times, h.times)
			if h.time >= s.longest.time {
				s.longest = h.work
			}
		}
		t := s.makespan(f, m)
		if p < n-1 {
			t += f.Barrier + f.BarrierWarp*s.warps
		}
		a.time += s.times * t
		a.contended += s.times * s.contended()
		a.waits += s.times * s.longest.waits
		a.fromL2 += s.times * s.longest.fromL2
		a.staged += s.times * s.sum.staged
	}
	return a
}

// contended is the mean contention delays of DRAM until the last warp is done. The longest of n
// exponential delays exceeds their mean by about log n standard deviations, which for a sum of
// delays grows with the root of their number.
func (s *stretch) contended() float64 {
	return s.longest.contended + math.Log(s.warps)*math.Sqrt(s.longest.fromDRAM)
}

// queued is how long the phase takes if its warps come to the units at random times and wait
// there for each other.
func (s *stretch) queued(f *cost.Figures, m *memory, least float64) float64 {
	subs := math.Min(float64(f.Schedulers), s.warps)
	low, high := least, least
	at := func(t float64) float64 {
		end := s.longest.time
		for r := range resource(numResources) {
			n, one := s.warps, s.sum.busy[r]/s.warps
			if one == 0 {
				continue
			}
			if r.ofSub() {
				n /= subs
			}
			if r.shared() {
				one /= m.burst
			}
			end += one * wait(n*one/t, n)
		}
		return end
	}
	for at(high) > high {
		low, high = high, 2*high
	}
	for high-low > least/256 {
		if t := (low + high) / 2; at(t) > t {
			low = t
		} else {
			high = t
		}
	}
	return high
}

// makespan is how long the warps of a CTA take together for a phase, as a flow shop of
// identical jobs: each warp visits each unit once a round, and a round ends with a wait for a
// result. In each of the rounds a unit takes what is longer, a warp's share of its time alone
// or all warps' share of the unit; in the last round the last warp comes after all others.
func (s *stretch) makespan(f *cost.Figures, m *memory) float64 {
	alone := s.longest.time
	longest := alone
	rounds := math.Max(s.longest.waits, 1)
	subs := math.Min(float64(f.Schedulers), s.warps)
	for r := range resource(numResources) {
		busy := s.sum.busy[r]
		if busy == 0 {
			continue
		}
		if r.ofSub() {
			// Issue ports are visited with every instruction.
			longest = math.Max(longest, busy/subs)
			continue
		}
		if r.shared() {
			busy /= m.burst
		}
		one := busy / s.warps
		t := (rounds-1)*math.Max(busy/rounds, alone/rounds) + alone/rounds + (busy-one)/rounds
		longest = math.Max(longest, t)
	}
	return s.queued(f, m, longest)
}
