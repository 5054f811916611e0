package opt_test

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/hir/opt"
	"github.com/warptune/warptune/simengine/assemble/target"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Passes over PTX for one architecture (.target sm_90a).

const entry = `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 x)
{
.reg .pred %p<9>;
.reg .b32 %r<99>;
.reg .b64 %rd<29>;
ld.param.u64 %rd1, [a];
ld.param.u64 %rd9, [x];
mov.u32 %r1, %tid.x;
`

// nodes is a kernel with the given body.
func nodes(t *testing.T, body string, passes ...func(*hir.Func) error) *hir.Func {
	t.Helper()
	k := asmtest.BuildKernel(t, "k", []byte(entry+body+"\nret;\n}\n"))
	tg, err := target.For([2]int{9, 0})
	if err != nil {
		t.Fatal(err)
	}
	tg.Specific = true
	f, err := hir.New(k, tg)
	if err != nil {
		t.Fatal(err)
	}
	f.Check = true
	for _, pass := range passes {
		if err := pass(f); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// having returns the nodes of an operation in program order.
func having(f *hir.Func, op ir.Op) (found []*hir.Node) {
	for _, b := range f.Order {
		for _, ni := range f.Blocks[b].Nodes {
			if n := &f.Nodes[ni]; n.Op == op {
				found = append(found, n)
			}
		}
	}
	return found
}

// A comparison of a chosen constant is what chose it, by all the bits of its type.
func TestChosenConstants(t *testing.T) {
	const store = "@%p2 st.global.u32 [%rd1], %r1;"
	for _, c := range []struct {
		name, body string
		setps      int // comparisons left besides that of the lane
	}{
		{"words", "setp.lt.u32 %p1, %r1, 7; selp.u32 %r2, 1, 0, %p1; setp.ne.u32 %p2, %r2, 0;", 1},
		{"negated", "setp.lt.u32 %p1, %r1, 7; selp.u32 %r2, 1, 0, %p1; setp.eq.u32 %p2, %r2, 0;", 1},
		{"upper words differ", "setp.lt.u32 %p1, %r1, 7; selp.b64 %rd2, 4294967296, 0, %p1; setp.ne.s64 %p2, %rd2, 0;", 1},
		{"both the same", "setp.lt.u32 %p1, %r1, 7; selp.u32 %r2, 1, 2, %p1; setp.ne.u32 %p2, %r2, 0;", 2},
		{"no equality", "setp.lt.u32 %p1, %r1, 7; selp.u32 %r2, 1, 0, %p1; setp.gt.u32 %p2, %r2, 0;", 2},
	} {
		f := nodes(t, c.body+store, opt.FoldPredicates)
		if n := len(having(f, ir.Setp)); n != c.setps {
			t.Errorf("%s: %d comparisons are left, want %d", c.name, n, c.setps)
		}
	}
	f := nodes(t, "mov.pred %p1, -1; @%p1 st.global.u32 [%rd1], %r1; @!%p1 st.global.u32 [%rd1+4], %r1;", opt.FoldPredicates)
	if s := having(f, ir.St); len(s) != 1 || s[0].Guard != vreg.None {
		t.Errorf("of stores under a constant guard and its negation %d are left, want the first without a guard", len(s))
	}
}

// Definitions of a register that share no use become values of their own; those that meet stay one.
func TestWebs(t *testing.T) {
	f := nodes(t, `
ld.global.u32 %r2, [%rd1];
st.global.u32 [%rd1+4], %r2;
ld.global.u32 %r2, [%rd1+8];
st.global.u32 [%rd1+12], %r2;`, opt.SplitWebs)
	l, s := having(f, ir.Ld), having(f, ir.St)
	l = l[len(l)-2:]
	if l[0].Dst[0] == l[1].Dst[0] {
		t.Error("two loads into one register, each with its own use, are one value")
	}
	for i := range s {
		if got := vreg.Value(s[i].Src[len(s[i].Src)-1].Reg); got != l[i].Dst[0] {
			t.Errorf("store %d writes value %d, want %d, what load %d gives", i, got, l[i].Dst[0], i)
		}
	}
	f = nodes(t, `
setp.lt.u32 %p1, %r1, 7;
ld.global.u32 %r2, [%rd1];
@%p1 ld.global.u32 %r2, [%rd1+8];
st.global.u32 [%rd1+12], %r2;`, opt.SplitWebs)
	l = having(f, ir.Ld)
	l = l[len(l)-2:]
	if l[0].Dst[0] != l[1].Dst[0] {
		t.Error("a guarded load keeps what its register held, and yet has a value of its own")
	}
}

// A guarded load that takes the constants its register was set to has the only definition of it.
func TestJoinInitials(t *testing.T) {
	f := nodes(t, `
setp.lt.u32 %p1, %r1, 7;
mov.u32 %r2, 5;
@%p1 ld.global.u32 %r2, [%rd1];
st.global.u32 [%rd1+12], %r2;`, opt.SplitWebs, opt.JoinInitials)
	l := having(f, ir.Ld)
	n := l[len(l)-1]
	if len(n.Else) != 1 || n.Else[0].Kind != ir.OperandImm || n.Else[0].Imm != 5 || f.Values[n.Dst[0]].Defs != 1 {
		t.Errorf("the load holds %v where its guard is false, and %d definitions make its result; want 5 and 1", n.Else, f.Values[n.Dst[0]].Defs)
	}
}

// A load that always runs has no initial value, and the constant before it no reader.
func TestInitialValueOfConstantGuard(t *testing.T) {
	f := nodes(t, `
mov.pred %p1, -1;
mov.b32 %r3, 5;
mov.b32 %r2, %r3;
@%p1 ld.global.u32 %r2, [%rd1];
st.global.u32 [%rd1+12], %r2;`, opt.FoldGuards, opt.SplitWebs, opt.JoinInitials)
	l := having(f, ir.Ld)
	n := l[len(l)-1]
	if n.Guard != vreg.None || len(n.Else) != 0 || f.Values[n.Dst[0]].Defs != 1 {
		t.Errorf("the load has guard %d and %v where it is false, and %d definitions make its result; want none, nothing and 1", n.Guard, n.Else, f.Values[n.Dst[0]].Defs)
	}
}

// What is put together and taken apart again into as many parts is the parts themselves.
func TestPartsOfWhatWasPutTogether(t *testing.T) {
	for _, c := range []struct {
		name, body string
		same       bool
	}{
		{"halves", "mov.b32 %r2, {%h1, %h2}; mov.b32 {%h3, %h4}, %r2;", true},
		{"through a copy", "mov.b32 %r2, {%h1, %h2}; mov.b32 %r3, %r2; mov.b32 {%h3, %h4}, %r3;", true},
		{"a computed word", "mov.b32 %r2, {%h1, %h2}; add.u32 %r3, %r2, 1; mov.b32 {%h3, %h4}, %r3;", false},
	} {
		f := nodes(t, ".reg .b16 %h<9>; ld.global.b16 %h1, [%rd1]; ld.global.b16 %h2, [%rd1+2];"+c.body+"st.global.b16 [%rd9], %h4;", opt.PropagateCopies)
		l, s := having(f, ir.Ld), having(f, ir.St)
		o := s[0].Src[len(s[0].Src)-1]
		if same := vreg.Value(o.Reg) == l[len(l)-1].Dst[0]; same != c.same {
			t.Errorf("%s: the store writes what was loaded: %v, want %v", c.name, same, c.same)
		}
	}
}

// An index extended before a loop and read behind it is extended behind it.
func TestSinkWide(t *testing.T) {
	const loop = `
mov.u32 %r3, 0;
$L:
add.s32 %r3, %r3, 1;
%READ
setp.lt.u32 %p1, %r3, %r1;
@%p1 bra $L;
add.s64 %rd4, %rd1, %rd3;
st.global.u32 [%rd4], %r3;`
	for _, c := range []struct {
		name, read string
		sinks      bool
	}{
		{"read behind the loop", "", true},
		{"read in the loop, too", "add.s64 %rd5, %rd1, %rd3; st.global.u32 [%rd5], %r3;", false},
	} {
		f := nodes(t, "cvt.s64.s32 %rd3, %r1;"+strings.Replace(loop, "%READ", c.read, 1), opt.SplitWebs, opt.SinkWide)
		in := -1
		for place, b := range f.Order {
			for _, ni := range f.Blocks[b].Nodes {
				if f.Nodes[ni].Op == ir.Cvt {
					in = place
				}
			}
		}
		if sunk := in > 0; sunk != c.sinks {
			t.Errorf("%s: the extension is in block %d of %d in order", c.name, in, len(f.Order))
		}
	}
}

// Sums of one value and constants beyond a word are computed from the first of them.
func TestShareWideBases(t *testing.T) {
	f := nodes(t, `
add.s64 %rd2, %rd9, 4611686293305294850;
add.s64 %rd3, %rd9, 4611686293305294852;
add.s64 %rd4, %rd9, 16;
st.global.u64 [%rd1], %rd2;
st.global.u64 [%rd1+8], %rd3;
st.global.u64 [%rd1+16], %rd4;`, (*hir.Func).FindUniform, opt.ShareWideBases)
	sums := having(f, ir.Add)
	if len(sums) != 3 {
		t.Fatalf("%d sums, want 3", len(sums))
	}
	if got := sums[1]; vreg.Value(got.Src[0].Reg) != sums[0].Dst[0] || got.Src[1].Imm != 2 {
		t.Errorf("the second sum is of value %d and %#x, want the first sum and 2", got.Src[0].Reg, got.Src[1].Imm)
	}
	if got := sums[2]; got.Src[0].Reg != sums[0].Src[0].Reg || got.Src[1].Imm != 16 {
		t.Errorf("the sum with a constant of a word was changed: value %d and %#x", got.Src[0].Reg, got.Src[1].Imm)
	}
}

const mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r10, %r11, %r12, %r13}, %rd2, %rd3, 1, 1, 1, 0, 0;\n"

// Accumulators that are written while their product is in flight are an interruption; ptxas warns of it and serialises.
func TestInterrupted(t *testing.T) {
	const fence, commit = "wgmma.fence.sync.aligned;\n", "wgmma.commit_group.sync.aligned;\n"
	wait := func(n string) string { return "wgmma.wait_group.sync.aligned " + n + ";\n" }
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"awaited", fence + mma + commit + wait("0") + "mov.u32 %r10, 0;", false},
		{"written in flight", fence + mma + commit + "mov.u32 %r10, 0;" + wait("0"), true},
		{"other registers", fence + mma + commit + "mov.u32 %r20, 0;" + wait("0"), false},
		{"one group may be in flight", fence + mma + commit + wait("1") + "mov.u32 %r10, 0;", true},
	} {
		if got := opt.Interrupted(nodes(t, c.body).Kernel); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	f := nodes(t, fence+mma+mma+commit+wait("0"))
	opt.SerialiseProducts(f)
	var order []string
	for _, b := range f.Order {
		for _, ni := range f.Blocks[b].Nodes {
			switch f.Nodes[ni].Op {
			case ir.WgmmaFence:
				order = append(order, "fence")
			case ir.Wgmma:
				order = append(order, "mma")
			case ir.WgmmaCommit:
				order = append(order, "commit")
			case ir.WgmmaWait:
				order = append(order, "wait")
			}
		}
	}
	if got, want := strings.Join(order, " "), "fence mma commit wait fence mma commit wait"; got != want {
		t.Errorf("two products are %s, want %s", got, want)
	}
}
