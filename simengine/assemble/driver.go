package assemble

import (
	"errors"
	"fmt"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	hiropt "github.com/warptune/warptune/simengine/assemble/hir/opt"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/sched"
	"github.com/warptune/warptune/simengine/assemble/target"
	"github.com/warptune/warptune/simengine/ir"
)

// Options is what a kernel is assembled for.
type Options struct {
	// CC is the compute capability, {9, 0} for sm_90. Required.
	CC [2]int
	// MaxRegisters is the user's cap on registers per thread (-maxrregcount), 0 for none.
	MaxRegisters int
	// MaxThreads is the largest CTA that the kernel must be launchable with, in threads; 0: what
	// the kernel's own directives say. Only a declared bound limits registers, since the assembler
	// does not see the launch.
	MaxThreads int
	// Without are ids of rules of the model that are left out (see Rules), to see what they earn.
	Without []string
}

// Assemble returns the machine program of a kernel, or an error that names the instruction that
// cannot be assembled and its position. It is deterministic, keeps nothing but the kernel, and
// takes some five microseconds an instruction, several times that when it spills.
//
// A cap that is too small for what single instructions need at once is exceeded; Program.Registers
// says so.
//
// Loops are left as they are. Package ir/unroll unrolls them first, so that the program and the
// trace have the same blocks. Not modelled: spilling of predicates and uniform registers where more
// than 7 and 63 are live.
func Assemble(k *ir.Kernel, opt Options) (*Program, error) {
	p, err := Prepare(k, opt)
	if err != nil {
		return nil, err
	}
	return p.Assemble(opt)
}

// verifying makes every assembly run the verifiers after each pass. Tests set it.
var verifying bool

// Prepared is a kernel after the passes that do not depend on its register cap: what assemblies
// under several caps share. It is for one goroutine at a time.
type Prepared struct {
	k        *ir.Kernel
	cc       [2]int
	base     *unit   // after the front end
	slack    int     // see productSlack; 0: all of an occupancy step is used
	variants []*unit // after selection
	products bool    // of warpgroups
	serial   bool    // they are made one after the other
}

// Prepare runs the front end for the compute capability and without the rules that opt names. Errors
// are as of Assemble.
func Prepare(k *ir.Kernel, opt Options) (*Prepared, error) { return new(Workspace).Prepare(k, opt) }

// Prepare is Prepare of a kernel whose assemblies use the workspace.
func (w *Workspace) Prepare(k *ir.Kernel, opt Options) (*Prepared, error) {
	t, err := target.For(opt.CC)
	if err != nil {
		return nil, err
	}
	if t.Without, err = rules.Parse(opt.Without); err != nil {
		return nil, fmt.Errorf("assemble %s: %w", k.Name, err)
	}
	t.Specific = k.Specific()
	base, err := prepared(k, t, w)
	if err != nil {
		return nil, err
	}
	return &Prepared{k: k, cc: opt.CC, base: base, slack: productSlack(k, t), products: slices.ContainsFunc(k.Instrs, func(in ir.Instr) bool { return in.Op == ir.Wgmma })}, nil
}

// Assemble runs the remaining passes. opt.CC and opt.Without must be what the kernel was prepared
// for.
func (p *Prepared) Assemble(opt Options) (*Program, error) {
	p.serial = p.products && hiropt.Interrupted(p.k)
	u, err := p.assemble(opt)
	if !p.serial && (errors.Is(err, errSpills) || err == nil && p.products && u.spillsBesideProducts()) {
		// Evidence, ptxas corpus (shared launches of attn_forward): 8 of 9 programs that spill are
		// serialised (warnings C7511, C7512).
		p.serial = true
		u, err = p.assemble(opt)
	}
	if err != nil {
		return nil, err
	}
	return u.program, nil
}

// assemble chooses a budget of registers and a limit of rematerialisation, and runs the back end.
func (p *Prepared) assemble(opt Options) (*unit, error) {
	if opt.CC != p.cc {
		return nil, fmt.Errorf("assemble %s: prepared for compute capability %v, not %v", p.k.Name, p.cc, opt.CC)
	}
	if without, err := rules.Parse(opt.Without); err != nil || without != p.base.hir.Target.Without {
		return nil, fmt.Errorf("assemble %s: prepared without other rules than %v", p.k.Name, opt.Without)
	}
	if opt.MaxRegisters < 0 || opt.MaxThreads < 0 {
		return nil, fmt.Errorf("assemble %s: negative register cap or thread count", p.k.Name)
	}
	t := p.base.hir.Target
	limit := registerCap(p.k, t, opt)
	launched := 0 // registers at launch, of a kernel that changes their number
	if most := mostRegisters(p.k); most > 0 && limit > 0 {
		launched, limit = limit, max(limit, most)
	}
	c := target.CTA{Threads: declaredThreads(p.k, opt), Shared: p.k.SharedBytes}
	f, err := p.variant(0, limit)
	if err != nil {
		return nil, err
	}
	uncapped := opt.MaxRegisters == 0 && p.k.MaxRegs == 0 && p.k.MinCTAs == 0
	if uncapped {
		p.byLoads(f)
	}
	need := f.need()
	if limit > 0 && need > limit {
		f.byVectorLoad()
		need = f.need()
	}
	switch {
	case limit == 0:
		f.budget = t.Offers(need, c)
	case uncapped: // a CTA size alone is an upper bound
		f.budget = min(limit, t.Offers(need, c))
	case opt.MaxRegisters == 0 && p.k.MaxRegs == 0 && need <= limit && launched == 0:
		f.budget = min(limit, t.OffersLeast(need, c))
	default:
		f.budget = limit
	}
	if p.slack > 0 && limit == 0 {
		f.budget = min(f.budget, max(need, f.productNeed()*(p.slack+1)/p.slack))
	}
	if uncapped && sched.ExceedsUniformRegisters(f.mir) {
		f.budget = min(f.budget, max(need, t.Steps[0]))
	}
	// The size of a CTA alone is no cap that values would be computed again for.
	free := limit == 0 || uncapped && t.Specific && need <= limit
	if free && need > t.Steps[0] || limit > 0 && need > limit {
		g, err := p.rematerialised(f, need, c)
		if err != nil {
			return nil, err
		}
		if uncapped && g != f {
			p.byLoads(g)
		}
		f = g
	}
	if f, err = p.recomputed(f, limit); err != nil {
		return nil, err
	}
	f.launched, f.asked = launched, p.products && !p.serial
	return f, f.runPasses(backEnd)
}

// byLoads tries further orders for few registers on every block of an uncapped program. In PTX for one architecture
// it also uses up one vector load after the other, but not in programs with products, whose fragments have an order.
//
// Evidence, ptxas corpus (causal_conv4 of h100-2026-11-26-triton-wgmma-a, dwconv7_nhwc and router_top8 of -b, 50
// programs): 25 register counts are within 10 % so, and 21 without.
func (p *Prepared) byLoads(u *unit) {
	u.byPressureList()
	if u.mir.Target.Specific && p.slack == 0 {
		u.byVectorLoad()
	}
}

// prepared runs the front end.
func prepared(k *ir.Kernel, t *target.Target, w *Workspace) (*unit, error) {
	f, err := hir.New(k, t)
	if err != nil {
		return nil, err
	}
	f.Check = verifying
	u := &unit{hir: f, scratch: w}
	return u, u.runPasses(frontEnd)
}
