package lower_test

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/irtest"
)

// Generic accesses through what can only be an address of local memory become accesses
// to local memory; where such an address goes elsewhere, too, all stay as they are.
func TestUseLocal(t *testing.T) {
	const before = `
	.local .align 8 .b8 depot[64];
	.reg .b32 %r<8>;
	.reg .b64 %rd<12>;
	.reg .pred %p<2>;
	ld.param.u64 %rd9, [out];
	mov.u32 %r1, %tid.x;
	mov.u64 %rd1, depot;
	cvta.local.u64 %rd2, %rd1;
	st.volatile.u32 [%rd2+4], %r1;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd2, %rd3;
	add.s64 %rd5, %rd2, 16;
	setp.lt.u32 %p1, %r1, 4;
`
	const after = `
	ld.volatile.u32 %r2, [%rd6];
	st.global.u32 [%rd9], %r2;
	ret;`
	for _, c := range []struct {
		name, body string
		local      bool
	}{
		{"copied", "mov.b64 %rd6, %rd5;", true},
		{"stepped at random", "mov.b64 %rd6, %rd4;", true},
		{"selected", "selp.b64 %rd6, %rd4, %rd5, %p1;", true},
		{"walked", "mov.b64 %rd6, %rd2;\nL: add.s64 %rd6, %rd6, 4;\n@%p1 bra L;", true},
		{"converted back", "mov.b64 %rd6, %rd5;\ncvta.to.local.u64 %rd7, %rd6;\nst.local.u32 [%rd7], %r1;", true},
		{"selected with another", "selp.b64 %rd6, %rd4, %rd9, %p1;", false},
		{"set to another", "mov.b64 %rd6, %rd5;\n@%p1 mov.b64 %rd6, %rd9;", false},
		{"stored", "mov.b64 %rd6, %rd5;\nst.global.u64 [%rd9], %rd6;", false},
		{"stored where it points", "mov.b64 %rd6, %rd5;\nst.u64 [%rd6], %rd6;", false},
		{"compared", "mov.b64 %rd6, %rd5;\nsetp.eq.u64 %p1, %rd6, %rd9;", false},
		{"cut", "mov.b64 %rd6, %rd5;\ncvt.u32.u64 %r3, %rd6;", false},
		{"difference", "mov.b64 %rd6, %rd5;\nsub.s64 %rd7, %rd6, %rd4;", false},
		{"of other memory", "mov.b64 %rd6, %rd9;", false},
	} {
		k := kernel(t, ".param .u64 out", before+c.body+after)
		if err := irtest.Verify(k); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		var generic, converted int
		for pc := range k.Instrs {
			switch in := &k.Instrs[pc]; {
			case in.Op == ir.Cvta:
				converted++
			case (in.Op == ir.Ld || in.Op == ir.St) && in.Space == ir.Generic:
				generic++
			}
		}
		if c.local && (generic > 0 || converted > 0) {
			t.Errorf("%s: %d generic accesses, %d conversions are left in\n%s", c.name, generic, converted, k)
		}
		if !c.local && (generic == 0 || c.name != "of other memory" && !strings.Contains(k.String(), "st.volatile.u32 [%rd2+4]")) {
			t.Errorf("%s: generic accesses became local in\n%s", c.name, k)
		}
	}
}
