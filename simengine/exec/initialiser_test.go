package exec

import "testing"

// TestAddressesInInitialValues reads through addresses that variables hold before the kernel
// runs, in every form that PTX has for them.
func TestAddressesInInitialValues(t *testing.T) {
	const decls = `
.global .u32 v1 = 11;
.global .u32 v2[2] = {22, 33};
.const .u32 c1[2] = {44, 55};
.global .u64 one = generic(v2);
.global .u64 table[4] = {1, generic(v1), 2, generic(v2)+4};
.const .u64 held[2] = {generic(v1), generic(c1)+4};
.const .u64 own = c1;
.global .u64 plain = v1;
.global .align 1 .u8 packed[9] = {3, 0xFF(generic(v2)+4), 0xFF00(generic(v2)+4), 0xFF0000(generic(v2)+4), 0xFF000000(generic(v2)+4),
	0xFF00000000(generic(v2)+4), 0xFF0000000000(generic(v2)+4), 0xFF000000000000(generic(v2)+4), 0xFF00000000000000(generic(v2)+4)};
`
	for _, c := range []struct {
		name, body string
		want       uint32
	}{
		{"a pointer", "ld.global.u64 %rd5, [one]; ld.u32 %r1, [%rd5];", 22},
		{"an array of structures", "ld.global.u64 %rd5, [table+8]; ld.u32 %r1, [%rd5]; ld.global.u64 %rd5, [table+24]; ld.u32 %r2, [%rd5]; add.u32 %r1, %r1, %r2;", 11 + 33},
		{"what is no address beside them", "ld.global.u32 %r1, [table+16];", 2},
		{"in constant memory, to global", "ld.const.u64 %rd5, [held]; ld.u32 %r1, [%rd5];", 11},
		{"in constant memory, to constant", "ld.const.u64 %rd5, [held+8]; ld.u32 %r1, [%rd5];", 55},
		{"in the variable's own space", "ld.const.u64 %rd5, [own]; ld.const.u32 %r1, [%rd5+4]; ld.global.u64 %rd5, [plain]; ld.global.u32 %r2, [%rd5]; add.u32 %r1, %r1, %r2;", 55 + 11},
		{"byte by byte", `mov.u64 %rd5, 0; mov.u32 %r2, 8;
next: cvt.u64.u32 %rd6, %r2; mov.u64 %rd7, packed; add.u64 %rd7, %rd7, %rd6; ld.global.u8 %rd6, [%rd7];
	shl.b64 %rd5, %rd5, 8; or.b64 %rd5, %rd5, %rd6; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra next;
	ld.u32 %r1, [%rd5];`, 33},
	} {
		out, err := runBody(t, decls, c.body+" st.global.u32 [%rd3], %r1;", 1)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if out[0] != c.want {
			t.Errorf("%s: %d, want %d", c.name, out[0], c.want)
		}
	}
}

// TestAddressesOfParameters reads the parameters through their addresses, as compilers do
// where a structure is indexed or passed on.
func TestAddressesOfParameters(t *testing.T) {
	for name, body := range map[string]string{
		"in the parameter space": "mov.b64 %rd5, in; ld.param.u64 %rd6, [%rd5];",
		"from another parameter": "mov.b64 %rd5, out; ld.param.u64 %rd6, [%rd5+8];",
		"a generic address":      "mov.b64 %rd5, in; cvta.param.u64 %rd7, %rd5; ld.u64 %rd6, [%rd7];",
		"a different one by each lane": `mov.b64 %rd5, out; and.b32 %r1, %r0, 1; mul.wide.u32 %rd7, %r1, 8; add.s64 %rd5, %rd5, %rd7;
	ld.param.u64 %rd6, [%rd5]; setp.eq.u32 %p1, %r1, 1; @%p1 bra same; mov.u64 %rd6, %rd1;
same:`,
	} {
		out, err := runBody(t, "", body+" add.s64 %rd6, %rd6, %rd2; ld.global.u32 %r1, [%rd6]; add.u32 %r1, %r1, 1; st.global.u32 [%rd3], %r1;", 64)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range uint32(64) {
			if out[i] != i+1 {
				t.Errorf("%s: thread %d has %d, want %d", name, i, out[i], i+1)
				break
			}
		}
	}
}
