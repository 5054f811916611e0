package cost

import (
	"math"

	"github.com/warptune/warptune/simengine/arch"
)

// Sharers are CTAs that read the same data at about the same time. L2 looks up a line for the first of them that asks.
// Those that ask while it is on its way join it, and L2 does not look it up for them.
type Sharers struct {
	// CTAs is how many of those that run at a time read it, Apart how many steps in the order of launch are from one
	// to the next.
	CTAs, Apart float64
	// Waves is how often the SMs are filled, at least once, and PerSM how many CTAs an SM has at a time.
	Waves, PerSM float64
	// Copied reports whether the data is copied to shared memory ahead of its use. A CTA that waits for each load
	// instead goes on when the line comes, with all that wait for it, and so stays in step.
	Copied bool
}

// joining is how many requests of CTAs in a row come while a line is on its way. CTAs that start together are the most in
// step, less so in later waves and with more CTAs an SM. Figures are fitted to what L2 looks up in 677 profiled launches
// of H100s and H200s: shared/hopper and the data sets triton-wgmma-a to -c, h200-tensor-cores, h100 independent-b and
// independent-d (lts__t_sectors_op_read). One by one, launches of one wave that share tiles come to 1.6 to 3, those of 15
// waves to 0.7 to 1.
type joining struct{ atOnce, waves, perSM float64 }

var (
	copiesJoin = joining{atOnce: 1.6, waves: -0.25, perSM: -1.2}
	loadsJoin  = joining{atOnce: 1.4, waves: -0.5, perSM: -0.3}
)

// LookedUp is the share of what the CTAs ask for that L2 looks up.
func (s Sharers) LookedUp() float64 {
	if s.CTAs <= 1 {
		return 1
	}
	j := loadsJoin
	if s.Copied {
		j = copiesJoin
	}
	joined := j.atOnce * math.Pow(math.Max(s.Waves, 1), j.waves) * math.Pow(math.Max(s.PerSM, 1), j.perSM) / math.Max(s.Apart, 1)
	return (1 + (s.CTAs-1)/(1+joined)) / s.CTAs
}

// tilesExponent is for reads of which it is only known that so many CTAs of a GPC read the same tiles: to that power of
// them L2 looks up, times one SM's.
const tilesExponent = -0.13

// TilesLookedUp is the share of what SMs ask for that L2 looks up, where merged CTAs of a GPC read the same tiles.
func TilesLookedUp(merged float64) float64 { return math.Pow(math.Max(merged, 1), tilesExponent) }

// Joins reports whether requests of several SMs for the same line are known to become one on a GPU.
func Joins(d *arch.Descriptor) bool { return d.L2MergedBytesPerCycle > d.L2BytesPerCycle }
