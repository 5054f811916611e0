package target

// CTA is what a kernel declares of its CTAs.
type CTA struct {
	Threads int // at most, by .maxntid or .reqntid; 0: nothing is declared
	Shared  int // bytes of static shared memory
}

// SM is what bounds the CTAs that an SM holds, of the CUDA C++ Programming Guide's table
// "Technical Specifications per Compute Capability"; sub-partitions are those of the descriptors
// (TestResidencyAsDescriptors).
type SM struct {
	warps, ctas int
	partitions  int // sub-partitions, each with its own part of the register file
	shared      int // bytes for all CTAs together
	reserved    int // bytes that the system takes of each CTA's
	unit        int // bytes that a CTA's are rounded to
}

// smOf is the SM of a compute capability, ten times its major number and its minor one.
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
		s.ctas, kib = 16, 112 // 3.7
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

// Offers is how many registers a kernel that needs some may take. Without a declared CTA
// size it is the occupancy step. With one it is as many as leave no fewer CTAs resident:
// where registers bound these, one step more at most; where their number or
// static shared memory does, any number that does not come to bound them. ptxas 13.0.88 takes so, for sm_90
// (deploy/calibrate/bounds.py, 222 kernels by seven sizes): counts are within 10 % of
// its own for 59 % with CTAs of 32 threads, of which an SM holds 32 at most, and for 56 % with 24 KB of
// shared memory and 64 threads; by the step alone for 17 % of both. Without a declared size its counts are the same with any shared memory.
func (t *Target) Offers(need int, c CTA) int {
	step := t.Step(need)
	if c.Threads == 0 {
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

// resident is how many CTAs an SM holds with some registers a thread.
func (t *Target) resident(registers int, c CTA) int {
	perWarp := (registers*32 + t.RegUnit - 1) / t.RegUnit * t.RegUnit
	n := min(RegisterFile/t.sm.partitions/perWarp*t.sm.partitions, t.sm.warps) / ((c.Threads + 31) / 32)
	n = min(n, t.sm.ctas)
	if c.Shared > 0 {
		n = min(n, t.sm.shared/((c.Shared+t.sm.reserved+t.sm.unit-1)/t.sm.unit*t.sm.unit))
	}
	return n
}
