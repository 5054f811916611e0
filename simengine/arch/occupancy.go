package arch

import "fmt"

// Limiter is the resource that bounds how many CTAs are resident on an SM.
type Limiter int

// The limiters, in the order in which a tie is broken. The zero value is invalid.
const (
	LimiterInvalid   Limiter = iota
	LimiterWarps             // warps (threads) of the SM
	LimiterCTAs              // CTA slots of the SM
	LimiterRegisters         // register file
	LimiterShared            // shared memory of the carve-out
)

// String names the limiter as Nsight Compute's launch__occupancy_limit_… do.
func (l Limiter) String() string {
	switch l {
	case LimiterWarps:
		return "warps"
	case LimiterCTAs:
		return "blocks"
	case LimiterRegisters:
		return "registers"
	case LimiterShared:
		return "shared_mem"
	}
	return fmt.Sprintf("Limiter(%d)", int(l))
}

// Occupancy is how many CTAs of a kernel one SM holds and why not more.
type Occupancy struct {
	CTAs    int // resident on one SM
	Warps   int // resident on one SM
	Limiter Limiter

	// CTAs each resource alone would allow: launch__occupancy_limit_registers,
	// _shared_mem, _warps and _blocks.
	ByRegisters, ByShared, ByWarps, ByCTAs int
	// ByClusters is the CTAs that clusters have an SM hold at most; without clusters no limit.
	ByClusters int

	Theoretical     float64 // Warps over the SM's maximum, 0…1
	CarveOut        int     // bytes of shared memory the SM is configured with
	L1Bytes         int     // L1 left to the SM
	RegistersPerCTA int     // allocated, rounded up
	SharedPerCTA    int     // bytes allocated, rounded up, the system's part included
}

// noLimit is what Nsight Compute's counters never reach: a kernel without
// registers or shared memory is not limited by them.
const noLimit = 1 << 20

// Occupy computes the occupancy of a kernel on an SM whose shared memory is
// configured to carveOut bytes. An error is a *LaunchError: not even one CTA
// fits an SM, whatever its carve-out. A carve-out too small for one CTA is
// raised to the smallest that holds it, as the driver does.
//
// The rules are those of NVIDIA's cuda_occupancy.h. Registers are given to a warp in units. Warps are spread over
// the sub-partitions, and each has its own part of the register file. Shared memory is given to a CTA in units,
// with the system's reservation on top.
func Occupy(d *Descriptor, k Kernel, carveOut int) (Occupancy, error) {
	if err := checkKernel(d, k); err != nil {
		return Occupancy{}, err
	}
	o := Occupancy{
		ByRegisters:     registerCTAs(d, k),
		ByWarps:         d.MaxWarps / warps(k.Threads),
		ByCTAs:          d.MaxCTAs,
		RegistersPerCTA: registersPerWarp(d, k.Registers) * warps(k.Threads),
		SharedPerCTA:    allocatedShared(d, k.Shared),
	}
	o.CarveOut = max(carveOut, smallestCarveOut(d, o.SharedPerCTA))
	o.ByShared = noLimit
	if o.SharedPerCTA > 0 {
		o.ByShared = o.CarveOut / o.SharedPerCTA
	}
	o.ByClusters = noLimit
	if k.Cluster > 1 {
		o.ByClusters = mostOfClusters
	}
	o.CTAs = min(o.ByRegisters, o.ByShared, o.ByWarps, o.ByCTAs, o.ByClusters)
	switch o.CTAs {
	case o.ByWarps:
		o.Limiter = LimiterWarps
	case o.ByCTAs, o.ByClusters:
		o.Limiter = LimiterCTAs
	case o.ByRegisters:
		o.Limiter = LimiterRegisters
	default:
		o.Limiter = LimiterShared
	}
	o.Warps = o.CTAs * warps(k.Threads)
	o.Theoretical = float64(o.Warps) / float64(d.MaxWarps)
	o.L1Bytes = d.L1Bytes(o.CarveOut)
	return o, nil
}

// registerCTAs is how many CTAs the register file holds: whole warps in each
// sub-partition's part.
func registerCTAs(d *Descriptor, k Kernel) int {
	perWarp := registersPerWarp(d, k.Registers)
	if perWarp == 0 {
		return noLimit
	}
	return d.Registers / d.SubPartitions / perWarp * d.SubPartitions / warps(k.Threads)
}

// allocatedShared is the shared memory a CTA takes of the carve-out: its own,
// rounded up to the unit, and the system's.
func allocatedShared(d *Descriptor, shared int) int {
	return roundUp(shared+d.SharedReserved, d.SharedUnit)
}
