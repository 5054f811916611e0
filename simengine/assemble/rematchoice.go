package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir/opt"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/target"
)

// How much to rematerialise.
//
// Selection runs once without rematerialisation. Where the kernel needs more registers than its
// cap, or they cost occupancy, it runs again with it, and the smallest limit (instructions repeated
// a value) that reaches the aim is found by bisection.

// variant returns the kernel with instructions selected, with values of up to remat instructions
// rematerialised, under a cap of limit registers (0: none). The caller may change it. The one with
// remat 0 must be asked for first.
func (p *Prepared) variant(remat, limit int) (*unit, error) {
	at := slices.IndexFunc(p.variants, func(v *unit) bool { return v.serial == p.serial && v.same.Has(remat) })
	if at < 0 {
		f, err := p.base.selected(remat, p.serial)
		if err != nil {
			return nil, err
		}
		at, p.variants = len(p.variants), append(p.variants, f)
	}
	g, m := *p.variants[at], *p.variants[at].mir
	g.cap, g.mir = limit, &m
	m.Values = m.Values[:len(m.Values):len(m.Values)]
	m.Blocks = append([]mir.Block(nil), m.Blocks...)
	return &g, nil
}

// rematerialised returns f, which needs need registers, or a variant with less to keep: if that
// brings it under its cap, gains a step of occupancy, or leaves allocationSlack registers of the
// step it has. The need is that before top-down pressure scheduling.
//
// Evidence, ptxas corpus: of four of clang's matrix products for sm_90 that rematerialisation would
// bring to another step only with that scheduling, ptxas leaves three where they are.
func (p *Prepared) rematerialised(f *unit, need int, c target.CTA) (*unit, error) {
	g, err := p.variant(opt.RematLimit, f.cap)
	if err != nil {
		return nil, err
	}
	if f.cap > 0 && g.need() > f.cap {
		g.byVectorLoad()
	}
	less, t := g.need(), f.hir.Target
	spare := allocationSlack
	if t.Specific && len(f.mir.Groups) == 0 {
		spare = 0
	}
	switch aim := t.Offers(less+spare, c); {
	case f.cap > 0 && need > f.cap && less < need:
		return p.leastRematerialised(g, f.cap, f.cap)
	case (f.cap == 0 || need <= f.cap) && aim < f.budget && (aim >= rematFrom || need == aim+1 || t.Specific || !t.Uses(rules.RematFloor)):
		return p.leastRematerialised(g, aim, aim)
	case (f.cap == 0 && f.budget == t.Offers(need, c) || f.cap == f.budget && t.Specific) && less < need && need+allocationSlack > f.budget:
		return p.leastRematerialised(g, f.budget, f.budget-allocationSlack)
	}
	return f, nil
}

// leastRematerialised returns the variant with the smallest limit that needs no more than needed
// registers, or g, which has the largest, and gives it a budget.
//
// Evidence, ptxas corpus: of 729 programs for sm_90 where neither extreme is chosen, instruction
// counts are 4.9 % off in the mean, and 9.3 % with one of the extremes.
func (p *Prepared) leastRematerialised(g *unit, budget, needed int) (*unit, error) {
	for low, high := 1, opt.RematLimit; low < high; {
		remat := (low + high) / 2
		less, err := p.variant(remat, g.cap)
		if err != nil {
			return nil, err
		}
		if less.need() > needed {
			low = remat + 1
			continue
		}
		g, high = less, remat
	}
	g.budget = budget
	return g, nil
}

// rematFrom is the smallest occupancy step, in registers, that rematerialisation aims at without a
// cap, unless one register too many is needed.
//
// Evidence, ptxas corpus (13.0.88): none of 14 programs of six kernels for sm_90 that need 34 to 40
// registers is brought to 32, of 80 that need 41 to 56 half are brought a step down. For sm_86,
// where 40 is the step of all warps, the step is right for 87.7 % with this rule and for 87.3 %
// without rematerialisation.
const rematFrom = 40

// allocationSlack is how many registers more than are live and reserved ptxas' allocation takes
// where registers are short.
//
// Evidence, ptxas corpus: 3.1 to 4.2 in the mean of 132 programs for sm_90 under caps of 64 to 96
// (live registers by nvdisasm). Kernels: of 28 measured on an H200 whose counts it decides, those
// with fewer to spare mostly stayed at their step.
const allocationSlack = 4
