package assemble

import (
	"github.com/warptune/warptune/simengine/assemble/hir/opt"
	"github.com/warptune/warptune/simengine/assemble/target"
	"github.com/warptune/warptune/simengine/ir"
)

// DebugNeeds is for experiments.
func DebugNeeds(k *ir.Kernel) map[string]int {
	out := map[string]int{}
	opts := Options{CC: [2]int{9, 0}}
	p, err := Prepare(k, opts)
	if err != nil {
		return nil
	}
	t := p.base.hir.Target
	limit := registerCap(k, t, opts)
	c := target.CTA{Threads: declaredThreads(k, opts), Shared: k.SharedBytes}
	out["limit"] = limit
	f, err := p.variant(0, limit)
	if err != nil {
		return nil
	}
	out["need0"] = f.need()
	f.byPressureList()
	out["needP"] = f.need()
	f.byVectorLoad()
	out["needV"] = f.need()
	out["offer"] = t.Offers(f.need(), c)
	if g, err := p.variant(opt.RematLimit, limit); err == nil {
		out["rem0"] = g.need()
		p.byLoads(g)
		out["remV"] = g.need()
	}
	return out
}
