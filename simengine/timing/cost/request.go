package cost

import (
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
)

// RequestCost is how long a request of a class holds the load/store unit, steps: the slowest of
// tags (by lines), data stage (by passes) and addressing. bypass reports whether it bypasses
// L1.
func (m *Machine) RequestCost(class assemble.Class, bypass bool, lines, passes int64) int64 {
	if class == assemble.AsyncCopy {
		return m.copyCost(lines, bypass)
	}
	cost := max(m.tagFirst+(lines-1)*m.TagNext, passes*m.dataPass, m.Addressing)
	if class == assemble.Store {
		cost = max(cost, lines*m.storeLine)
	}
	return cost
}

// BypassesL1 reports whether an instruction reads global memory from L2 even if L1 has the data. Copies and loads
// cached in L2 only do (cp.async.cg, ld.cg), and uncached loads (ld.cv, ld.volatile). So do relaxed or acquire loads
// of a scope beyond the CTA, which see what other CTAs store. Of 32 KiB that an SM reads again and again by ld.cg all
// comes from L2 each time (deploy/calibrate merged.read, l1tex__m_xbar2l1tex_read_sectors).
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
