package assemble

import (
	"fmt"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/hir/opt"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/sched"
	"github.com/warptune/warptune/simengine/assemble/target"
	"github.com/warptune/warptune/simengine/ir"
)

// Options says for what the assembler assembles.
type Options struct {
	// CC is the compute capability of the target, {9, 0} for sm_90. Required.
	CC [2]int
	// MaxRegisters is the user's cap on registers per thread (-maxrregcount),
	// 0 for none.
	MaxRegisters int
	// MaxThreads is the largest CTA the kernel must be launchable with; 0 means
	// what the kernel's own directives say. Only a declared bound limits the
	// registers of a thread: the assembler does not see the launch.
	MaxThreads int
}

// Assemble returns the machine program of a kernel, or an error that names the
// instruction that cannot be assembled and its position. It is deterministic,
// keeps nothing but the kernel, and costs some five microseconds an
// instruction, several times that when it must spill.
//
// A cap too small for what single instructions need at once is exceeded rather
// than refused; Program.Registers then says so.
//
// Loops are left as they are: ir.Kernel.Unrolled unrolls them first, so that the
// program and the trace speak of the same blocks. Not modelled: predicates and
// uniform registers spilled when more than 7 and 63 are live.
func Assemble(k *ir.Kernel, opt Options) (*Program, error) {
	p, err := Prepare(k, opt.CC)
	if err != nil {
		return nil, err
	}
	return p.Assemble(opt)
}

// verifying makes every assembly run the verifier after each pass; tests set it.
var verifying bool

// Prepared is a kernel as far as it can be assembled without knowing how many
// registers there are: what assemblies under several caps share. It is for one
// goroutine.
type Prepared struct {
	k  *ir.Kernel
	cc [2]int
	// base is the rewritten kernel, variants it with instructions selected, by the
	// instructions to repeat at most rather than keep a value.
	base     *unit
	variants map[int]*unit
}

// Prepare starts the assembly of a kernel for the target of a compute capability.
func Prepare(k *ir.Kernel, cc [2]int) (*Prepared, error) {
	t, err := target.For(cc)
	if err != nil {
		return nil, err
	}
	base, err := front(k, t)
	if err != nil {
		return nil, err
	}
	return &Prepared{k: k, cc: cc, base: base, variants: map[int]*unit{}}, nil
}

// Assemble is Assemble for the kernel prepared; opt.CC must be what it was
// prepared for.
func (p *Prepared) Assemble(opt Options) (*Program, error) {
	u, err := p.assemble(opt)
	if err != nil {
		return nil, err
	}
	return u.program, nil
}

// assemble takes the kernel through the passes after those that it was prepared by.
func (p *Prepared) assemble(opt Options) (*unit, error) {
	if opt.CC != p.cc {
		return nil, fmt.Errorf("assemble %s: prepared for compute capability %v, not %v", p.k.Name, p.cc, opt.CC)
	}
	if opt.MaxRegisters < 0 || opt.MaxThreads < 0 {
		return nil, fmt.Errorf("assemble %s: negative register cap or thread count", p.k.Name)
	}
	t := p.base.hir.Target
	limit := registerCap(p.k, t, opt)
	c := target.CTA{Threads: declaredThreads(p.k, opt), Shared: p.k.SharedBytes}
	f, err := p.variant(0, limit)
	if err != nil {
		return nil, err
	}
	uncapped := opt.MaxRegisters == 0 && p.k.MaxRegs == 0 && p.k.MinCTAs == 0
	if uncapped {
		f.economise()
	}
	need := f.need()
	if limit > 0 && need > limit {
		f.tighten()
		need = f.need()
	}
	switch {
	case limit == 0:
		f.budget = t.Offers(need, c)
	case uncapped:
		// A CTA size alone bounds registers and does not offer them, unlike one with a
		// least number of CTAs (CUDA C++ Programming Guide, launch bounds).
		f.budget = min(limit, t.Offers(need, c))
	default:
		f.budget = limit
	}
	if uncapped && sched.ExceedsUniformRegisters(f.mir) {
		f.budget = min(f.budget, max(need, t.Steps[0]))
	}
	if limit == 0 && need > t.Steps[0] || limit > 0 && need > limit {
		g, err := p.reduced(f, need, c)
		if err != nil {
			return nil, err
		}
		if uncapped && g != f {
			g.economise()
		}
		f = g
	}
	return f, f.runPasses(backEnd)
}

// variant is a function with instructions selected that trades up to reduce
// instructions for a register, under a cap. What the back end changes is its own.
// Variants that reduce are asked for after the one that does not.
func (p *Prepared) variant(reduce, limit int) (*unit, error) {
	f := p.variants[reduce]
	if f == nil {
		var err error
		if f, err = p.base.selected(reduce); err != nil {
			return nil, err
		}
		p.variants[reduce] = f
	}
	g, m := *f, *f.mir
	g.cap, g.mir = limit, &m
	m.Values = m.Values[:len(m.Values):len(m.Values)]
	m.Blocks = append([]mir.Block(nil), m.Blocks...)
	return &g, nil
}

// reduced returns a variant of f, which needs that many registers, that trades
// instructions for registers where that keeps it under the cap, gains occupancy or
// leaves allocationSlack registers of the step that it has, and f itself where it does
// not. Of the variants that do, it is the one that repeats least. That is decided by the
// order that they have without economising: of four of clang's matrix products for sm_90
// where it would bring what repeats instructions down to another occupancy step, ptxas
// leaves three where they are.
//
// What repeats must leave allocationSlack registers of a step it reaches.
func (p *Prepared) reduced(f *unit, need int, c target.CTA) (*unit, error) {
	g, err := p.variant(opt.RematLimit, f.cap)
	if err != nil {
		return nil, err
	}
	if f.cap > 0 && g.need() > f.cap {
		g.tighten()
	}
	less, t := g.need(), f.hir.Target
	switch aim := t.Offers(less+allocationSlack, c); {
	case f.cap > 0 && less < need:
		return p.repeatingLeast(g, f.cap, f.cap)
	case f.cap == 0 && aim < f.budget && (aim >= repeatsFor || need == aim+1):
		return p.repeatingLeast(g, aim, aim)
	case f.cap == 0 && less < need && need+allocationSlack > f.budget && f.budget == t.Offers(need, c):
		return p.repeatingLeast(g, f.budget, f.budget-allocationSlack)
	}
	return f, nil
}

// repeatingLeast returns, with a budget, the variant that repeats the fewest instructions at a time of
// those that need no more than some registers, and g, which repeats most, if none does. Of 729
// programs for sm_90 where that is neither, it has 4.9 % more or less instructions than the machine code in
// the mean, where one of these two had 9.3 % (PTX of nvcc's of deploy/calibrate/validation, ptxas 13.0.88).
func (p *Prepared) repeatingLeast(g *unit, budget, needed int) (*unit, error) {
	for low, high := 1, opt.RematLimit; low < high; {
		reduce := (low + high) / 2
		less, err := p.variant(reduce, g.cap)
		if err != nil {
			return nil, err
		}
		if less.need() > needed {
			low = reduce + 1
			continue
		}
		g, high = less, reduce
	}
	g.budget = budget
	return g, nil
}

// repeatsFor is the fewest registers for which instructions are repeated without a cap, but where one too many is
// needed: ptxas 13.0.88 brings none of fourteen programs of six kernels for sm_90 that need 34 to 40 to 32, though what can be
// repeated would, and of 80 that need 41 to 56 half to the step below (PTX of nvcc's of deploy/calibrate/validation). Of
// those that need 33, blur with R=1 and channel_norm come to 32, blur with R=4 does not. For sm_86, where
// 40 is the step of all warps, the step is right of 87.7 % with this and of 87.3 % if nothing is repeated for that.
const repeatsFor = 40

// allocationSlack is how many registers ptxas' allocation takes, where registers are short, beyond
// those that are live at most and those reserved: 3.1 to 4.2 on average of 132 programs
// under caps of 64 to 96 (13.0.88 for sm_90, live ones by nvdisasm). Of 28 kernels measured
// on an H200 whose counts it decides, those with fewer to spare mostly stayed where they were.
const allocationSlack = 4

// front takes a kernel as far as it does not depend on how many registers
// there are.
func front(k *ir.Kernel, t *target.Target) (*unit, error) {
	f, err := hir.New(k, t)
	if err != nil {
		return nil, err
	}
	f.Check = verifying
	u := &unit{hir: f, scratch: &workspace{}}
	return u, u.runPasses(frontEnd)
}
