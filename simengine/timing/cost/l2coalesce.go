package cost

import "math"

// coalesceExponent: of r SMs of a group that read the same lines in step, r^coalesceExponent times one's requests
// reach L2: 0.65, 0.46 to 0.57, 0.40 and 0.38 of them where 2, 4, 8 and 16 do
// (deploy/calibrate merged.read, 16, 32, 66 and 132 sharers; lts__t_sectors_srcunit_tex_op_read).
const coalesceExponent = -0.42

// L2Coalesce is what SMs ask of L2 where so many CTAs that run at a time read the same in step: the share
// of the requests that reach it, and of the time that they hold its slices. Requests of a group
// of SMs for a line that is on its way already wait for it (L2's request coalescer); how
// CTAs fall on groups is not known, and is taken for evenly.
func (m *Machine) L2Coalesce(readers float64) (requests, held float64) {
	d := m.Arch
	r := math.Min(readers, float64(d.SMs)) / math.Max(d.L2MergingGroups, 1)
	if d.L2MergedBytesPerCycle <= d.L2BytesPerCycle || r <= 1 {
		return 1, 1
	}
	requests = math.Pow(r, coalesceExponent)
	return requests, math.Max(requests, d.L2BytesPerCycle/d.L2MergedBytesPerCycle)
}
