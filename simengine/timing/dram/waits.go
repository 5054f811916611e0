package dram

import "math"

// Waits is how long reads wait for an idle DRAM, in cycles from the SM and back, as quantiles:
// entry k is that of the share (k+1/2)/len. Lines of one row segment wait alike, row segments
// independently of each other. Of two and of four lines in row segments of their own the longest takes 797 and 885
// cycles in the mean where one takes 729. Of four lines of one row segment it takes 776 (deploy/calibrate waits.mean,
// 4 warps on every SM). Independence of row segments gives 823 and 908.
type Waits [16]int64

// NewWaits reads the quantiles off percentiles (ascending, with their waits in
// cycles), linear between them and flat beyond.
func NewWaits(percentiles, waits []float64) (w Waits) {
	for k := range w {
		p := (float64(k) + 0.5) * 100 / float64(len(w))
		v := waits[0]
		for i, at := range percentiles {
			if p < at {
				break
			}
			v = waits[i]
			if i+1 < len(waits) {
				v += (waits[i+1] - v) * math.Min((p-at)/(percentiles[i+1]-at), 1)
			}
		}
		w[k] = int64(math.Round(v))
	}
	return w
}

// Of is one read's wait; noise is a number that spreads like a random one over row segments.
func (w *Waits) Of(noise uint64) int64 { return w[noise%uint64(len(w))] }

// Longest is the mean of the longest wait of reads from n row segments, at least one.
func (w *Waits) Longest(n float64) float64 {
	n = math.Max(n, 1)
	mean, below := 0.0, 0.0
	for k, v := range w {
		upTo := math.Pow(float64(k+1)/float64(len(w)), n)
		mean += float64(v) * (upTo - below)
		below = upTo
	}
	return mean
}
