package cost

import "math"

// LockstepWait is how long CTAs that read the same data in step wait for DRAM, as a share of
// the wait of a CTA that reads data of its own. Whichever SM is nearest to the data gets it
// first and sets the pace. A step of 1, 2, 4, 33 and 132 such CTAs takes 714, 711, 704, 627 and
// 612 cycles (deploy/calibrate together.end); between 4 and 33 the share falls with the
// logarithm of readers.
func LockstepWait(readers float64) float32 {
	const few, many, least = 4, 33, 0.88
	at := math.Log(readers/few) / math.Log(many/few)
	return float32(1 - (1-least)*math.Max(math.Min(at, 1), 0))
}
