package ideal

import (
	"math"
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/trace"
)

// Traces gives traces of which the mechanisms cost nothing; it is source itself where none of them is one of traces.
func (s Set) Traces(p *assemble.Program, d *arch.Descriptor, source func(int64) (*trace.CTA, error)) func(int64) (*trace.CTA, error) {
	if s&(Banks|Coalescing|Constants|Atomics|SharedAtomics|L2Atomics|L1|LocalArrays|Divergence|CTAWork) == 0 {
		return source
	}
	kept := map[int64]*trace.CTA{} // both levels ask for the same
	return func(id int64) (*trace.CTA, error) {
		if c := kept[id]; c != nil {
			return c, nil
		}
		c, err := source(id)
		if err != nil || c == nil {
			return c, err
		}
		kept[id] = s.trace(p, d, c)
		return kept[id], nil
	}
}

// trace is a CTA's trace with the mechanisms costing nothing.
func (s Set) trace(p *assemble.Program, d *arch.Descriptor, c *trace.CTA) *trace.CTA {
	k := p.Kernel
	out := &trace.CTA{ID: c.ID, Warps: make([]trace.Warp, len(c.Warps))}
	for i := range c.Warps {
		out.Warps[i] = c.Warps[i]
		out.Warps[i].Accesses = slices.Clone(c.Warps[i].Accesses)
	}
	if s.Has(Divergence) {
		regroup(k, out)
	}
	if s.Has(Coalescing) {
		packScattered(k, out)
	}
	if s.Has(Atomics) {
		sumAtomics(p, out)
	}
	if s&(LocalArrays|CTAWork) != 0 {
		s.drop(k, out)
	}
	for i := range out.Warps {
		for j := range out.Warps[i].Accesses {
			s.access(k, d, &out.Warps[i].Accesses[j])
		}
	}
	return out
}

// drop leaves out the accesses of instructions that Program leaves out.
func (s Set) drop(k *ir.Kernel, c *trace.CTA) {
	var once []bool
	if s.Has(CTAWork) {
		once = OncePerCTA(k)
	}
	for i := range c.Warps {
		dropAccesses(&c.Warps[i], func(a *trace.Access) bool {
			return s.Has(LocalArrays) && a.Space == ir.Local || once != nil && once[a.PC]
		})
	}
}

// access idealises one access.
func (s Set) access(k *ir.Kernel, d *arch.Descriptor, a *trace.Access) {
	op := k.Instrs[a.PC].Op
	atomic := op == ir.Atom || op == ir.Red
	switch {
	case s.Has(Banks) && a.Space == ir.Shared:
		if a.Passes > a.Ideal {
			a.Turns = uint8(max(int(a.Turns)*int(a.Ideal)/int(a.Passes), 1))
			a.Passes = max(a.Ideal, 1)
		}
	case s.Has(Constants) && (a.Space == ir.Const || a.Space == ir.ParamSpace):
		a.Passes, a.Visits, a.Drawn = min(a.Passes, 1), min(a.Visits, 1), false
	case s.Has(L1) && isLoad(op) && (a.Space == ir.Global || a.Space == ir.Local):
		// Without lines the request asks nothing of the tags and the levels behind them.
		tags := float64(a.NLines) / math.Max(d.L1TagsPerCycle, 0.25) * d.L1BytesPerCycle / cache.LineBytes
		a.Passes = max(a.Passes, uint16(tags))
		a.NLines, a.Sectors = 0, 0
	}
	switch {
	case s.Has(SharedAtomics) && atomic && a.Space == ir.Shared:
		words := max(int(a.Words), 1)
		lanes := bits.OnesCount32(a.Mask)
		a.Turns = uint8(max(int(a.Turns)*words/max(lanes, 1), 1))
		a.MaxSame, a.Words = 1, uint8(lanes)
	case s.Has(L2Atomics) && atomic && a.Space == ir.Global:
		a.NLines, a.Sectors = 0, 0
	}
}

func isLoad(op ir.Op) bool { return op == ir.Ld || op == ir.Ldu }
