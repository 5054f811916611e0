package target

import "github.com/warptune/warptune/simengine/assemble/rules"

// CTA is what a kernel declares of its CTAs.
type CTA struct {
	Threads int // at most, by .maxntid or .reqntid; 0: nothing is declared
	Shared  int // static shared memory, bytes
}

// SM is what limits the CTAs resident on an SM (CUDA C++ Programming Guide, table "Technical
// Specifications per Compute Capability"; sub-partitions as in the descriptors of package arch).
type SM struct {
	warps, ctas int // resident at most
	partitions  int // sub-partitions, each with its part of the register file
	shared      int // shared memory of all CTAs, bytes
	reserved    int // shared memory that the system takes for each CTA, bytes
	unit        int // granularity of a CTA's shared memory, bytes
}

// smOf is the SM of compute capability v, ten times the major number plus the minor one.
func smOf(v int) SM {
	s := SM{warps: 64, ctas: 32, partitions: 4, unit: 256}
	if v >= 80 {
		s.reserved, s.unit = 1<<10, 128
	}
	kib := 64
	switch {
	case v < 37:
		s.ctas, kib = 16, 48
	case v < 50:
		s.ctas, kib = 16, 112 // compute capability 3.7
	case v == 60:
		s.partitions = 2
	case v == 52 || v == 61 || v == 70 || v == 72:
		kib = 96
	case v == 75:
		s.warps, s.ctas = 32, 16
	case v == 80:
		kib = 164
	case v == 87:
		s.warps, s.ctas, kib = 48, 16, 164
	case v == 86:
		s.warps, s.ctas, kib = 48, 16, 100
	case v == 89 || v >= 120:
		s.warps, s.ctas, kib = 48, 24, 100
	case v >= 90:
		kib = 228
	}
	s.shared = kib << 10
	return s
}

// Offers is how many registers a thread of a kernel that needs need of them may take. Without a
// declared CTA size that is the occupancy step. With one it is what leaves as many CTAs resident:
// one step more at most where registers limit the CTAs; where their number or static shared memory
// does, all that they leave.
//
// Evidence, ptxas corpus (deploy/calibrate/ptxas/bounds.py, 13.0.88, sm_90, 222 kernels by seven sizes): counts are
// within 10 % for 59 % of kernels with CTAs of 32 threads, by the step alone for 17 %. With 64 threads and 24 KB of
// shared memory it is 56 and 17 %. Without a declared size ptxas' counts do not depend on shared memory.
func (t *Target) Offers(need int, c CTA) int {
	step := t.Step(need)
	if c.Threads == 0 || !t.Uses(rules.DeclaredSizes) {
		return step
	}
	resident, most := t.resident(need, c), MaxRegisters
	if resident < t.resident(1, c) {
		most = t.Step(step + 1)
	}
	for n := step; n <= MaxRegisters+1 && min(n, MaxRegisters) <= most && t.resident(n, c) >= resident; n += 8 {
		step = min(n, MaxRegisters)
	}
	return step
}

// OffersLeast is Offers of a kernel that declares a least number of CTAs: an occupancy step more, and no less than half
// of the SM's warps leave.
//
// Evidence, ptxas corpus (13.0.88; 133 programs of advec_u, bgemm64, conv_igemm, conv_wmma, coo_segsum, fft4k, ntt_gold
// and pathfinder): counts are within 10 % for 110. With all registers that these CTAs leave it is 96, with a step more
// alone 96, too, and 5 of 22 of advec_u.
func (t *Target) OffersLeast(need int, c CTA) int {
	return max(t.Offers(need, c), t.Step(t.Step(need)+1), t.Leaves(t.sm.warps/2))
}

// resident is the number of CTAs resident on an SM with that many registers a thread.
func (t *Target) resident(registers int, c CTA) int {
	perWarp := (registers*32 + t.RegUnit - 1) / t.RegUnit * t.RegUnit
	n := min(RegisterFile/t.sm.partitions/perWarp*t.sm.partitions, t.sm.warps) / ((c.Threads + 31) / 32)
	n = min(n, t.sm.ctas)
	if c.Shared > 0 {
		n = min(n, t.sm.shared/((c.Shared+t.sm.reserved+t.sm.unit-1)/t.sm.unit*t.sm.unit))
	}
	return n
}

// Leaves is how many registers a thread of so many resident warps may have: those of the sub-partition with the most
// warps, in whole units.
//
// Evidence, ptxas 13.0.88: kernels that need all they can get take 168 registers with 288 threads declared to be
// resident, 96 with 640, 80 with 672, 72 with 800, for sm_80 and sm_90.
func (t *Target) Leaves(warps int) int {
	most := (warps + t.sm.partitions - 1) / t.sm.partitions
	return RegisterFile / t.sm.partitions / most / t.RegUnit * t.RegUnit / 32
}
