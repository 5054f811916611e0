package cost

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/arch"
)

// What warps wait longer at the barrier of a cluster, after loads, than at one of their CTA alone must be what an H100's do.
// CTAs of 32 warps are left out for clusters of 4 and more: DRAM is less busy with them.
func TestClusterApartAgainstH100(t *testing.T) {
	type key struct{ ctas, warps int }
	waits := map[key]float64{}
	for _, r := range measured.On(t, "h100-fronts", "fronts.barrier") {
		if r.Int("release") == 0 && r.Int("stream") == 1 && r.Int("barriers") == 1 {
			waits[key{r.Int("cluster"), r.Int("threads") / 32}] = r.Value
		}
	}
	seen := 0
	for k, v := range waits {
		if k.ctas == 1 || k.warps == 32 && k.ctas > 2 {
			continue
		}
		seen++
		want := v - waits[key{1, k.warps}]
		if got := ClusterApart(k.ctas, k.warps); got < 0.85*want || got > 1.15*want {
			t.Errorf("%d CTAs of %d warps: %.0f cycles, measured %.0f", k.ctas, k.warps, got, want)
		}
	}
	if seen != 7 {
		t.Errorf("%d measurements", seen)
	}
	if got := ClusterApart(1, 4); got != 0 {
		t.Errorf("a CTA alone waits %g cycles for others", got)
	}
}

// Slots of clusters' CTAs must stay empty for as much longer than others as an H100's do, where all CTAs take as long.
func TestVacancyOfClustersAgainstH100(t *testing.T) {
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	type key struct{ ctas, warps int }
	held := map[key]float64{}
	for _, r := range measured.On(t, "h100-gangs", "gangs.hold") {
		if r.Int("ctas_per_sm") == 2 && r.Int("spread") == 0 && r.Int("barrier") == 0 {
			held[key{r.Int("cluster"), r.Int("threads") / 32}] = r.Value
		}
	}
	sum, seen := 0.0, 0
	for k, v := range held {
		if k.ctas < 2 {
			continue
		}
		got := (VacancyOf(0, 0, k.warps, k.ctas) - VacancyOf(0, 0, k.warps, 1)) / d.ClockMHz * 1000
		sum, seen = sum+math.Abs(got-(v-held[key{0, k.warps}])), seen+1
	}
	if mean := sum / float64(max(seen, 1)); seen != 8 || mean > 15 {
		t.Errorf("%.0f ns off in the mean of %d measurements", mean, seen)
	}
}
