package analytic

import "math"

// together is how long the CTA takes: as long as the last of its warps, or as what keeps a unit busy for longer, and
// what its warps wait for each other at the units of the SM. CTAs that start together do not all read and then all
// write, as others do (demand.apart): they ask for tiles long before they need them. row_softmax, which stores a row
// while it reads the next ones, takes as long with 64 threads a CTA as with 512 (shared/hopper).
func (r *roles) together(t *traffic, ks []kind) (a alone) {
	var last work
	warps := 0.0
	for i := range ks {
		h := &ks[i].phases[0]
		warps += ks[i].count
		if h.time >= last.time {
			last = h.work
		}
	}
	a.waits, a.fromL2 = last.waits, last.fromL2
	a.contended = last.contended + math.Log(warps)*math.Sqrt(last.fromDRAM)
	a.time = last.time
	subs := math.Min(float64(t.c.f.Schedulers), warps)
	for u := range resource(numResources) {
		busy := t.total.busy[u]
		switch {
		case u.ofSub():
			busy /= subs
		case u.shared():
			busy /= t.m.burst
		}
		a.time = math.Max(a.time, busy)
	}
	least := a.time
	at := func(now float64) float64 {
		end := least
		for u := lsu; u < numResources; u++ {
			one := t.total.blocking[u] / warps
			if u.shared() {
				one /= t.m.burst
			}
			end += one * wait(t.total.busy[u]/now, warps)
		}
		return end
	}
	low, high := least, least
	for at(high) > high {
		low, high = high, 2*high
	}
	for high-low > least/256 {
		if now := (low + high) / 2; at(now) > now {
			low = now
		} else {
			high = now
		}
	}
	a.time = high
	return a
}
