package cost

import "math"

// coalesceExponent: where r SMs of a group read the same lines in step, r^coalesceExponent
// times one SM's requests reach L2 for each. Measured 0.65, 0.46 to 0.57, 0.40 and 0.38 of the
// requests for 2, 4, 8 and 16 SMs (deploy/calibrate merged.read, 16, 32, 66 and 132 sharers;
// lts__t_sectors_srcunit_tex_op_read).
const coalesceExponent = -0.42

// L2Coalesce is what L2's request coalescer leaves of requests for the same data. A group of
// SMs (arch.Descriptor.L2MergingGroups of them) sends one request for a line that several ask
// for at about the same time; the others wait for it. requests is the share that reaches L2,
// held the share of the time that they hold its slices, where readers CTAs run at a time and
// read the same in step. How CTAs fall on groups is not known: they are taken to fall evenly.
func (m *Machine) L2Coalesce(readers float64) (requests, held float64) {
	d := m.Arch
	r := math.Min(readers, float64(d.SMs)) / math.Max(d.L2MergingGroups, 1)
	if d.L2MergedBytesPerCycle <= d.L2BytesPerCycle || r <= 1 {
		return 1, 1
	}
	requests = math.Pow(r, coalesceExponent)
	return requests, math.Max(requests, d.L2BytesPerCycle/d.L2MergedBytesPerCycle)
}
