package cost

import (
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
)

// How many instructions before their first use ptxas issues loads that the model's assembler, where registers are short,
// has right before it. Both are medians in machine code of datasets/h100-2026-11-26-triton-wgmma-a,
// h100-2026-11-27-triton-wgmma-b and -c.
const (
	// reloadLead is of reloads of spilled registers: 8,575 in 68 kernels, quartiles 24 and 72, tenths 6 and 138. ptxas
	// spills more for the registers that they wait in.
	reloadLead = 42
	// fragmentLead is of loads from shared memory for MMA of a warp: 2,936 ldmatrix in 62 kernels, quartiles 8 and 30,
	// tenths 3 and 75; of those with 240 registers and more 16 in the median, of others 12.
	fragmentLead = 14
)

// RecentIssues is a power of two above both leads: of so many instructions a warp keeps when they were issued.
const RecentIssues = 64

// Leads is, of each instruction of a block, how many instructions earlier ptxas issues it if it reloads a spilled register
// or loads a fragment, else 0. It stays in its block and behind what it depends on. nil: there is none.
func Leads(block []assemble.Instr) []uint8 {
	var leads []uint8
	for i := range block {
		most := 0
		if IsReload(&block[i]) {
			most = reloadLead
		} else if block[i].Class == assemble.Load && block[i].Space == ir.Shared {
			most = fragmentLead
		} else {
			continue
		}
		use, n := firstUse(block, i, most)
		if most == fragmentLead && (use < 0 || !isMMA(block[use].Class)) {
			continue
		}
		if leads == nil {
			leads = make([]uint8, len(block))
		}
		leads[i] = uint8(roomBefore(block, i, most-n))
	}
	return leads
}

// IsReload reports whether an instruction reloads a spilled register.
func IsReload(in *assemble.Instr) bool { return in.Class == assemble.Load && in.Source < 0 }

// isMMA reports whether a class is of MMA of a warp.
func isMMA(c assemble.Class) bool {
	switch c {
	case assemble.Tensor, assemble.TensorShort, assemble.TensorSingle, assemble.TensorSingleShort, assemble.TensorDouble:
		return true
	}
	return false
}

// firstUse is the first instruction that reads what a load loads, and how many lie between; -1 and most where these are
// more than most.
func firstUse(block []assemble.Instr, load, most int) (use, n int) {
	for i := load + 1; i < len(block) && n < most; i++ {
		for _, s := range block[i].Src {
			if overlap(s, block[load].Dst[0]) {
				return i, n
			}
		}
		if block[i].Class != assemble.WgmmaPart {
			n++
		}
	}
	return -1, most
}

// roomBefore is how many of at most so many instructions before a load it may precede.
func roomBefore(block []assemble.Instr, load, most int) int {
	n := 0
	for i := load - 1; i >= 0 && n < most && !orders(&block[i], &block[load]); i-- {
		if block[i].Class != assemble.WgmmaPart {
			n++
		}
	}
	return n
}

// orders reports whether a load must stay behind an instruction: what it reads is of that, a word stored or an address;
// of shared memory it also stays behind stores and waits.
func orders(before, load *assemble.Instr) bool {
	if IsReload(load) {
		return before.Class == assemble.Store && before.Source < 0 && meet(before, load)
	}
	switch before.Class {
	case assemble.Barrier, assemble.Control, assemble.Fence, assemble.MbarWait, assemble.ClusterBarrier, assemble.Branch:
		return true
	case assemble.Store, assemble.Atomic:
		return before.Space != ir.Global && before.Space != ir.Local
	}
	for _, d := range before.Dst {
		for _, s := range load.Src {
			if overlap(d, s) {
				return true
			}
		}
	}
	return false
}

// meet reports whether two spill accesses have a word in common.
func meet(a, b *assemble.Instr) bool {
	return int(a.Spill) < int(b.Spill)+int(max(b.Width/4, 1)) && int(b.Spill) < int(a.Spill)+int(max(a.Width/4, 1))
}

func overlap(a, b assemble.RegSpan) bool {
	return a.First < b.First+assemble.Reg(b.Count) && b.First < a.First+assemble.Reg(a.Count)
}
