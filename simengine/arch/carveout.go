package arch

// DriverCarveOut is the preference (percent) that leaves the carve-out to the
// driver: cudaSharedmemCarveoutDefault.
const DriverCarveOut = -1

// ChooseCarveOut is the shared memory size, in bytes, that the driver configures
// an SM with for a kernel, given the preferred carve-out: DriverCarveOut, or a
// percentage of the largest. What remains of the unified memory is L1
// (Descriptor.L1Bytes). An error is a *LaunchError.
//
// The rules were read off 4,502 launches on an H200 with driver 580.159.04 that
// Nsight Compute reported launch__shared_mem_config_size of, over threads,
// registers, shared memory and preference
// (deploy/calibrate/results/h200.jsonl.gz, carveout.choice), all of which they give
// exactly; for other architectures they are assumed. In all cases the result is
// the smallest legal size that holds a wanted number of bytes; it always holds
// one CTA.
func ChooseCarveOut(d *Descriptor, k Kernel, percent int) (int, error) {
	if err := checkKernel(d, k); err != nil {
		return 0, err
	}
	need := allocatedShared(d, k.Shared)
	if percent > 0 || percent == 0 && k.Shared > 0 {
		return smallestCarveOut(d, max(need, preferred(d, k, percent))), nil
	}
	return smallestCarveOut(d, max(need, heuristic(d, k))), nil
}

// preferred is the bytes wanted for a percentage: that share of the largest
// size for the kernel's own data, and the system's reservation for every whole
// CTA these bytes hold. A preference of 0 wants nothing.
func preferred(d *Descriptor, k Kernel, percent int) int {
	own := min(percent, 100) * largestCarveOut(d) / 100
	if k.Shared == 0 {
		return own
	}
	return own + own/roundUp(k.Shared, d.SharedUnit)*d.SharedReserved
}

// heuristic is the bytes wanted when the driver chooses. It counts the CTAs that
// registers, warps, CTA slots and the largest carve-out allow.
//
// With one CTA it wants that one. With more it wants room to spare, up to the first size that is half of the
// largest: twice the CTAs, but no more than 32 less the warps of a CTA. Without shared memory of its own it always
// wants 32 less the warps of a CTA. The CTAs themselves are wanted in any case.
//
// Before Volta there was no such choice: the initial configuration is the
// largest shared memory (CUDA C Programming Guide, compute capability 3.x).
func heuristic(d *Descriptor, k Kernel) int {
	const slots = 32
	if d.CC[0] < 7 {
		return largestCarveOut(d)
	}
	perCTA := allocatedShared(d, k.Shared)
	ctas := min(registerCTAs(d, k), d.MaxWarps/warps(k.Threads), d.MaxCTAs)
	if perCTA > 0 {
		ctas = min(ctas, largestCarveOut(d)/perCTA)
	}
	if ctas <= 1 {
		return perCTA
	}
	spare := slots - warps(k.Threads)
	if k.Shared > 0 {
		spare = min(spare, 2*ctas)
	}
	half := smallestCarveOut(d, largestCarveOut(d)/2)
	return max(min(spare*perCTA, half), ctas*perCTA)
}

func largestCarveOut(d *Descriptor) int { return d.CarveOuts[len(d.CarveOuts)-1] }

// smallestCarveOut is the smallest legal size of at least want bytes, or the
// largest there is.
func smallestCarveOut(d *Descriptor, want int) int {
	for _, size := range d.CarveOuts {
		if size >= want {
			return size
		}
	}
	return largestCarveOut(d)
}
