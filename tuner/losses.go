package tuner

import (
	"math"
	"time"
)

// losses is how often workers are lost instead of reporting, whatever they hold:
// lately, over some minutes.
type losses struct {
	lost    float64 // workers that held no suspect alone
	reports float64 // calls of workers that had evaluated something
}

// lossWindow is what "lately" is.
const lossWindow = 10 * time.Minute

// pass lets time pass.
func (n *losses) pass(d time.Duration) {
	keep := math.Exp(-d.Seconds() / lossWindow.Seconds())
	n.lost *= keep
	n.reports *= keep
}

// What speaks against a configuration weighs so much: a fault of a worker that
// works otherwise, and at most the loss of a worker that held it alone. A fault is
// said; a loss has many reasons, so it takes five of them where it takes three
// faults.
const (
	faultWeight = 100
	lossWeight  = 60
)

// weigh returns what the loss of a worker while it held one configuration alone
// weighs, 1 to lossWeight: the logarithm of how likely it was to be lost for no
// reason of the configuration's. own are the losses that may be the configuration's
// doing already. Where one in a hundred is lost, or fewer, it has its full weight;
// where one in ten is, half of that.
func (n *losses) weigh(own int) int {
	lost := max(0, n.lost-float64(own))
	chance := lost / max(lost+n.reports, 1)
	return int(min(max(lossWeight*math.Log10(1/max(chance, 1e-9))/2, 1), lossWeight))
}
