package assemble

import (
	"fmt"
	"maps"
	"slices"

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

// registerFile is the number of 32-bit registers of one SM, and so of one CTA,
// on every architecture modelled (CUDA C++ Programming Guide, table "Technical
// Specifications per Compute Capability").
const registerFile = 65536

// maxRegisters is the largest register count of a thread that an instruction
// can encode: R0 to R254.
const maxRegisters = 255

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

// variant is a copy of a function to select instructions for, with or without
// trading instructions for registers. A reducing variant rewrites operands that
// it shares with variants made before, which must have been selected by then.
func (f *fn) variant(reduce int) *fn {
	g := *f
	g.reduce, g.own = reduce, &ordering{}
	g.vals, g.nodes, g.blocks = slices.Clone(f.vals), slices.Clone(f.nodes), slices.Clone(f.blocks)
	g.sub, g.sign = map[value]subst{}, maps.Clone(f.sign)
	return &g
}

// verifying makes every assembly run the verifier after each pass; tests set it.
var verifying bool

// runPasses runs passes in order.
func (f *fn) runPasses(passes []pass) error {
	for _, p := range passes {
		if err := p.run(f); err != nil {
			return fmt.Errorf("assemble %s: %s: %w", f.k.Name, p.name, err)
		}
		if f.check {
			if err := p.verify(f); err != nil {
				return fmt.Errorf("assemble %s: after %s: %w", f.k.Name, p.name, err)
			}
		}
	}
	return nil
}

// registerCap is the number of registers a thread may use: the smallest of the
// user's cap, .maxnreg, and what lets a declared CTA size be resident; 0 when
// nothing caps it. Caps under the architecture's minimum are raised to it.
func registerCap(k *ir.Kernel, t *target, opt Options) int {
	limit := 0
	lower := func(n int) {
		if n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	lower(opt.MaxRegisters)
	lower(k.MaxRegs)
	if threads := declaredThreads(k, opt); threads > 0 {
		warps := (threads + 31) / 32 * max(k.MinCTAs, 1)
		perWarp := registerFile / warps / t.regUnit * t.regUnit
		// A least number of CTAs offers what it leaves them, all there are where few suffice.
		if n := perWarp / 32; n < maxRegisters || k.MinCTAs > 0 {
			lower(min(n, maxRegisters))
		}
	}
	if limit == 0 {
		return 0
	}
	return min(max(limit, t.minCap), maxRegisters)
}

// declaredThreads is the largest CTA that a kernel must be launchable with, as declared; 0
// where nothing says.
func declaredThreads(k *ir.Kernel, opt Options) int {
	switch {
	case opt.MaxThreads > 0:
		return opt.MaxThreads
	case k.ReqNTid[0] > 0:
		return k.ReqNTid[0] * max(k.ReqNTid[1], 1) * max(k.ReqNTid[2], 1)
	}
	return k.MaxNTid[0] * max(k.MaxNTid[1], 1) * max(k.MaxNTid[2], 1)
}
