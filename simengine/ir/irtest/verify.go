// Package irtest says whether a kernel is one that lowering makes, for tests.
package irtest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// Verify checks the invariants every kernel built by Build has; passes over
// kernels run it in tests. It returns every violation it finds, joined.
func Verify(k *ir.Kernel) error {
	v := &verifier{k: k}
	v.blocks()
	for pc := range k.Instrs {
		v.instr(pc)
	}
	v.variables()
	return errors.Join(v.errs...)
}

type verifier struct {
	k    *ir.Kernel
	errs []error
}

func (v *verifier) failf(format string, args ...any) {
	v.errs = append(v.errs, fmt.Errorf("ir: kernel "+v.k.Name+": "+format, args...))
}

// blocks checks that blocks partition the instructions, end where control may
// go elsewhere, and are linked both ways.
func (v *verifier) blocks() {
	k, next := v.k, 0
	for i := range k.Blocks {
		b := &k.Blocks[i]
		if b.Start != next || b.End <= b.Start || b.End > len(k.Instrs) {
			v.failf("block %d is [%d, %d), want it to start at %d", i, b.Start, b.End, next)
			return
		}
		next = b.End
		for pc := b.Start; pc < b.End-1; pc++ {
			if k.Instrs[pc].EndsBlock() {
				v.failf("instruction %d ends block %d before its end", pc, i)
			}
		}
		for _, s := range b.Succs {
			if s < 0 || s >= len(k.Blocks) || !slices.Contains(k.Blocks[s].Preds, i) {
				v.failf("block %d is not a predecessor of its successor %d", i, s)
			}
		}
		for _, p := range b.Preds {
			if p < 0 || p >= len(k.Blocks) || !slices.Contains(k.Blocks[p].Succs, i) {
				v.failf("block %d is not a successor of its predecessor %d", i, p)
			}
		}
		if b.IPDom < -1 || b.IPDom >= len(k.Blocks) || b.IPDom == i {
			v.failf("block %d has post-dominator %d", i, b.IPDom)
		}
		if (b.LoopHead < 0) != (b.LoopDepth == 0) || b.LoopHead >= len(k.Blocks) {
			v.failf("block %d has loop header %d at depth %d", i, b.LoopHead, b.LoopDepth)
		}
		v.end(i)
	}
	if next != len(k.Instrs) || next == 0 {
		v.failf("blocks end at %d of %d instructions", next, len(k.Instrs))
	}
}

// end checks that a block's successors are those of its last instruction.
func (v *verifier) end(i int) {
	b := &v.k.Blocks[i]
	last := &v.k.Instrs[b.End-1]
	if !ir.Ends(last) && (len(b.Succs) == 0 || b.Succs[0] != i+1) {
		v.failf("block %d does not fall through", i)
	}
	targets := last.Targets
	if last.Op == ir.Bra {
		targets = []int{last.Target}
	}
	for _, t := range targets {
		if t < 0 || t >= len(v.k.Instrs) || v.k.Blocks[v.k.BlockOf(t)].Start != t {
			v.failf("instruction %d branches to %d, which starts no block", b.End-1, t)
		} else if !slices.Contains(b.Succs, v.k.BlockOf(t)) {
			v.failf("block %d lacks the successor its branch names", i)
		}
	}
}

func (v *verifier) instr(pc int) {
	in := &v.k.Instrs[pc]
	bad := func(format string, args ...any) {
		v.failf("instruction %d (%s): "+format, append([]any{pc, v.k.Text(pc)}, args...)...)
	}
	if in.Op == ir.OpInvalid || in.Op >= ir.NumOps {
		v.failf("instruction %d has no opcode", pc)
		return
	}
	if g := in.Guard; g != ir.NoReg && (!v.reg(g) || v.k.Regs[g].Type != ir.Pred) {
		v.failf("instruction %d: guard %d is no predicate", pc, g)
		return
	}
	for _, r := range in.Dst {
		if r != ir.NoReg && !v.reg(r) {
			v.failf("instruction %d writes register %d of %d", pc, r, len(v.k.Regs))
			return
		}
	}
	for i := range in.Src {
		if msg := v.operand(&in.Src[i]); msg != "" {
			v.failf("instruction %d, source %d: %s", pc, i, msg)
			return
		}
	}
	if (in.Op == ir.Bra) != (in.Target >= 0) || (in.Op == ir.Brx) != (len(in.Targets) > 0) {
		bad("target %d and %d targets", in.Target, len(in.Targets))
	}
	v.memory(in, bad)
	if (in.Op == ir.Mma || in.Op == ir.Wgmma) != (in.Matrix != nil) {
		bad("a matrix that is none, or none that is one")
	} else if m := in.Matrix; m != nil && (len(in.Dst) != m.Results() || len(in.Src) != m.Sources()) {
		bad("%d destinations and %d sources for its fragments", len(in.Dst), len(in.Src))
	}
	v.async(in, bad)
	v.texture(in, bad)
	if want := operandCount[in.Op]; want != 0 && len(in.Src) != want {
		bad("%d sources, want %d", len(in.Src), want)
	}
}

// operandCount is the number of sources of opcodes that always have as many.
var operandCount = map[ir.Op]int{
	ir.Movmatrix: 1, ir.Add: 2, ir.Sub: 2, ir.Mul: 2, ir.Mad: 3, ir.Fma: 3, ir.Div: 2, ir.Rem: 2, ir.Min: 2, ir.Max: 2, ir.AddC: 2, ir.SubC: 2, ir.MadC: 3,
	ir.And: 2, ir.Or: 2, ir.Xor: 2, ir.Not: 1, ir.Shl: 2, ir.Shr: 2, ir.Shf: 3, ir.Selp: 3, ir.Slct: 3, ir.Prmt: 3, ir.Popc: 1, ir.Clz: 1,
}

func (v *verifier) memory(in *ir.Instr, bad func(string, ...any)) {
	addresses := 0
	for i := range in.Src {
		if in.Src[i].Kind == ir.OperandAddr {
			addresses++
		}
	}
	want := 0
	switch in.Op {
	case ir.Ld, ir.Ldu:
		want = 1
		if len(in.Dst) != int(in.Vec) || len(in.Src) != 1 {
			bad("%d destinations for .v%d", len(in.Dst), in.Vec)
		}
	case ir.St:
		want = 1
		if len(in.Src) != 1+int(in.Vec) || len(in.Dst) != 0 {
			bad("%d values for .v%d", len(in.Src)-1, in.Vec)
		}
	case ir.Atom, ir.Red, ir.Prefetch:
		want = 1
	case ir.CpAsync:
		want = 2
	default:
		want = asyncAddresses(in)
	}
	if addresses != want || want > 0 && in.Src[0].Kind != ir.OperandAddr {
		bad("%d address operands, want %d", addresses, want)
	}
}

// async checks the operands of an asynchronous instruction beside its addresses.
func (v *verifier) async(in *ir.Instr, bad func(string, ...any)) {
	if bulk := in.Op == ir.BulkCopy || in.Op == ir.BulkPrefetch; bulk != (in.Bulk != nil) {
		bad("a bulk copy that is none, or none that is one")
	} else if b := in.Bulk; bulk {
		want := 1 + one(in.Op == ir.BulkCopy) + max(1, b.Dims) + one(b.Barrier) + one(b.Multicast)
		if len(in.Src) != want || b.Dims < 0 || b.Dims > 5 {
			bad("%d sources for a copy of %d dimensions, want %d", len(in.Src), b.Dims, want)
		}
	}
	if in.Op == ir.Wgmma && in.Matrix != nil && len(in.Src) == in.Matrix.Sources() {
		a, b, _ := in.Matrix.Registers()
		for i, r := range in.Dst {
			if o := &in.Src[a+b+i]; o.Kind != ir.OperandReg || o.Reg != r {
				bad("accumulator %d is not the register that is added to", i)
			}
		}
	}
	switch in.Op {
	case ir.MbarArrive:
		if len(in.Dst) != 1 || in.Mod&ir.ModTx != 0 && len(in.Src) != 2 {
			bad("%d destinations and %d sources", len(in.Dst), len(in.Src))
		}
	case ir.MbarWait:
		if len(in.Dst) != 1 || in.Dst[0] != ir.NoReg && v.k.Regs[in.Dst[0]].Type != ir.Pred || len(in.Src) < 2 {
			bad("no predicate, or no phase")
		}
	}
}

// asyncAddresses is the address operands of an instruction on mbarriers, bulk copies or tensor maps.
func asyncAddresses(in *ir.Instr) int {
	switch in.Op {
	case ir.MbarInit, ir.MbarInval, ir.MbarArrive, ir.MbarExpect, ir.MbarWait, ir.CpAsyncArrive, ir.TensormapSet, ir.BulkPrefetch:
		return 1
	case ir.TensormapCopy:
		return 2
	case ir.BulkCopy:
		return 2 + one(in.Bulk.Barrier)
	case ir.FenceProxy:
		return one(len(in.Src) > 0)
	}
	return 0
}

// one is how many operands something is, if it is there.
func one(there bool) int {
	if there {
		return 1
	}
	return 0
}

func (v *verifier) reg(r ir.Reg) bool { return r >= 0 && int(r) < len(v.k.Regs) }

// operand says what is wrong with a source operand, "" for nothing.
func (v *verifier) operand(o *ir.Operand) string {
	if o.Reg != ir.NoReg && !v.reg(o.Reg) {
		return fmt.Sprintf("register %d of %d", o.Reg, len(v.k.Regs))
	}
	if int(o.Var) >= len(v.k.Vars) || int(o.Param) >= len(v.k.Params) {
		return fmt.Sprintf("variable %d or parameter %d does not exist", o.Var, o.Param)
	}
	named := o.Var >= 0 || o.Param >= 0
	if o.Var >= 0 {
		if x := &v.k.Vars[o.Var]; x.Offset < 0 || x.Space == ir.ParamSpace {
			return "variable " + x.Name + " has no place"
		}
	}
	switch o.Kind {
	case ir.OperandReg:
		if o.Reg == ir.NoReg || named {
			return "register operand without a register"
		}
	case ir.OperandImm:
		if o.Reg != ir.NoReg || named {
			return "constant with a register"
		}
	case ir.OperandSpecial:
		if !o.Special.Valid() {
			return "no special register"
		}
	case ir.OperandVar:
		if !named || o.Reg != ir.NoReg {
			return "address without a variable"
		}
	case ir.OperandAddr:
	default:
		return fmt.Sprintf("operand kind %d", o.Kind)
	}
	return ""
}

// variables checks that placed variables of a space do not overlap and lie in
// the totals.
func (v *verifier) variables() {
	k := v.k
	total := map[ir.Space]int{ir.Shared: k.SharedBytes, ir.Local: k.LocalBytes, ir.Const: k.ConstBytes}
	end := map[ir.Space]int{}
	order := make([]*ir.Var, 0, len(k.Vars))
	for i := range k.Vars {
		if x := &k.Vars[i]; x.Offset >= 0 && x.Size > 0 {
			order = append(order, x)
		}
	}
	slices.SortStableFunc(order, func(a, b *ir.Var) int { return a.Offset - b.Offset })
	for _, x := range order {
		if x.Offset < end[x.Space] || x.Align > 0 && x.Offset%x.Align != 0 {
			v.failf("variable %s at %d overlaps another or is misaligned", x.Name, x.Offset)
		}
		end[x.Space] = x.Offset + x.Size
		if n, ok := total[x.Space]; ok && end[x.Space] > n {
			v.failf("variable %s ends at %d of %d bytes", x.Name, end[x.Space], n)
		}
	}
	if d := k.DynamicShared; d >= len(k.Vars) || d >= 0 && k.Vars[d].Space != ir.Shared {
		v.failf("dynamic shared variable %d", d)
	}
}

// texture checks the operands of an instruction on a texture or surface.
func (v *verifier) texture(in *ir.Instr, bad func(string, ...any)) {
	t := in.Texture
	if (t != nil) != (in.Op.IsTexture() || in.Op == ir.Txq) {
		bad("a texture that is none, or none that is one")
	}
	if t == nil {
		return
	}
	src, dst := 1+t.Coordinates()+one(t.Level), int(in.Vec)
	switch in.Op {
	case ir.Txq:
		src, dst = 1, 1
	case ir.Sust:
		src, dst = src+dst, 0
	}
	if len(in.Src) != src || len(in.Dst) != dst {
		bad("%d sources and %d destinations, want %d and %d", len(in.Src), len(in.Dst), src, dst)
	}
}
