package cost

// Releases of many warps at a time. A barrier of the cluster whose arrival releases takes 754 cycles of an H100 with one CTA
// of 4 warps on each SM (deploy/calibrate fronts.barrier). With 8, 16 and 32 warps it takes 823, 1241 and 1330. With
// several CTAs of 4 warps it takes 907 to 952, with four of 8 warps 1064 to 1112. Without a release it takes 89 to 167.
// Between the loads and stores of a stream a second one with 64 warps on the SM takes 1,210 cycles more. Other GPUs are
// taken to do as many times as long.
var releaseWarps = [...]struct{ warps, times float64 }{{4, 1}, {8, 1.1}, {16, 1.73}, {32, 1.87}}

// The least of it where an SM has several CTAs, and four and more of eight and more warps.
const releaseBeside, releaseCrowded = 1.25, 1.5

// ReleaseTimes is how many times as long as by itself a release beyond the CTA takes where all warps of a CTA of so many
// make one, beside ctas-1 other CTAs of the SM.
func ReleaseTimes(warps, ctas int) float64 {
	times := releaseWarps[len(releaseWarps)-1].times
	for i, p := range releaseWarps {
		if float64(warps) > p.warps {
			continue
		}
		if times = p.times; i > 0 {
			q := releaseWarps[i-1]
			times = q.times + (p.times-q.times)*(float64(warps)-q.warps)/(p.warps-q.warps)
		}
		break
	}
	switch {
	case ctas >= 4 && warps >= 8:
		times = max(times, releaseCrowded)
	case ctas > 1:
		times = max(times, releaseBeside)
	}
	return times
}
