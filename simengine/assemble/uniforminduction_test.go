package assemble

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
)

// walkingKernel has a loop in which a pointer that a parameter starts is read by body and stepped.
func walkingKernel(exit, body, step string) string {
	return asmtest.Header + `.visible .entry k(.param .u64 a, .param .u32 n)
{
.reg .pred %p<9>; .reg .f32 %f<9>; .reg .b32 %r<9>; .reg .b64 %rd<19>;
ld.param.u64 %rd1, [a];
ld.param.u32 %r1, [n];
cvta.to.global.u64 %rd9, %rd1;
mov.u32 %r2, %tid.x;
mul.wide.s32 %rd2, %r2, 4;
shl.b32 %r4, %r1, 1;
mul.wide.s32 %rd5, %r4, 4;
mov.f32 %f1, 0f00000000;
mov.u32 %r3, 0;
L:
` + body + `
add.f32 %f1, %f1, %f2;
` + step + `
add.s32 %r3, %r3, 1;
` + exit + `
@%p1 bra L;
add.s64 %rd4, %rd1, %rd2;
st.global.f32 [%rd4], %f1;
ret;
}
`
}

// TestPointersInUniformRegisters: pointers that all lanes walk alike are stepped on the uniform datapath where
// each lane adds a product of its own or a single access has the address.
func TestPointersInUniformRegisters(t *testing.T) {
	const (
		together = "setp.ne.s32 %p1, %r3, %r1;"
		byLanes  = "setp.lt.s32 %p1, %r3, %r2;"
		product  = "mul.wide.s32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd9, %rd3;\nld.global.f32 %f2, [%rd4];"
		single   = "ld.global.f32 %f2, [%rd9];"
		twice    = "ld.global.f32 %f2, [%rd9];\nld.global.f32 %f3, [%rd9+4];\nadd.f32 %f2, %f2, %f3;"
		constant = "add.s64 %rd9, %rd9, 32;"
		variable = "add.s64 %rd9, %rd9, %rd5;"
	)
	for _, c := range []struct {
		name             string
		exit, body, step string
		want, no         string // instructions of the loop
	}{
		{"an address of a lane's own", together, product, constant, "UIADD3", "IADD3.X"},
		{"one load", together, single, constant, "UIADD3", "IADD3.X"},
		{"two loads", together, twice, constant, "IADD3.X", "MOV"},
		{"lanes leave one by one", byLanes, product, constant, "IADD3.X", "UIADD3"},
		{"a step by a product", together, product, variable, "UIMAD.WIDE", "IADD3.X"},
	} {
		tg := mustTarget(t, hopper.CC)
		f, err := selected(asmtest.BuildKernel(t, "k", []byte(walkingKernel(c.exit, c.body, c.step))), tg)
		if err != nil {
			t.Fatal(err)
		}
		text := asmtest.Listing(f)
		loop := text[strings.Index(text, "(depth 1)"):]
		loop = loop[:strings.Index(loop, "block")]
		if has := func(op string) bool { return strings.Contains(loop, "\t"+op+" ") }; !has(c.want) || has(c.no) {
			t.Errorf("%s: %s is to be there and %s not:\n%s", c.name, c.want, c.no, loop)
		}
		must(t, walkingKernel(c.exit, c.body, c.step), hopper)
	}
}

// TestUniformAddressesOfAll: whatever accesses memory at a pointer that all lanes walk assembles.
func TestUniformAddressesOfAll(t *testing.T) {
	for _, body := range []string{
		"ld.global.v4.f32 {%f2, %f3, %f4, %f5}, [%rd9+16];",
		"mov.f32 %f2, %f1;\nst.global.f32 [%rd9], %f2;",
		"atom.global.add.u32 %r5, [%rd9], %r2;\ncvt.rn.f32.u32 %f2, %r5;",
		"mov.f32 %f2, %f1;\nred.global.add.f32 [%rd9], %f2;",
		"mov.f32 %f2, %f1;\nprefetch.global.L2 [%rd9];",
		"mov.f32 %f2, %f1;\nmov.u32 %r5, 16;\ncp.async.ca.shared.global [%r5], [%rd9], 16;\ncp.async.wait_all;",
		"ld.global.nc.u64 %rd6, [%rd9];\ncvt.rn.f32.u64 %f2, %rd6;",
		"mul.wide.s32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd9, %rd3;\nld.global.f32 %f2, [%rd4];\nst.global.f32 [%rd9], %f2;",
		"mov.u64 %rd6, %rd9;\nld.global.f32 %f2, [%rd6];",
		"sub.s64 %rd6, %rd9, %rd1;\ncvt.rn.f32.s64 %f2, %rd6;",
	} {
		for _, cc := range [][2]int{{7, 5}, {8, 0}, {9, 0}, {10, 0}} {
			must(t, walkingKernel("setp.ne.s32 %p1, %r3, %r1;", body, "add.s64 %rd9, %rd9, 32;"), Options{CC: cc})
		}
	}
}
