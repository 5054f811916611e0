package cost

import (
	"math"

	"github.com/warptune/warptune/simengine/arch"
)

// What a barrier of the grid takes beyond one atomic and one look, fitted to 132 to 1,056 CTAs on an H100: 0.94 us, and
// 1.3 ns for each CTA (deploy/calibrate gridsync, results/h100-gridsync.jsonl.gz).
const (
	// lookOfAtomic is how long the looks of a CTA hold the word, relative to its atomic. An atomic there takes 0.73 ns.
	lookOfAtomic = 0.78
	// failedLooks is the looks of the CTA that leaves last before the one that ends its wait: the first, which is sent
	// with the atomic, and one that comes just before the last arrival.
	failedLooks = 2
)

// GridBarrier is what a barrier of so many CTAs of the grid takes beyond one CTA's atomic and look, cycles. The CTAs come
// at the same time. Their atomics and looks are at one word and served one after another. The slowest is far from it.
func (m *Machine) GridBarrier(ctas float64) float64 {
	if ctas <= 1 {
		return 0
	}
	looks := failedLooks * math.Max(m.Arch.Latency[arch.LatencyL2Far], m.Arch.Latency[arch.LatencyL2])
	return looks + (ctas-1)*(1+lookOfAtomic)/math.Max(m.Arch.AtomicsSameAddress, 1e-3)
}

// GridBarrier is Machine.GridBarrier.
func (f *Figures) GridBarrier(ctas float64) float64 { return f.m.GridBarrier(ctas) }
