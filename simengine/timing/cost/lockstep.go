package cost

import (
	"math"
)

// LockstepWait is how long CTAs that keep step wait for DRAM, of what one waits for data of
// its own: the nearest to it sets the pace. A step of 1, 2, 4, 33 and 132 CTAs that read
// the same takes 714, 711, 704, 627 and 612 cycles (deploy/calibrate together.end).
func LockstepWait(readers float64) float32 {
	const few, many, least = 4, 33, 0.88
	at := math.Log(readers/few) / math.Log(many/few)
	return float32(1 - (1-least)*math.Max(math.Min(at, 1), 0))
}
