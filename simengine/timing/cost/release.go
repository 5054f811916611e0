package cost

import "math"

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

// Warps that come to a barrier of their cluster with what they loaded from DRAM wait for the longest load of all its CTAs.
// Between the loads and stores of a stream an H100's wait 403, 529 and 710 cycles longer for 2, 4 and 8 CTAs of 4 warps than
// for their own CTA alone, and 288, 351 and 466 for such of 16 warps; of 32 warps 195 for two. At a second barrier, which no
// load comes before, they do not (deploy/calibrate fronts.barrier). Nor do CTAs of a cluster start apart: those that only
// wait as long as each other come to the barrier together (gangs.hold).
const (
	apartOthers, apartDoubled = 280, 143 // for other CTAs at all, and each time that there are twice as many
	apartWarps                = 0.17     // less each time that CTAs have twice as many warps, from four on
)

// ClusterApart is how much longer such a wait is, cycles, in clusters of so many CTAs of so many warps.
func ClusterApart(ctas, warps int) float64 {
	if ctas < 2 {
		return 0
	}
	less := apartWarps * math.Max(math.Log2(float64(warps)/4), 0)
	return (apartOthers + apartDoubled*math.Log2(float64(ctas))) * (1 - less)
}

// clusterVacancy and clusterVacancyWarp are how much longer the slots of a cluster's CTAs stay empty, cycles: clusters of 2 to
// 16 CTAs of 4 warps 30 to 50 ns, of 32 warps 60 to 95 ns (deploy/calibrate gangs.hold, an H100).
const clusterVacancy, clusterVacancyWarp = 70.0, 2.5

// VacancyOf is how many cycles a slot stays empty after a CTA of so many warps, in clusters of so many CTAs, where it is
// vacancy after one warp and each further one adds another.
func VacancyOf(vacancy, another float64, warps, cluster int) float64 {
	v := vacancy + another*float64(warps-1)
	if cluster > 1 {
		v += clusterVacancy + clusterVacancyWarp*float64(warps)
	}
	return v
}
