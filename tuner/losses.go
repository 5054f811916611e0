package tuner

import (
	"math"
	"time"
)

// losses is how often workers that hold something are lost, whatever it is: so
// many in so much of their time. What is not known speaks for no configuration's
// guilt: after a start a loss says next to nothing.
type losses struct {
	lost  float64 // workers; those that held a suspect alone once it has been evaluated
	lived float64 // seconds in which workers held something and were heard of after
}

// lossWindow is how long the workers' time counts, as one that passes for all of
// them. While nothing is held it stands still.
const lossWindow = 10 * time.Minute

// live notes that one of so many workers has lived so long since it was last heard
// of, and held something.
func (n *losses) live(d time.Duration, workers int) {
	keep := math.Exp(-d.Seconds() / lossWindow.Seconds() / float64(max(workers, 1)))
	n.lost *= keep
	n.lived = n.lived*keep + d.Seconds()
}

// What speaks against a configuration weighs so much: a fault of a worker that
// works otherwise, and at most and at least the loss of a worker that held it alone.
// A fault is said; a loss has many reasons, so it takes five of them where it takes
// three faults, and sixty where workers are lost at everything.
const (
	faultWeight = 100
	lossWeight  = 60
	leastWeight = 5
)

// weigh returns what the loss of a worker weighs that held one configuration alone
// for so long: the logarithm of how likely it was to be lost in that time for no
// reason of the configuration's. own are the losses that may be the configuration's
// doing already; one more than the others is what there may be, so that few seconds
// without any prove little. Where it is one in a hundred or less, the loss has its
// full weight; where it is one in ten, half of that. Five of full weight have come
// together by chance at one trial of 10^10.
func (n *losses) weigh(own int, held time.Duration) int {
	rate := (max(0, n.lost-float64(own)) + 1) / max(n.lived, 1e-9)
	chance := -math.Expm1(-rate * held.Seconds())
	return int(min(max(lossWeight*math.Log10(1/max(chance, 1e-9))/2, leastWeight), lossWeight))
}
