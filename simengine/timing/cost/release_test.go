package cost_test

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/timing/cost"
)

// Barriers of clusters whose arrivals release must take an H100 as long as measured, by the warps of a CTA and the CTAs of
// an SM, relative to one of four warps.
func TestReleasesOfManyWarpsAgainstH100(t *testing.T) {
	const alone, relaxed = 754.0, 89.0
	n, off := 0, 0.0
	for _, m := range measured.Records[measured.Measurement](t, "../../../deploy/calibrate/results/h100-fronts.jsonl.gz") {
		if m.Name != "fronts.barrier" || m.Int("release") != 1 || m.Int("stream") != 0 || m.Int("cluster") > 2 {
			continue
		}
		got := relaxed + (alone-relaxed)*cost.ReleaseTimes(m.Int("threads")/32, m.Int("ctas_per_sm"))
		n, off = n+1, off+math.Abs(got/m.Value-1)
		if math.Abs(got/m.Value-1) > 0.17 {
			t.Errorf("%d threads, %d CTAs, clusters of %d: %.0f cycles, measured %.0f", m.Int("threads"), m.Int("ctas_per_sm"), m.Int("cluster"), got, m.Value)
		}
	}
	if n < 20 || off/float64(n) > 0.05 {
		t.Errorf("%d measurements, off by %.3f in the mean", n, off/float64(n))
	}
}
