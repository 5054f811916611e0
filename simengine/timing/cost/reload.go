package cost

import "github.com/warptune/warptune/simengine/assemble"

// mostReloadLead is how many instructions before its first use ptxas asks for a spilled register: 42 in the median of
// 8,575 reloads in the machine code of 68 kernels that spill (datasets/h100-2026-11-26-triton-wgmma-a,
// h100-2026-11-27-triton-wgmma-b and -c); 24 and 72 are the quartiles, 6 and 138 the tenths. It spills more for the
// registers that they wait in. The model's assembler reloads right before the use.
const mostReloadLead = 42

// RecentIssues is a power of two above mostReloadLead: of so many instructions a warp keeps when they were issued.
const RecentIssues = 64

// ReloadLeads is, of each instruction of a block, how many instructions earlier ptxas has it if it reloads a spilled
// register, else 0. It stays in its block and behind the store of the word. nil: the block reloads nothing.
func ReloadLeads(block []assemble.Instr) []uint8 {
	var leads []uint8
	for i := range block {
		if in := &block[i]; IsReload(in) {
			if leads == nil {
				leads = make([]uint8, len(block))
			}
			leads[i] = uint8(roomBefore(block, i, mostReloadLead-distanceToUse(block, i)))
		}
	}
	return leads
}

// IsReload reports whether an instruction reloads a spilled register.
func IsReload(in *assemble.Instr) bool { return in.Class == assemble.Load && in.Source < 0 }

// distanceToUse is how many instructions lie between a load and the first that reads what it loads, at most
// mostReloadLead.
func distanceToUse(block []assemble.Instr, load int) int {
	n := 0
	for i := load + 1; i < len(block) && n < mostReloadLead; i++ {
		for _, s := range block[i].Src {
			if overlap(s, block[load].Dst[0]) {
				return n
			}
		}
		if block[i].Class != assemble.WgmmaPart {
			n++
		}
	}
	return n
}

// roomBefore is how many of at most so many instructions before a reload it may precede.
func roomBefore(block []assemble.Instr, reload, most int) int {
	in, n := &block[reload], 0
	for i := reload - 1; i >= 0 && n < most; i-- {
		b := &block[i]
		if b.Class == assemble.Store && b.Source < 0 && meet(b, in) {
			break
		}
		if b.Class != assemble.WgmmaPart {
			n++
		}
	}
	return n
}

// meet reports whether two spill accesses have a word in common.
func meet(a, b *assemble.Instr) bool {
	return int(a.Spill) < int(b.Spill)+int(max(b.Width/4, 1)) && int(b.Spill) < int(a.Spill)+int(max(a.Width/4, 1))
}

func overlap(a, b assemble.RegSpan) bool {
	return a.First < b.First+assemble.Reg(b.Count) && b.First < a.First+assemble.Reg(a.Count)
}
