package assemble

import "testing"

// TestAsyncCopies: loads of nothing come before the first cp.async of each block, by
// generation, and an arm with one is branched around however short.
func TestAsyncCopies(t *testing.T) {
	src := header + `.visible .entry fill(.param .u64 a, .param .u32 n)
{
.reg .pred %p<2>;
.reg .b32 %r<5>;
.reg .b64 %rd<4>;
.shared .align 16 .b8 s[8192];
ld.param.u64 %rd1, [a];
ld.param.u32 %r4, [n];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, %tid.x;
mov.u32 %r2, s;
mad.lo.s32 %r3, %r1, 16, %r2;
mul.wide.u32 %rd3, %r1, 16;
add.s64 %rd2, %rd2, %rd3;
cp.async.ca.shared.global [%r3], [%rd2], 16;
cp.async.ca.shared.global [%r3+4096], [%rd2+4096], 16;
setp.ge.u32 %p1, %r1, %r4;
@%p1 bra DONE;
cp.async.ca.shared.global [%r3+2048], [%rd2+2048], 16;
DONE:
cp.async.commit_group;
cp.async.wait_group 0;
ret;
}
`
	for _, c := range []struct {
		cc   [2]int
		idle int
	}{{[2]int{8, 0}, 4}, {[2]int{8, 9}, 4}, {[2]int{9, 0}, 6}} {
		n := selectedOps(t, src, c.cc)
		if n[opLDSOFF] != c.idle || n[opLDGSTS] != 3 || n[opBRA] == 0 {
			t.Errorf("%v: %d loads of nothing, %d copies and %d branches, want %d, 3 and some", c.cc, n[opLDSOFF], n[opLDGSTS], n[opBRA], c.idle)
		}
	}
}
