package arch

import "fmt"

// Kernel is what a launch asks of an SM.
type Kernel struct {
	Threads   int // a CTA
	Registers int // a thread, as the assembler allocated
	Shared    int // bytes a CTA, static and dynamic together
	Static    int // of these, static
	Cluster   int // CTAs of its clusters; up to 1 for none
}

// Limit is a bound of the device that a launch breaks.
type Limit int

// The limits a launch can break. The zero value is invalid.
const (
	LimitInvalid   Limit = iota
	LimitThreads         // threads of a CTA
	LimitRegisters       // registers of a thread or of a CTA
	LimitShared          // shared memory of a CTA
	LimitStatic          // of it what its arrays of a fixed size take
	LimitGrid            // CTAs of the grid in a dimension
	LimitBlock           // threads of the CTA in a dimension
	LimitCluster         // CTAs of a cluster
	LimitResident        // CTAs of a cooperative launch, which have to be resident together
)

// String names the limit as CUDA's documents do.
func (l Limit) String() string {
	switch l {
	case LimitThreads:
		return "threads per block"
	case LimitRegisters:
		return "registers"
	case LimitShared:
		return "shared memory per block"
	case LimitStatic:
		return "static shared memory per block"
	case LimitGrid:
		return "grid dimension"
	case LimitBlock:
		return "block dimension"
	case LimitCluster:
		return "blocks per cluster"
	case LimitResident:
		return "blocks of a cooperative launch, which wait for each other"
	}
	return fmt.Sprintf("Limit(%d)", int(l))
}

// LaunchError says that a configuration cannot start on an architecture. The
// fault is the configuration's, so a trial with it is done, not to be retried.
type LaunchError struct {
	Arch       string
	Limit      Limit
	Want, Most int
	What       string // "threads", "bytes", "registers a thread", …
}

// Error is one line: what was asked, and what the architecture allows.
func (e *LaunchError) Error() string {
	text := fmt.Sprintf("%s cannot launch this configuration: %s: %d %s asked, %s to %d allowed",
		e.Arch, e.Limit, e.Want, e.What, e.least(), e.Most)
	if e.Limit == LimitStatic {
		text += " by ptxas; more has to be dynamic (an extern array, and its size at the launch)"
	}
	return text
}

func (e *LaunchError) least() string {
	if e.Limit == LimitShared || e.Limit == LimitStatic || e.Limit == LimitRegisters {
		return "0"
	}
	return "1"
}

// CheckLaunch reports the first limit that a launch of grid CTAs of block threads
// breaks, as a *LaunchError, or nil.
func CheckLaunch(d *Descriptor, grid, block [3]int, k Kernel) error {
	fail := func(l Limit, want, most int, what string) error {
		return &LaunchError{Arch: d.Name, Limit: l, Want: want, Most: most, What: what}
	}
	// CUDA C++ Programming Guide, compute capability tables; the same since 3.0.
	mostGrid, mostBlock := [3]int{1<<31 - 1, 65535, 65535}, [3]int{1024, 1024, 64}
	for i, axis := range [3]string{"in x", "in y", "in z"} {
		if grid[i] < 1 || grid[i] > mostGrid[i] {
			return fail(LimitGrid, grid[i], mostGrid[i], "blocks "+axis)
		}
		if block[i] < 1 || block[i] > mostBlock[i] {
			return fail(LimitBlock, block[i], mostBlock[i], "threads "+axis)
		}
	}
	if threads := block[0] * block[1] * block[2]; threads != k.Threads {
		return fmt.Errorf("launch of %v threads a block does not match a kernel of %d", block, k.Threads)
	}
	return checkKernel(d, k)
}

// checkKernel reports what keeps one CTA of the kernel from fitting into an empty SM.
func checkKernel(d *Descriptor, k Kernel) error {
	switch {
	case k.Threads < 1 || k.Threads > d.MaxThreadsPerCTA:
		return &LaunchError{d.Name, LimitThreads, k.Threads, d.MaxThreadsPerCTA, "threads"}
	case k.Shared < 0 || k.Shared > d.SharedPerCTAOptIn:
		return &LaunchError{d.Name, LimitShared, k.Shared, d.SharedPerCTAOptIn, "bytes"}
	case k.Static > d.SharedPerCTA:
		// "uses too much shared data (0xc004 bytes, 0xc000 max)", by ptxas 13.0 for
		// sm_80, 90, 100 and 120. A driver that compiles the PTX itself (580) takes it.
		return &LaunchError{d.Name, LimitStatic, k.Static, d.SharedPerCTA, "bytes"}
	case k.Registers < 0 || k.Registers > d.MaxRegistersPerThread:
		return &LaunchError{d.Name, LimitRegisters, k.Registers, d.MaxRegistersPerThread, "registers a thread"}
	}
	// The check of one CTA rounds its warps up to the allocation granularity
	// (cuda_occupancy.h, cudaOccMaxBlocksPerSMRegsLimit).
	perWarp := registersPerWarp(d, k.Registers)
	need := perWarp * roundUp(warps(k.Threads), d.WarpUnit)
	if need > d.MaxRegistersPerCTA || need > d.Registers || registerCTAs(d, k) == 0 {
		return &LaunchError{d.Name, LimitRegisters, need, min(d.MaxRegistersPerCTA, d.Registers), "registers a block"}
	}
	return nil
}

func warps(threads int) int { return (threads + WarpSize - 1) / WarpSize }

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// registersPerWarp is the register file a warp takes, rounded up to the unit.
func registersPerWarp(d *Descriptor, registers int) int {
	return roundUp(registers*WarpSize, d.RegisterUnit)
}
