// Package asmtest has kernels and helpers for the tests of the assembler's stages.
package asmtest

import (
	"fmt"
	"strings"
)

// ownWord leaves in %rd4 the address of a lane's own word of parameter a, and in %r1 the lane.
const ownWord = `ld.param.u64 %rd1, [a];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd4, %rd2, %rd3;
`

// Header begins every PTX text.
const Header = ".version 8.0\n.target sm_90\n.address_size 64\n"

// Saxpy has an early return, address arithmetic and a short arm.
const Saxpy = Header + `
.visible .entry saxpy(.param .u64 a, .param .u64 b, .param .u32 n, .param .f32 k)
{
	.reg .pred %p<3>;
	.reg .f32 %f<6>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [b];
	ld.param.u32 %r1, [n];
	ld.param.f32 %f1, [k];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %tid.x;
	shl.b32 %r4, %r2, 7;
	add.s32 %r5, %r4, %r3;
	setp.ge.s32 %p1, %r5, %r1;
	@%p1 bra $L__BB0_3;
	cvta.to.global.u64 %rd3, %rd1;
	mul.wide.s32 %rd4, %r5, 4;
	add.s64 %rd5, %rd3, %rd4;
	ld.global.f32 %f2, [%rd5];
	mov.f32 %f5, 0f00000000;
	setp.lt.f32 %p2, %f2, 0f00000000;
	@%p2 bra $L__BB0_2;
	mul.f32 %f5, %f2, %f1;
$L__BB0_2:
	cvta.to.global.u64 %rd6, %rd2;
	add.s64 %rd7, %rd6, %rd4;
	st.global.f32 [%rd7], %f5;
$L__BB0_3:
	ret;
}
`

// WideKernel has n accumulators in a loop.
func WideKernel(n int) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, Header+".visible .entry wide(.param .u64 a, .param .u32 n)\n{\n.reg .pred %%p<2>;\n.reg .f32 %%f<%d>;\n.reg .b32 %%r<4>;\n.reg .b64 %%rd<5>;\n", 2*n+2)
	sb.WriteString("ld.param.u64 %rd1, [a];\nld.param.u32 %r1, [n];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r2, %tid.x;\nmul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd2, %rd3;\n")
	for i := range n {
		fmt.Fprintf(&sb, "ld.global.f32 %%f%d, [%%rd4+%d];\n", i, 128*i)
	}
	sb.WriteString("mov.u32 %r3, 0;\nLOOP:\n")
	for i := range n {
		fmt.Fprintf(&sb, "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n", i, i, (i+1)%n, (i+7)%n)
	}
	sb.WriteString("add.s32 %r3, %r3, 1;\nsetp.lt.s32 %p1, %r3, %r1;\n@%p1 bra LOOP;\n")
	for i := range n {
		fmt.Fprintf(&sb, "st.global.f32 [%%rd4+%d], %%f%d;\n", 128*i, i)
	}
	sb.WriteString("ret;\n}\n")
	return sb.String()
}

// LoopKernel is a loop of that many rounds over %p, %f, %r and %rd. %rd3 is a thread's address, %r1
// the parameter n, %f1 what is stored.
func LoopKernel(declared, before, body, rounds string) string {
	return Header + declared + `.visible .entry k(.param .u64 a, .param .u32 n)
{
.reg .pred %p<9>; .reg .f32 %f<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
ld.param.u64 %rd1, [a];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd2, %r2, 4;
add.s64 %rd3, %rd1, %rd2;
mov.f32 %f1, 0f00000000;
mov.u32 %r3, 0;
` + strings.ReplaceAll(before, "; ", ";\n") + `
L:
` + strings.ReplaceAll(body, "; ", ";\n") + `
add.s32 %r3, %r3, 1;
setp.ne.s32 %p1, %r3, ` + rounds + `;
@%p1 bra L;
st.global.f32 [%rd3], %f1;
ret;
}
`
}

// Filtered applies a filter of size by size weights to rows results a lane, one below the other,
// unrolled: weights outside, results inside. Words of shared memory are loaded where the first
// result needs them.
func Filtered(size, rows int) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, Header+`.visible .entry filtered(.param .u64 a)
{
.reg .f32 %%s<%d>;
.reg .f32 %%a<%d>;
.reg .b32 %%r<3>;
.reg .b64 %%rd<5>;
.shared .align 4 .b8 tile[16384];
%smov.u32 %%r2, tile;
mad.lo.s32 %%r2, %%r1, 4, %%r2;
`, rows, (size+rows)*size, ownWord)
	for y := range rows {
		fmt.Fprintf(&sb, "mov.f32 %%s%d, 0f00000000;\n", y)
	}
	loaded := map[int]bool{}
	for i := range size {
		for j := range size {
			for y := range rows {
				at := (i+y)*size + j
				if !loaded[at] {
					loaded[at] = true
					fmt.Fprintf(&sb, "ld.shared.f32 %%a%d, [%%r2+%d];\n", at, 256*(i+y)+4*j)
				}
				fmt.Fprintf(&sb, "fma.rn.f32 %%s%d, %%a%d, 0f3F%06X, %%s%d;\n", y, at, 64*(i*size+j), y)
			}
		}
	}
	for y := range rows {
		fmt.Fprintf(&sb, "st.global.f32 [%%rd4+%d], %%s%d;\n", 128*y, y)
	}
	sb.WriteString("ret;\n}\n")
	return sb.String()
}

// Product multiplies a tile of rows by steps values, the same for all lanes, with a column a lane,
// unrolled: steps outside, rows inside.
func Product(rows, steps int) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, Header+`.visible .entry product(.param .u64 a)
{
.reg .f32 %%s<%d>;
.reg .f32 %%a<%d>;
.reg .f32 %%b<%d>;
.reg .b32 %%r<4>;
.reg .b64 %%rd<5>;
.shared .align 16 .b8 left[4096];
.shared .align 16 .b8 right[4096];
%sshl.b32 %%r2, %%r1, 2;
mov.u32 %%r3, right;
add.s32 %%r3, %%r3, %%r2;
`, rows, rows*steps, steps, ownWord)
	for r := range rows {
		fmt.Fprintf(&sb, "ld.global.f32 %%s%d, [%%rd4+%d];\n", r, 128*r)
	}
	for k := range steps {
		fmt.Fprintf(&sb, "ld.shared.f32 %%b%d, [%%r3+%d];\n", k, 128*k)
		for r := range rows {
			fmt.Fprintf(&sb, "ld.shared.f32 %%a%d, [left+%d];\nfma.rn.f32 %%s%d, %%a%d, %%b%d, %%s%d;\n", r*steps+k, 128*r+4*k, r, r*steps+k, k, r)
		}
	}
	for r := range rows {
		fmt.Fprintf(&sb, "st.global.f32 [%%rd4+%d], %%s%d;\n", 128*r, r)
	}
	sb.WriteString("ret;\n}\n")
	return sb.String()
}

// Outer adds steps outer products to a tile of n by n accumulators, unrolled: each step loads a
// column and a row.
func Outer(n, steps int) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, Header+`.visible .entry outer(.param .u64 a)
{
.reg .f32 %%s<%d>;
.reg .f32 %%a<%d>;
.reg .f32 %%b<%d>;
.reg .b32 %%r<3>;
.reg .b64 %%rd<5>;
.shared .align 4 .b8 tile[8192];
%smov.u32 %%r2, tile;
mad.lo.u32 %%r2, %%r1, 4, %%r2;
`, n*n, n*steps, n*steps, ownWord)
	for i := range n * n {
		fmt.Fprintf(&sb, "ld.global.f32 %%s%d, [%%rd4+%d];\n", i, 128*i)
	}
	for k := range steps {
		for i := k * n; i < (k+1)*n; i++ {
			fmt.Fprintf(&sb, "ld.shared.f32 %%a%d, [%%r2+%d];\n", i, 132*i)
		}
		for i := k * n; i < (k+1)*n; i++ {
			fmt.Fprintf(&sb, "ld.shared.f32 %%b%d, [%%r2+%d];\n", i, 4096+132*i)
		}
		for i := range n * n {
			fmt.Fprintf(&sb, "fma.rn.f32 %%s%d, %%a%d, %%b%d, %%s%d;\n", i, k*n+i/n, k*n+i%n, i)
		}
	}
	for i := range n * n {
		fmt.Fprintf(&sb, "st.global.f32 [%%rd4+%d], %%s%d;\n", 128*i, i)
	}
	sb.WriteString("ret;\n}\n")
	return sb.String()
}

// Gathers adds four products to each of n accumulators: of four words that all share, and four at
// an address of its own.
func Gathers(n int) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, Header+`.visible .entry gathers(.param .u64 a)
{
.reg .f32 %%s<%d>;
.reg .f32 %%a<4>;
.reg .f32 %%b<%d>;
.reg .b32 %%r<%d>;
.reg .b64 %%rd<%d>;
%s`, n, 4*n, 3+n, 5+n, ownWord)
	for i := range n {
		fmt.Fprintf(&sb, "ld.global.u32 %%r%d, [%%rd4+%d];\nld.global.f32 %%s%d, [%%rd4+%d];\n", 3+i, 128*i, i, 8192+128*i)
	}
	sb.WriteString("bar.sync 0;\n")
	for k := range 4 {
		fmt.Fprintf(&sb, "ld.global.f32 %%a%d, [%%rd4+%d];\n", k, 16384+128*k)
	}
	for i := range n {
		fmt.Fprintf(&sb, "mad.wide.u32 %%rd%d, %%r%d, 4, %%rd4;\n", 5+i, 3+i)
		for k := range 4 {
			fmt.Fprintf(&sb, "ld.global.f32 %%b%d, [%%rd%d+%d];\nfma.rn.f32 %%s%d, %%a%d, %%b%d, %%s%d;\n", 4*i+k, 5+i, 132*k, i, k, 4*i+k, i)
		}
	}
	for i := range n {
		fmt.Fprintf(&sb, "st.global.f32 [%%rd4+%d], %%s%d;\n", 128*i, i)
	}
	sb.WriteString("ret;\n}\n")
	return sb.String()
}
