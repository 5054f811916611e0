package exec

import (
	"errors"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/racecheck"
)

// reduces is a reduction over CTAs as the CUDA samples have it: each stores its partial sum and counts itself
// in; the last one adds them up. first is what stands between the store and the count.
func reduces(between, load string) string {
	return `
	mov.u32 %r20, %ctaid.x;
	shl.b32 %r21, %r20, 8;
	add.u32 %r21, %r21, %r30;
	cvt.u64.u32 %rd5, %r21;
	add.s64 %rd6, %rd0, %rd5;
	st.global.u32 [%rd6+64], %r0;
	membar.gl;
	` + between + `
	setp.ne.u32 %p0, %r0, 0;
	@%p0 bra counted;
	atom.global.add.u32 %r22, [%rd0], 1;
	st.shared.u32 [buf], %r22;
counted:
	bar.sync 0;
	ld.shared.u32 %r23, [buf];
	setp.ne.u32 %p1, %r23, 2;
	@%p1 bra done;
	mov.u32 %r24, 0;
	mov.u32 %r25, 0;
more:
	cvt.u64.u32 %rd7, %r30;
	mad.wide.u32 %rd8, %r24, 256, %rd7;
	add.s64 %rd8, %rd8, %rd0;
	` + load + ` %r26, [%rd8+64];
	add.u32 %r25, %r25, %r26;
	add.u32 %r24, %r24, 1;
	setp.lt.u32 %p2, %r24, 3;
	@%p2 bra more;
	st.global.u32 [%rd3+4096], %r25;
done:`
}

// looksBack is a chain in which each CTA waits for the flag of the one before and goes on with its value.
func looksBack(store, load string) string {
	return `
	mov.u32 %r20, %ctaid.x;
	mul.wide.u32 %rd5, %r20, 8;
	add.s64 %rd6, %rd0, %rd5;
	setp.ne.u32 %p0, %r0, 0;
	@%p0 bra done;
	setp.eq.u32 %p1, %r20, 0;
	mov.u32 %r21, 0;
	@%p1 bra publish;
wait:
	` + load + ` %r22, [%rd6+-4];
	setp.eq.u32 %p2, %r22, 0;
	@%p2 bra wait;
	ld.global.u32 %r21, [%rd6+-8];
publish:
	add.u32 %r21, %r21, 5;
	st.global.u32 [%rd6], %r21;
	membar.gl;
	` + store + ` [%rd6+4], 1;
done:`
}

// Races in device memory are found, within a CTA and between CTAs, and what is ordered is not called one.
func TestGlobalRaces(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       string // in the fault; "": none
	}{
		{"each its own", "st.global.u32 [%rd3], 7;\nld.global.u32 %r1, [%rd3];", ""},
		{"another warp's", "st.global.u32 [%rd3], %r0;\nxor.b32 %r1, %r0, 32;\nmul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd5, %rd0, %rd5;\nld.global.u32 %r2, [%rd5];",
			"cta 0 thread 32: writes element 32 of out, what is read by thread 0 of CTA 0 in `ld.global.u32 %r2, [%rd5];` at k.ptx:24:1, no barrier between"},
		{"another warp's, behind a barrier", "mov.u32 %r20, %ctaid.x;\nshl.b32 %r20, %r20, 8;\ncvt.u64.u32 %rd6, %r20;\nadd.s64 %rd0, %rd0, %rd6;\nadd.s64 %rd3, %rd3, %rd6;\nst.global.u32 [%rd3], %r0;\nbar.sync 0;\nxor.b32 %r1, %r0, 32;\nmul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd5, %rd0, %rd5;\nld.global.u32 %r2, [%rd5];", ""},
		{"another warp's, written after it is read", "xor.b32 %r1, %r0, 32;\nmul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd5, %rd0, %rd5;\nld.global.u32 %r2, [%rd5];\nadd.u32 %r3, %r0, 1;\nst.global.u32 [%rd3], %r3;",
			"cta 0 thread 32: reads element 0 of out, what is written by thread 0 of CTA 0"},
		{"lanes that write differently", "st.global.u32 [%rd0], %r0;", "cta 0 thread 1: writes element 0 of out, what is written by thread 0 of CTA 0"},
		{"lanes that write the same", "st.global.u32 [%rd0], 9;", ""},
		{"diverged lanes", "setp.lt.u32 %p0, %r0, 7;\n@%p0 bra l;\nst.global.u32 [%rd0], 1;\nbra m;\nl:\nst.global.u32 [%rd0], 2;\nm:", "both in one warp"},
		{"CTAs that write differently", "mov.u32 %r20, %ctaid.x;\nst.global.u32 [%rd3], %r20;", "cta 1 thread 0: writes element 0 of out, what is written by thread 0 of CTA 0 in `st.global.u32 [%rd3], %r20;` at k.ptx"},
		{"CTAs that write the same", "st.global.u32 [%rd3], %r0;", ""},
		{"CTAs that write each its part", "mov.u32 %r20, %ctaid.x;\nmad.lo.u32 %r21, %r20, 64, %r0;\ncvt.u64.u32 %rd5, %r21;\nadd.s64 %rd5, %rd0, %rd5;\nst.global.u8 [%rd5], %r20;", ""},
		{"a stencil in place", "mov.u32 %r20, %ctaid.x;\nmad.lo.u32 %r21, %r20, 64, %r0;\nmul.wide.u32 %rd5, %r21, 4;\nadd.s64 %rd5, %rd1, %rd5;\nld.global.u32 %r1, [%rd5+4];\nbar.sync 0;\nst.global.u32 [%rd5], %r1;",
			"cta 1 thread 0: writes element 64 of in, what is read by thread 63 of CTA 0"},
		{"a stencil in place, the other way", "mov.u32 %r20, %ctaid.x;\nmad.lo.u32 %r21, %r20, 64, %r0;\nmul.wide.u32 %rd5, %r21, 4;\nadd.s64 %rd5, %rd1, %rd5;\nld.global.u32 %r1, [%rd5];\nbar.sync 0;\nst.global.u32 [%rd5+4], %r1;",
			"cta 1 thread 0: reads element 64 of in, what is written by thread 63 of CTA 0"},
		{"counting", "atom.global.add.u32 %r1, [%rd0], 1;\nred.global.add.u32 [%rd0+4], 1;", ""},
		{"volatile", "mov.u32 %r20, %ctaid.x;\nst.volatile.global.u32 [%rd3], %r20;\nld.volatile.global.u32 %r20, [%rd0];", ""},
		{"a reduction by counter", reduces("bar.sync 0;", "ld.global.u32"), ""},
		{"a reduction by counter without its barrier", reduces("", "ld.global.u32"), "cta 2 thread 32: reads element 48 of out, what is written by thread 32 of CTA 0"},
		{"flags", looksBack("st.volatile.global.u32", "ld.volatile.global.u32"), ""},
		{"flags by atomics", looksBack("red.global.add.u32", "ld.relaxed.gpu.global.u32"), ""},
		{"flags that are plain", looksBack("st.global.u32", "ld.global.u32"), "what is written by thread 0 of CTA 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkGlobalRaces(t, c.body, c.want, false, []int64{0, 1, 2})
			if strings.Contains(c.body, "wait:") || strings.Contains(c.body, "counted:") {
				return // what earlier ones left is waited for
			}
			checkGlobalRaces(t, c.body, c.want, true, []int64{0, 1, 2})
			for _, order := range [][]int64{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
				for _, reset := range []bool{false, true} {
					want := c.want
					if want != "" {
						want = "race" // by which two threads depends on the order, not whether
					}
					checkGlobalRaces(t, c.body, want, reset, order)
				}
			}
		})
	}
}

// checkGlobalRaces executes three CTAs of a body in an order, each twice and memory brought back to what it was between them, or
// not.
func checkGlobalRaces(t *testing.T, body, want string, reset bool, order []int64) {
	t.Helper()
	k := buildKernel(t, "k.ptx", []byte(bodyKernel("", body)))
	l, m := launchBody(t, k, 64)
	l.Grid.X = 3
	r := NewRunner(compileFor(t, k, Full))
	opt := Options{GlobalRaces: racecheck.New(0), StepLimit: 20000}
	var err error
	for _, cta := range order {
		if err = r.Run(l, m, cta, opt, nil); err != nil {
			break
		}
		if reset {
			m.Reset()
			if err = r.Run(l, m, cta, opt, nil); err != nil {
				break
			}
			m.Reset()
		}
	}
	var f *fault.Fault
	switch {
	case want == "" && err != nil:
		t.Errorf("%v, reset %v: %v", order, reset, err)
	case want != "" && (!errors.As(err, &f) || f.Kind != fault.Race || f.Buffer == "" || f.Other == nil || !strings.Contains(f.Error(), want)):
		t.Errorf("%v, reset %v: %v, want %q", order, reset, err, want)
	}
}
