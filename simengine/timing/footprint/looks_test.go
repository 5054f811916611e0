package footprint

import (
	"testing"

	"github.com/warptune/warptune/simengine/timing/cost"
)

// CTAs in step that share what they load are as far apart as a step along the first axis that they share along.
func TestLooksByAxis(t *testing.T) {
	d := Device{Grid: [3]int{32, 64, 1}, Resident: 264, CTAsPerSM: 2}
	const ctas = 32 * 64
	looks := func(along Axes, inStep, sharers float64) float64 {
		g := group{}
		for k := range d.Grid {
			g.distinct[X+Direction(k)] = 10
			g.inStep[X+Direction(k)] = int64(10 * inStep)
		}
		p := Plan{ByInstr: newByInstr(1)}
		p.DistinctAlong[0], p.LockstepSharers[0], p.Readers[0], p.Merged[0] = along, sharers, sharers, 1
		return p.looks(&g, &d, 0, ctas)
	}
	want := func(apart float64) float64 {
		return cost.Sharers{CTAs: 8, Apart: apart, Waves: ctas / 264.0, PerSM: 2}.LookedUp()
	}
	const columns, rows Axes = 1 << 0, 1 << 1
	for name, c := range map[string]struct{ got, want float64 }{
		"a row of CTAs reads the same":    {looks(rows, 1, 8), want(1)},
		"a column of CTAs reads the same": {looks(columns, 1, 8), want(32)},
		"each its own":                    {looks(columns|rows, 1, 1), 1},
	} {
		if c.got != c.want {
			t.Errorf("%s: %.3f looked up, want %.3f", name, c.got, c.want)
		}
	}
}
