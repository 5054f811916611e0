package cost

import (
	"testing"

	"github.com/warptune/warptune/simengine/ir"
)

func TestBypassesL1(t *testing.T) {
	for name, c := range map[string]struct {
		in   ir.Instr
		want bool
	}{
		"ld":             {ir.Instr{Op: ir.Ld}, false},
		"ld.ca":          {ir.Instr{Op: ir.Ld, Cache: ir.CacheCA}, false},
		"ld.cs":          {ir.Instr{Op: ir.Ld, Cache: ir.CacheCS}, false},
		"ld.cg":          {ir.Instr{Op: ir.Ld, Cache: ir.CacheCG}, true},
		"ld.cv":          {ir.Instr{Op: ir.Ld, Cache: ir.CacheCV}, true},
		"ld.volatile":    {ir.Instr{Op: ir.Ld, Mod: ir.ModVolatile}, true},
		"ld.relaxed.cta": {ir.Instr{Op: ir.Ld, Mod: ir.ModRelaxed, Scope: ir.ScopeCTA}, false},
		"ld.relaxed.gpu": {ir.Instr{Op: ir.Ld, Mod: ir.ModRelaxed, Scope: ir.ScopeGPU}, true},
		"ld.acquire.sys": {ir.Instr{Op: ir.Ld, Mod: ir.ModAcquire, Scope: ir.ScopeSys}, true},
		"cp.async.ca":    {ir.Instr{Op: ir.CpAsync}, false},
		"cp.async.cg":    {ir.Instr{Op: ir.CpAsync, Mod: ir.ModBypassL1}, true},
		"st.cg":          {ir.Instr{Op: ir.St, Cache: ir.CacheCG}, false},
	} {
		if got := BypassesL1(&c.in); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
