package cost

import "github.com/warptune/warptune/simengine/ir"

// BypassesL1 says that an instruction reads global memory past L1: copies and loads that are to be kept in L2 alone
// (cp.async.cg, ld.cg), loads that are to be kept nowhere (ld.cv, ld.volatile), and those that see what other CTAs
// store (relaxed and acquire loads of a scope beyond the CTA). Of 32 KiB that an SM reads again and again by ld.cg
// all comes from L2 each time (deploy/calibrate merged.read, l1tex__m_xbar2l1tex_read_sectors).
func BypassesL1(in *ir.Instr) bool {
	switch in.Op {
	case ir.CpAsync:
		return in.Mod&ir.ModBypassL1 != 0
	case ir.Ld:
		ordered := in.Mod&(ir.ModRelaxed|ir.ModAcquire) != 0 && in.Scope > ir.ScopeCTA
		return in.Cache == ir.CacheCG || in.Cache == ir.CacheCV || in.Mod&ir.ModVolatile != 0 || ordered
	}
	return false
}
