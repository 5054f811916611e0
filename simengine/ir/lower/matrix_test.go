package lower_test

import (
	"os"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/irtest"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ptx"
)

// Every form of MMA becomes instructions that hold the invariants; one of wmma
// as many MMAs as ptxas makes of it.
func TestMatrices(t *testing.T) {
	src, err := os.ReadFile("testdata/matrices.ptx")
	if err != nil {
		t.Fatal(err)
	}
	m := build(t, "matrices.ptx", string(src))
	for _, c := range []struct {
		kernel             string
		products, matrices int // Mma, and loads by ldmatrix
	}{{"mma", 6, 3}, {"wmma", 7, 2}} {
		k, err := m.Kernel(c.kernel)
		if err != nil {
			t.Fatal(err)
		}
		if err := irtest.Verify(k); err != nil {
			t.Error(err)
		}
		products, matrices := 0, 0
		for i := range k.Instrs {
			in := &k.Instrs[i]
			switch {
			case in.Op == ir.Mma:
				products++
			case in.Mod&ir.ModMatrix != 0:
				matrices++
			}
		}
		if products != c.products || matrices != c.matrices {
			t.Errorf("%s: %d products and %d loads of matrices, want %d and %d", c.kernel, products, matrices, c.products, c.matrices)
		}
	}
}

// What is wrong with one is said where it stands.
func TestMatrixDiagnostics(t *testing.T) {
	for bad, want := range map[string]string{
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2}, {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%f0, %f1, %f2, %f3};":                           "operand 1 of mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32: 3 elements, want 4",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r0, %r1};":                                            "too few operands (3)",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %d0}, {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%f0, %f1, %f2, %f3};":                      "register %d0 is .f64, want .f32",
		"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1}, [%r0];":                                                                                          "2 elements, want 4",
		"ldmatrix.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r0];":                                                                                             "lacks .sync.aligned",
		"wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0, %r1, %r2, %r3}, [%d0], 16;":                                                                          "4 elements, want 8",
		"wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0, %r1}, [%f0], 16;":                                                                                     "register %f0 is .f32, want a 32- or 64-bit address",
		"wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0, %r1}, [16], 16;":                                                                                      "a matrix needs a register or a variable as its address",
		"wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0, _}, [%rd0], 16;":                                                                                      "fragments have no place for _",
		"wmma.store.d.sync.aligned.row.m16n16k16.s32 [%rd0], {%r0, %r1, %r2, %r3, %r0, %r1, %r2, %r3}, %f0;":                                                   "register %f0 is .f32, want .u32",
		"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {%d0, %d0}, {%d0}, {%d0}, {%d0, %d0}, {%d0};":                                                    "too many operands (5)",
		"movmatrix.sync.aligned.m8n8.trans.b16 %r0, %d0;":                                                                                                      "register %d0 is .f64, want .b32",
		"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 {%f0,%f0,%f0,%f0,%f0,%f0,%f0,%f0}, {%r0}, {%r0}, {%r0};":                                              "",
		"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%r0, %r1, %r2, %r3};":                        "",
		"wmma.load.b.sync.aligned.row.m16n16k16.u8 {%r0, %r1}, [%rd0], 16;":                                                                                    "",
		"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r0, %r1}, {%f0, %f1, %f2, %f3}, %r0, 0x0;":                   "",
		"wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%r0, %r1, %r2, %r3}, [%r0];wmma.load.a.sync.aligned.row.m16n16k8.tf32 {%r0,%r1,%r2,%r3}, [%rd0];": "fine",
	} {
		src := ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>;\n.reg .f32 %f<4>;\n.reg .f64 %d<2>;\n.reg .b64 %rd<2>;\n" + bad + "\nret;\n}\n"
		m, err := ptx.Parse("k.ptx", []byte(src))
		if err != nil {
			t.Errorf("%s does not parse: %v", bad, err)
			continue
		}
		out, err := lower.Build(m)
		switch {
		case want == "fine":
			if err != nil {
				t.Errorf("%s: %v", bad, err)
			}
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "k.ptx:10:") {
				t.Errorf("%s: %v, want %q at line 10", bad, err, want)
			}
		case err != nil:
			t.Errorf("%s: %v, want it refused by name", bad, err)
		default:
			if _, err := out.Kernel("k"); err == nil || !strings.Contains(err.Error(), "which the simulator does not model") {
				t.Errorf("%s: %v, want it refused by name", bad, err)
			}
		}
	}
}
