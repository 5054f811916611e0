package lower_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ptx"
)

// formsSource and formsText are the forms of instruction, one after another,
// and what the kernel's text says of them.
const formsSource = `
	.reg .pred %p<4>;
	.reg .b16 %rs<4>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	.reg .f32 %f<6>;
	.reg .f64 %fd<2>;
	.reg .v2 .f32 %v;
	.shared .align 8 .f32 tile[4][8];
	ld.param.u64 %rd1, [p];
	ld.param.b8 %rs1, [s+11];
	mov.b64 %rd2, {%r1, 7};
	mov.b64 {%r1, _}, %rd2;
	mov.b32 %r2, {%rs1, %rs2};
	mov.u32 %r3, tile+32;
	mov.u32 %r3, tile[3];
	mov.u64 %rd3, s;
	mov.u32 %r4, WARP_SZ;
	mov.u32 %r4, %lanemask_lt;
	mov.pred %p1, -1;
	mov.f32 %f1, 0f3FC00000;
	mov.f32 %f1, 1.5;
	mov.b32 %r5, 0f3FC00000;
	mov.f64 %fd1, 0f3FC00000;
	mov.f64 %fd1, 0d3FF8000000000000;
	add.s32 %r1, %r1, -1;
	add.u32 %r1, %r1, 0xFFFFFFFF;
	and.b16 %rs1, %rs1, 65535;
	add.s64 %rd1, %rd1, -8;
	add.u32 %r1, %r1, (1 << 4) | 3;
	@!%p1 ld.global.v2.f32 {%f1, _}, [%rd1+-16];
	ld.global.v2.f32 %v, [%rd1];
	add.f32 %f2, %v.x, %v.y;
	st.shared.f32 [tile+4], %f2;
	st.f32 [tile], %f2;
	st.shared.v2.f32 [%r3], {%f1, 0f00000000};
	ld.shared.f32 %f3, [64];
	setp.lt.and.s32 %p1|%p2, %r1, 3, !%p3;
	selp.b32 %r1, 5, %r2, %p1;
	shfl.sync.down.b32 %r6|%p1, %r5, 16, 31, -1;
	atom.global.cas.b32 %r1, [%rd1], 0, 1;
	atom.shared.add.f32 _, [tile], %f1;
	red.global.add.u32 [%rd1+4], 1;
	cp.async.cg.shared.global [tile], [%rd1], 16;
	cp.async.ca.shared.global [%r3], [%rd1], 4, %r1;
	cp.async.wait_group 2;
	shf.l.wrap.b32 %r1, %r2, %r3, 7;
	lop3.b32 %r1, %r2, %r3, %r4, 0x96;
	bar.sync 1, 64;
	bar.red.popc.u32 %r1, 0, !%p1;
	vote.sync.ballot.b32 %r1, %p1, 0xffffffff;
	cvt.rzi.s32.f32 %r1, %f1;
	slct.f32.s32 %f1, %f2, 0f3F800000, %r1;
	nanosleep.u32 100;
	ret;`

const formsText = `
kernel k
b0:
	ld.param.u64 %rd1, [p];
	ld.param.b8 %rs1, [s+11];
	mov.b64 %rd2, {%r1, 7};
	mov.b64 {%r1, _}, %rd2;
	mov.b32 %r2, {%rs1, %rs2};
	mov.u32 %r3, tile+32;
	mov.u32 %r3, tile+12;
	mov.u64 %rd3, 8;
	mov.u32 %r4, 32;
	mov.u32 %r4, %lanemask_lt;
	mov.pred %p1, 1;
	mov.f32 %f1, 0f3FC00000;
	mov.f32 %f1, 0f3FC00000;
	mov.b32 %r5, 1069547520;
	mov.f64 %fd1, 0d3FF8000000000000;
	mov.f64 %fd1, 0d3FF8000000000000;
	add.s32 %r1, %r1, -1;
	add.u32 %r1, %r1, 4294967295;
	and.b16 %rs1, %rs1, -1;
	add.s64 %rd1, %rd1, -8;
	add.u32 %r1, %r1, 19;
	@!%p1 ld.global.v2.f32 {%f1, _}, [%rd1+-16];
	ld.global.v2.f32 {%v.x, %v.y}, [%rd1];
	add.f32 %f2, %v.x, %v.y;
	st.shared.f32 [tile+4], %f2;
	st.shared.f32 [tile], %f2;
	st.shared.v2.f32 [%r3], {%f1, 0f00000000};
	ld.shared.f32 %f3, [64];
	setp.lt.and.s32 %p1|%p2, %r1, 3, !%p3;
	selp.b32 %r1, 5, %r2, %p1;
	shfl.sync.down.b32 %r6|%p1, %r5, 16, 31, 4294967295;
	atom.global.cas.b32 %r1, [%rd1], 0, 1;
	atom.shared.add.f32 _, [tile], %f1;
	red.global.add.u32 [%rd1+4], 1;
	cp.async.cg.shared.global [tile], [%rd1], 16;
	cp.async.ca.shared.global [%r3], [%rd1], 4, %r1;
	cp.async.wait_group 2;
	shf.l.wrap.b32 %r1, %r2, %r3, 7;
	lop3.b32 %r1, %r2, %r3, %r4, 150;
	bar.sync 1, 64;
	bar.red.popc.u32 %r1, 0, !%p1;
	vote.sync.ballot.b32 %r1, %p1, -1;
	cvt.rzi.s32.f32 %r1, %f1;
	slct.f32.s32 %f1, %f2, 0f3F800000, %r1;
	nanosleep.u32 100;
	exit;
`

func TestInstructionText(t *testing.T) {
	k := kernel(t, ".param .u64 p, .param .align 4 .b8 s[12]", formsSource)
	golden(t, k.String(), formsText)
	if k.Params[1].Offset != 8 || k.Params[1].Size != 12 || k.SharedBytes != 128 {
		t.Errorf("params %+v, %d shared bytes", k.Params, k.SharedBytes)
	}
}

// calls is a module whose functions are passed scalars, bytes and structs.
const calls = header + `
.func (.param .b32 r) inc(.param .b32 a, .param .b32 c)
{
	.reg .b32 %r<3>;
	.reg .b16 %rs<2>;
	.reg .pred %p;
	ld.param.u32 %r1, [a];
	ld.param.s8 %rs1, [c];
	setp.eq.u32 %p, %r1, 0;
	@%p bra ZERO;
	cvt.s32.s16 %r2, %rs1;
	add.u32 %r1, %r1, %r2;
	st.param.b32 [r], %r1;
	ret;
ZERO:
	st.param.b32 [r], 0;
	ret;
}
.func (.reg .b32 r) twice(.reg .b32 a)
{
	add.u32 r, a, a;
	ret;
}
.func (.param .align 4 .b8 r[8]) swap(.param .align 4 .b8 s[8], .param .b32 i)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	mov.b64 %rd1, s;
	ld.param.u32 %r1, [i];
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.param.u32 %r2, [%rd3];
	st.param.v2.b32 [r], {%r2, %r1};
	ret;
}
`

func TestInlining(t *testing.T) {
	m := build(t, "calls.ptx", calls+`
.visible .entry k(.param .u32 n)
{
	.reg .b32 %r<4>;
	.reg .pred %q;
	ld.param.u32 %r1, [n];
	setp.ne.u32 %q, %r1, 3;
	{ // callseq 0, 0
	.param .b32 p0;
	st.param.b32 [p0+0], %r1;
	.param .b32 p1;
	st.param.b32 [p1+0], -5;
	.param .b32 ret0;
	call.uni (ret0), inc, (p0, p1);
	ld.param.b32 %r2, [ret0+0];
	} // callseq 0
	@%q call (%r3), twice, (%r2);
	call (%r3), inc, (%r3, 1);
	st.global.u32 [%r3], %r3;
	ret;
}`)
	golden(t, m.Kernels[0].String(), `
kernel k
b0: -> b1 b2 ipdom b3
	ld.param.u32 %r1, [n];
	setp.ne.u32 %q, %r1, 3;
	mov.b32 p0+0, %r1;
	mov.b32 p1+0, -5;
	mov.b32 %r1@1, p0+0;
	cvt.s16.s8 %rs1@1, p1+0;
	setp.eq.u32 %p@1, %r1@1, 0;
	@%p@1 bra b2;
b1: -> b3 ipdom b3
	cvt.s32.s16 %r2@1, %rs1@1;
	add.u32 %r1@1, %r1@1, %r2@1;
	mov.b32 ret0+0, %r1@1;
	bra b3;
b2: -> b3 ipdom b3
	mov.b32 ret0+0, 0;
b3: -> b4 b5 ipdom b5
	mov.b32 %r2, ret0+0;
	@!%q bra b5;
b4: -> b5 ipdom b5
	mov.b32 a@2, %r2;
	add.u32 r@2, a@2, a@2;
	mov.b32 %r3, r@2;
b5: -> b6 b7 ipdom b8
	mov.b32 a@3+0, %r3;
	mov.b32 c@3+0, 1;
	mov.b32 %r1@3, a@3+0;
	cvt.s16.s8 %rs1@3, c@3+0;
	setp.eq.u32 %p@3, %r1@3, 0;
	@%p@3 bra b7;
b6: -> b8 ipdom b8
	cvt.s32.s16 %r2@3, %rs1@3;
	add.u32 %r1@3, %r1@3, %r2@3;
	mov.b32 r@3+0, %r1@3;
	bra b8;
b7: -> b8 ipdom b8
	mov.b32 r@3+0, 0;
b8:
	mov.b32 %r3, r@3+0;
	st.global.u32 [%r3], %r3;
	exit;
`)
	if k := m.Kernels[0]; k.LocalBytes != 0 || len(k.Vars) != 0 {
		t.Errorf("%d bytes of local memory, variables %v: all parameters are registers", k.LocalBytes, k.Vars)
	}
}

// A parameter whose address is taken lives in local memory, its fellow result
// in registers.
func TestInliningThroughMemory(t *testing.T) {
	m := build(t, "calls.ptx", calls+`
.visible .entry k(.param .u32 n)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	ld.param.u32 %r1, [n];
	.param .align 4 .b8 s[8];
	.param .b32 i;
	.param .align 4 .b8 back[8];
	st.param.v2.b32 [s], {%r1, 4};
	st.param.b32 [i], 1;
	call (back), swap, (s, i);
	ld.param.b32 %r2, [back+4];
	ret;
}`)
	k := m.Kernels[0]
	golden(t, k.String(), `
kernel k
b0:
	ld.param.u32 %r1, [n];
	st.local.v2.b32 [s], {%r1, 4};
	mov.b32 i+0, 1;
	mov.b64 %rd1@1, s;
	mov.b32 %r1@1, i+0;
	mul.wide.u32 %rd2@1, %r1@1, 4;
	add.s64 %rd3@1, %rd1@1, %rd2@1;
	ld.local.u32 %r2@1, [%rd3@1];
	mov.b32 back+0, %r2@1;
	mov.b32 back+4, %r1@1;
	mov.b32 %r2, back+4;
	exit;
`)
	if k.LocalBytes != 8 || len(k.Vars) != 1 || k.Vars[0].Space != ir.Local {
		t.Errorf("%d bytes of local memory, variables %+v", k.LocalBytes, k.Vars)
	}
}

// A failed assertion stops the program; an alias is the function it names.
func TestAssertAndAlias(t *testing.T) {
	m := build(t, "assert.ptx", header+`
.extern .func __assertfail(.param .b64 a);
.func real() { .reg .b32 %r; mov.u32 %r, 7; ret; }
.alias other, real;
.visible .entry k()
{
	.reg .pred %p;
	.reg .b64 %rd<2>;
	@%p bra OK;
	{
	.param .b64 p0;
	st.param.b64 [p0], %rd1;
	call.uni __assertfail, (p0);
	}
OK:
	call other;
	ret;
}`)
	golden(t, m.Kernels[0].String(), `
kernel k
b0: -> b1 b2 ipdom b2
	@%p bra b2;
b1:
	mov.b64 p0+0, %rd1;
	trap;
b2:
	mov.u32 %r@1, 7;
	exit;
`)
}

// A parameter passed as 32 bits and read as 8 or 16 takes a conversion, which
// drops the bits above; one read as 64 where 32 were stored is memory.
func TestInliningNarrow(t *testing.T) {
	m := build(t, "narrow.ptx", header+`
.func f(.param .b32 a, .param .b32 b, .param .align 8 .b8 c[8])
{
	.reg .b16 %rs<3>;
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u16 %rs1, [a];
	ld.param.s8 %r1, [b];
	ld.param.u64 %rd1, [c];
	ret;
}
.visible .entry k()
{
	.reg .b32 %r<2>;
	.param .b32 a, b;
	.param .align 8 .b8 c[8];
	st.param.b32 [a], %r1;
	st.param.b32 [b], %r1;
	st.param.b32 [c], %r1;
	st.param.b32 [c+4], %r1;
	call f, (a, b, c);
	ret;
}`)
	golden(t, m.Kernels[0].String(), `
kernel k
b0:
	mov.b32 a+0, %r1;
	mov.b32 b+0, %r1;
	st.local.b32 [c], %r1;
	st.local.b32 [c+4], %r1;
	cvt.u16.u16 %rs1@1, a+0;
	cvt.s32.s8 %r1@1, b+0;
	ld.local.u64 %rd1@1, [c];
	exit;
`)
}

// Inlining that would never end is refused at once, also if it gives nothing.
func TestInliningBound(t *testing.T) {
	for leaf, says := range map[string]string{
		".reg .b32 %r; mov.u32 %r, 1; mov.u32 %r, 2; ret;": "instructions after inlining",
		"ret;": "statements after inlining",
	} {
		var b strings.Builder
		b.WriteString(header + ".func f0() { " + leaf + " }\n")
		for i := 1; i < 40; i++ {
			fmt.Fprintf(&b, ".func f%d() { call f%d; call f%d; ret; }\n", i, i-1, i-1)
		}
		b.WriteString(".entry k() { call f39; ret; }\n")
		_, err := build(t, "bomb.ptx", b.String()).Kernel("k")
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("2^39 calls of { %s }: %v, want %q", leaf, err, says)
		}
	}
}

// Initial values are kept as bytes, so there is a bound on them.
func TestInitialisedBound(t *testing.T) {
	for _, text := range []string{
		".global .b8 g[67108865] = {1};\n.entry k() { ret; }\n",
		".global .b8 g[40000000] = {1};\n.global .b8 h[40000000] = {1};\n.entry k() { ret; }\n",
		".global .b8 g[40000000] = {1};\n.entry k() { .global .b8 h[40000000] = {1}; ret; }\n",
	} {
		tree, err := ptx.Parse("big.ptx", []byte(header+text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lower.Build(tree); err == nil || !strings.Contains(err.Error(), "initialised variables of more than 64 MiB together") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Variables: offsets in each space, initial values, addresses in them.
func TestVariables(t *testing.T) {
	m := build(t, "vars.ptx", header+`
.const .align 4 .u16 c[4] = {1, 0x203, -1};
.global .f32 g[2][2] = {{1.0, 2.0}, {0f40400000}};
.global .align 16 .u64 ptrs[3] = {generic(g)+8, c, 7};
.global .v2 .b32 pair = {5, 6};
.global .b8 text[] = {104, 105};
.shared .align 4 .b8 used[12];
.shared .align 4 .b8 unused[1000];
.extern .shared .align 16 .b8 dyn[];
.extern .shared .align 8 .f32 dyn2[];
.visible .entry k()
{
	.reg .b32 %r<3>;
	.shared .align 16 .b64 own[2];
	.local .b64 depot;
	mov.u32 %r1, used;
	st.shared.u32 [own], %r1;
	st.shared.u32 [dyn2], %r1;
	st.shared.u32 [dyn], %r1;
	ret;
}`)
	k := m.Kernels[0]
	var got strings.Builder
	for _, v := range k.Vars {
		fmt.Fprintf(&got, "%s %s %d at %d", v.Name, v.Space, v.Size, v.Offset)
		if v.Init != nil {
			fmt.Fprintf(&got, " = %x", v.Init)
		}
		for _, r := range v.Relocs {
			fmt.Fprintf(&got, " [%d:%d]=%s+%d", r.Offset, r.Offset+r.Size, k.Vars[r.Var].Name, r.Addend)
		}
		got.WriteByte('\n')
	}
	golden(t, got.String(), `
c const 8 at 0 = 01000302ffff0000
g global 16 at 0 = 0000803f000000400000404000000000
ptrs global 24 at 16 = 000000000000000000000000000000000700000000000000 [0:8]=g+8 [8:16]=c+0
pair global 8 at 40 = 0500000006000000
text global 2 at 48 = 6869
used shared 12 at 0
unused shared 1000 at -1
dyn shared 0 at 32
dyn2 shared 0 at 32
own shared 16 at 16
depot local 8 at 0
`)
	if k.SharedBytes != 32 || k.ConstBytes != 8 || k.LocalBytes != 8 || k.DynamicShared != 8 {
		t.Errorf("shared %d, const %d, local %d, dynamic %d", k.SharedBytes, k.ConstBytes, k.LocalBytes, k.DynamicShared)
	}
	if !bytes.Equal(m.Vars[0].Init, k.Vars[0].Init) {
		t.Error("the module's variables differ from the kernel's")
	}
}

// A label and a register of an inner scope hide those outside, and end with it.
func TestScopes(t *testing.T) {
	k := kernel(t, "", `
	.reg .b32 %r<2>, x;
	.reg .pred p;
	mov.u32 x, 1;
	{
		.reg .b32 x;
		mov.u32 x, 2;
		@p bra L;
		mov.u32 x, 3;
	L:
		mov.u32 %r1, x;
	}
	@p bra L;
	mov.u32 %r1, x;
L:
	ret;`)
	golden(t, k.String(), `
kernel k
b0: -> b1 b2 ipdom b2
	mov.u32 x, 1;
	mov.u32 x, 2;
	@p bra b2;
b1: -> b2 ipdom b2
	mov.u32 x, 3;
b2: -> b3 b4 ipdom b4
	mov.u32 %r1, x;
	@p bra b4;
b3: -> b4 ipdom b4
	mov.u32 %r1, x;
b4:
	exit;
`)
	if a, b := k.Instrs[0].Dst[0], k.Instrs[1].Dst[0]; a == b {
		t.Error("the inner x is the outer one")
	}
}

func TestIndexedBranch(t *testing.T) {
	k := kernel(t, "", `
	.reg .b32 %r<2>;
	mov.u32 %r1, %tid.x;
	ts: .branchtargets A, B, A;
	brx.idx %r1, ts;
A:
	mov.u32 %r1, 1;
B:
	ret;`)
	golden(t, k.String(), `
kernel k
b0: -> b1 b2 ipdom b2
	mov.u32 %r1, %tid.x;
	brx.idx %r1, {b1, b2, b1};
b1: -> b2 ipdom b2
	mov.u32 %r1, 1;
b2:
	exit;
`)
}

// Addresses that no initial value can hold are refused, not zero.
func TestInitialAddressesRefused(t *testing.T) {
	for text, want := range map[string]string{
		".shared .b8 s[4];\n.global .u64 p = generic(s);":     "the address of .shared variable s is not the same for all CTAs",
		".global .u64 p = generic(missing);":                  "missing is not declared",
		".global .u32 v;\n.global .u16 p = v;":                "an address does not fit 2 bytes",
		".global .u32 v;\n.global .u8 p[2] = {0xF0(v), 0};":   "is not a constant",
		".global .u32 v;\n.global .u8 p[2] = {0xFF0(v), 0};":  "is not a constant",
		".global .u32 v;\n.global .u8 p[2] = {0x1FF(v), 0};":  "is not a constant",
		".func f() { ret; }\n.global .u64 p = generic(f);\n":  "address of function f in an initialiser is not modelled",
		".global .u32 v;\n.global .u64 p = generic(v) * 2;\n": "is not a constant",
	} {
		tree, err := ptx.Parse("p.ptx", []byte(header+text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if _, err := lower.Build(tree); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
