package exec

import "testing"

// The system's shared memory lies behind the kernel's own, is zero at first, and can be written.
func TestReservedSharedMemory(t *testing.T) {
	out, err := runBody(t, ".shared .align 4 .b8 own[20];", `
	mov.u32 %r1, %reserved_smem_offset_1;
	mov.u32 %r2, %reserved_smem_offset_end;
	sub.u32 %r2, %r2, %r1;
	shl.b32 %r3, %r0, 2;
	add.u32 %r3, %r3, %r1;
	atom.shared.or.b32 %r4, [%r3], %r0;
	ld.shared.u32 %r5, [%r3];
	setp.ge.u32 %p0, %r1, 20;
	selp.b32 %r6, 100000, 0, %p0;
	mad.lo.u32 %r5, %r2, 1000, %r5;
	add.u32 %r5, %r5, %r4;
	add.u32 %r5, %r5, %r6;
	st.global.u32 [%rd3], %r5;`, 32)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint32(32) {
		if want := 1024*1000 + 100000 + i; out[i] != want {
			t.Errorf("thread %d has %d, want %d", i, out[i], want)
		}
	}
}
