package timing

import (
	"math"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// Work is what a launch gives the units to do, counted over the whole device. Nothing of it is a
// time: held against one and the units' peaks it says which unit is nearest its peak.
type Work struct {
	CTAs         float64
	Instructions float64 // of warps
	// Pipe is how many instructions each arithmetic pipe executes, in cycles of a sub-partition's
	// pipe at its peak: one of a pipe of 16 lanes counts two. Indexed by Bound.
	Pipe [NumBounds]float64
	// Wavefronts are the turns of L1's data stage: global, local and shared memory, shuffles. Of them Shared
	// are of the last two and their like, which may take another time than the others.
	Wavefronts, Shared float64
	// Textures is the cycles for which fetches hold the SMs' texture units.
	Textures float64
	// Constants is the cycles for which loads hold the indexed constant caches: for each distinct word, and
	// for what is not there.
	Constants float64
	// L2Read and L2Written are the sectors that SMs ask L2 for and store there, atomics left out.
	L2Read, L2Written float64
	// L2Lookups are the sectors of reads that L2's slices look up, L2Hits those that they find. They are not L2Read:
	// sectors that cross between L2's halves are looked up twice, and instructions are read too.
	L2Lookups, L2Hits float64
	// Atomics is the cycles for which atomics hold the L2 slices that most of them fall on.
	Atomics float64
	// DRAMRead and DRAMWritten are bytes.
	DRAMRead, DRAMWritten float64
}

// Mean is the work of a launch whose time is the geometric mean of two levels' times: of cycles that a sample says that
// of both, so that what neither has beyond a peak is not beyond it either. What is counted is w's.
func (w *Work) Mean(o *Work) Work {
	m := *w
	for _, x := range [...]struct{ to, from *float64 }{
		{&m.Constants, &o.Constants}, {&m.Atomics, &o.Atomics},
	} {
		if a, b := *x.to, *x.from; a > 0 && b > 0 {
			*x.to = math.Sqrt(a * b)
		} else {
			*x.to = (a + b) / 2
		}
	}
	return m
}

// BoundFrom is the share of a unit's peak from which on it is said to bind: under it for all units
// latency does. The threshold is ours. Of 3,008 profiled launches (deploy/calibrate/datasets) 991 have no unit there
// by their counters. In 88 % of them what warps stall for longest is data, an instruction or a barrier, not a full
// pipe or queue. By how near the nearest unit is, that share is 95 % at 40 to 50 %, 90 % at 55 to 60 %, 81 % at 65 to
// 70 %, and 53 % from 90 % on.
const BoundFrom = 0.6

// Tie is the share of the nearest unit's from which on another is as good as nearest: counted work and its prediction
// differ by as much.
const Tie = 0.9

// Shares is how near each unit comes to its peak, 1 being there; by Bound.
type Shares [NumBounds]float64

// Shares holds work against the peaks of a device, over a time in cycles of its SMs. All
// SMs count, those without a CTA too, as in Nsight Compute's "avg.pct_of_peak_sustained_elapsed".
func (w *Work) Shares(d *arch.Descriptor, cycles float64) (s Shares) {
	if cycles <= 0 {
		return s
	}
	sms := float64(d.SMs)
	subs := sms * float64(d.SubPartitions)
	for b, busy := range w.Pipe {
		s[b] = busy / subs
	}
	s[BoundIssue] = w.Instructions / (subs * math.Max(float64(d.IssueWidth), 1))
	shared := math.Min(w.Shared, w.Wavefronts)
	s[BoundLSU] = ((w.Wavefronts-shared)*cache.LineBytes/math.Max(d.L1BytesPerCycle, 1) +
		shared*float64(d.Banks*d.BankWidth)/math.Max(d.SharedBytesPerCycle, 1)) / sms
	s[BoundTexture] = w.Textures / sms
	s[BoundConstant] = math.Min(w.Constants/sms, cycles) // by a sample
	s[BoundL2] = w.l2(d)
	s[BoundAtomics] = math.Min(w.Atomics, cycles) // by a sample
	s[BoundDRAM] = (w.DRAMRead + w.DRAMWritten) / d.DRAMBytesPerCycle()
	if d.CTALaunchRate > 0 {
		s[BoundLaunch] = w.CTAs / d.CTALaunchRate
	}
	for b := range s {
		s[b] /= cycles
	}
	return s
}

// active is the share of the SMs that have CTAs.
func (w *Work) active(d *arch.Descriptor) float64 {
	sms := math.Max(float64(d.SMs), 1)
	return math.Max(math.Min(w.CTAs, sms), 1) / sms
}

// l2 is the cycles that L2 takes for what is read and written: its slices for both, the ways to them
// for what is written. What SMs that read the same at a time ask for once comes faster than the rest.
func (w *Work) l2(d *arch.Descriptor) float64 {
	slices := (w.L2Read + dram.WriteSlices*w.L2Written) * cache.SectorBytes / l2Loads(d)
	if d.L2WriteBytesPerCycle <= 0 {
		return slices
	}
	return math.Max(slices, w.L2Written*cache.SectorBytes/d.L2WriteBytesPerCycle)
}

// l2Loads is what SMs get of L2 by loads at most, bytes a cycle.
func l2Loads(d *arch.Descriptor) float64 {
	return math.Max(d.L2BytesPerCycle, d.L2MergedBytesPerCycle)
}

// CopyLeast is the least share of what SMs copy to shared memory that L2 looks up, where it is not known which CTAs
// share it.
const CopyLeast = 0.94

// copiedTogether is how many lines, or parts of lines, L2 takes copies to shared memory of, at most, as a share of what
// each SM copies alone: of tiles that many CTAs share all SMs together copy rows of half a line as fast in lines as whole
// ones (deploy/calibrate tiles.copied: 37 to 41 and up to 75 bytes a cycle of each SM of an H200, 97 of one alone).
const copiedTogether = 0.82

// CopiedBytes is what SMs get of L2 by copies of whole lines to shared memory at most, bytes a cycle of them all.
func CopiedBytes(d *arch.Descriptor) float64 {
	return copiedTogether * float64(d.SMs) * d.BulkBytesPerCycle
}

// Nearest is the unit nearest its peak.
func (s *Shares) Nearest() Bound {
	best := BoundIssue
	for b := BoundIssue; b < BoundLatency; b++ {
		if s[b] > s[best] {
			best = b
		}
	}
	return best
}

// Bound is the unit nearest its peak if it is near, else latency.
func (s *Shares) Bound() Bound {
	if b := s.Nearest(); s[b] >= BoundFrom {
		return b
	}
	return BoundLatency
}

// Account says what bounds a launch that takes r.Cycles for r.Work, and sets what else follows from
// both: utilisation, and the counters that are times or rates.
func (r *Result) Account(d *arch.Descriptor) {
	w := r.Work.fitted(d, r.Cycles)
	s := w.Shares(d, r.Cycles)
	r.Bound, r.Nearest = s.Bound(), s.Nearest()
	r.Utilisation = make(map[string]float64, BoundLatency)
	for b := BoundIssue; b < BoundLatency; b++ {
		s[b] = math.Min(s[b], 1)
		r.Utilisation[b.String()] = s[b]
	}
	k := r.Metrics
	k[countTime], k[countCycles] = d.Microseconds(r.Cycles)*1000, r.Cycles
	k[countWavefronts], k[countShared] = w.Wavefronts, w.Shared
	k[countL2Read], k[countL2ReadHits] = w.L2Lookups, w.L2Hits
	k[countL2Written] = w.L2Written * WriteLookups(d.L2EffectiveBytes, d.L2Bytes)
	k[countL2ToL1], k[countL1ToL2] = cache.SectorBytes*w.L2Read, cache.SectorBytes*w.L2Written
	k[countDRAMRead], k[countDRAMWritten] = w.DRAMRead, w.DRAMWritten
	for _, p := range pipeCounts {
		k[p.name] = w.Pipe[p.bound] / pipeHold(d, p.lanes)
	}
	k["smsp__issue_active.avg.pct_of_peak_sustained_active"] = 100 * math.Min(s[BoundIssue]/w.active(d), 1)
	k["dram__throughput.avg.pct_of_peak_sustained_elapsed"] = 100 * s[BoundDRAM]
}

// fitted is work with traffic cut to what fits into a time. Both are of samples, of different ones where iterations
// are left out or waves; what a few iterations leave queued, stores on their way to DRAM first of all, may be more than
// the time has room for.
func (w Work) fitted(d *arch.Descriptor, cycles float64) Work {
	s := w.Shares(d, cycles)
	s[BoundL2] *= l2Loads(d) / math.Max(l2Loads(d), CopiedBytes(d))
	cut := func(b Bound, counts ...*float64) {
		for _, v := range counts {
			*v /= math.Max(s[b], 1)
		}
	}
	cut(BoundLSU, &w.Wavefronts, &w.Shared)
	cut(BoundL2, &w.L2Read, &w.L2Written, &w.L2Lookups, &w.L2Hits)
	cut(BoundDRAM, &w.DRAMRead, &w.DRAMWritten)
	return w
}

// Stalled is the reason that warps wait for longest, not counting those that another warp was issued
// before; StallInvalid where none was clocked.
func (r *Result) Stalled() StallReason {
	best := StallInvalid
	for k, v := range r.WarpStalls {
		if k := StallReason(k); k != NotSelected && k != Idle && v > r.WarpStalls[best] {
			best = k
		}
	}
	return best
}
