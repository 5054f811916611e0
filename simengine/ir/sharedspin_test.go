package ir_test

import (
	"slices"
	"testing"
)

// A loop waits for other warps of its CTA if it reads shared memory alone, by loads that see what others write, and changes
// nothing, in a kernel that writes shared memory elsewhere.
func TestSharedSpins(t *testing.T) {
	const again = "\nsetp.eq.u32 %p1, %r5, 0; @%p1 bra loop;"
	for name, c := range map[string]struct {
		loop           string
		shared, device bool
	}{
		"volatile":                 {"ld.volatile.shared.u32 %r5, [w];" + again, true, false},
		"weak":                     {"ld.shared.u32 %r5, [w];" + again, false, false},
		"generic address":          {"ld.acquire.cta.u32 %r5, [%rd3];" + again, true, false},
		"generic address, moved":   {"ld.acquire.cta.u32 %r5, [%rd5];" + again, true, false},
		"device memory":            {"ld.acquire.gpu.u32 %r5, [%rd1];" + again, false, true},
		"one of two":               {"ld.acquire.gpu.u32 %r5, [%rd6];" + again, false, true},
		"jump back":                {"ld.volatile.shared.u32 %r5, [w]; setp.ne.u32 %p1, %r5, 0; @%p1 bra out; nanosleep.u32 20; bra loop;", true, false},
		"jump back after work":     {"ld.volatile.shared.u32 %r5, [w]; setp.ne.u32 %p1, %r5, 0; @%p1 bra out; add.u32 %r6, %r6, 1; bra loop;", false, false},
		"atomic that adds nothing": {"atom.shared.add.u32 %r5, [w], 0;" + again, true, false},
		"atomic that takes":        {"atom.shared.cas.b32 %r5, [w], 0, 1;" + again, false, false},
		"counts":                   {"ld.volatile.shared.u32 %r5, [w]; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 9; @%p1 bra loop;", false, false},
		"stores":                   {"ld.volatile.shared.u32 %r5, [w]; st.shared.u32 [w+4], %r5;" + again, false, false},
	} {
		k := kernel(t, ".param .u64 p", `
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
.shared .align 4 .b8 w[64];
ld.param.u64 %rd1, [p];
mov.u64 %rd2, w; cvta.shared.u64 %rd3, %rd2;
mov.u64 %rd4, %rd3; add.u64 %rd5, %rd4, 4;
mov.u64 %rd6, %rd3; mov.u32 %r1, %tid.x; setp.eq.u32 %p0, %r1, 0; @%p0 mov.u64 %rd6, %rd1;
mov.u32 %r6, 0;
st.shared.u32 [w], 1;
loop:
`+c.loop+`
out:
st.global.u32 [%rd1], %r5;
ret;`)
		if got := slices.Contains(k.SharedSpins(), true); got != c.shared {
			t.Errorf("%s: waits by a word of shared memory: %v, want %v", name, got, c.shared)
		}
		if got := slices.Contains(k.Spins(), true); got != c.device {
			t.Errorf("%s: waits by a word of device memory: %v, want %v", name, got, c.device)
		}
	}
}
