package assemble

import (
	"github.com/warptune/warptune/simengine/assemble/target"
	"github.com/warptune/warptune/simengine/ir"
)

// registerCap is the largest number of registers a thread may have, 0 for no cap: the smallest of
// the user's cap, .maxnreg and what lets a declared CTA be resident. It is not less than the
// architecture's minimum.
func registerCap(k *ir.Kernel, t *target.Target, opt Options) int {
	limit := 0
	lower := func(n int) {
		if n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	lower(opt.MaxRegisters)
	lower(k.MaxRegs)
	if threads := declaredThreads(k, opt); threads > 0 {
		// With a least number of CTAs all registers that these leave are used, also where that is no bound.
		if n := t.Leaves((threads + 31) / 32 * max(k.MinCTAs, 1)); n < target.MaxRegisters || k.MinCTAs > 0 {
			lower(min(n, target.MaxRegisters))
		}
	}
	if limit == 0 {
		return 0
	}
	return min(max(limit, t.MinCap), target.MaxRegisters)
}

// declaredThreads is the largest CTA that a kernel is declared to be launched with, in threads; 0
// where nothing says.
func declaredThreads(k *ir.Kernel, opt Options) int {
	switch {
	case opt.MaxThreads > 0:
		return opt.MaxThreads
	case k.ReqNTid[0] > 0:
		return k.ReqNTid[0] * max(k.ReqNTid[1], 1) * max(k.ReqNTid[2], 1)
	}
	return k.MaxNTid[0] * max(k.MaxNTid[1], 1) * max(k.MaxNTid[2], 1)
}

// mostRegisters is the most registers a thread that a kernel gives its warps by setmaxnreg.inc, 0 where
// it has none. Their code is compiled for them; at launch a thread has what the cap says.
//
// Evidence, ptxas corpus (shared launches of gemm_ws, sm_90a): all five programs report their cap.
func mostRegisters(k *ir.Kernel) (most int) {
	for i := range k.Instrs {
		if in := &k.Instrs[i]; in.Op == ir.Setmaxnreg && in.Mod&ir.ModInc != 0 && len(in.Src) > 0 {
			most = max(most, int(min(in.Src[0].Imm, target.MaxRegisters)))
		}
	}
	return most
}

// productSlack is which part of the registers that it needs a program may take beyond them, the fourth for
// 4. One with products of warps or warpgroups, whose loads are asynchronous, does not use all of an
// occupancy step; least where a product takes A from registers, which were the results of another.
//
// Evidence, ptxas corpus (shared launches, sm_90a): 249 of 279 register counts of the other kernels are
// within 10 % with a sixth, 242 with a twelfth. Where products take A from registers, of attn_forward and swa_forward
// 61 of 66 with an eighth and 59 with a twelfth.
func productSlack(k *ir.Kernel, t *target.Target) (slack int) {
	if !t.Specific {
		return 0
	}
	for i := range k.Instrs {
		switch in := &k.Instrs[i]; {
		case in.Op == ir.Wgmma && !in.Matrix.FromShared:
			return 8
		case in.Op == ir.Wgmma || in.Op == ir.Mma:
			slack = 6
		}
	}
	return slack
}
