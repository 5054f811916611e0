package exec

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
)

// What cp.async wrote over what threads had written is theirs no more: a product reads it without a fence of the
// asynchronous proxy, as Triton and CUTLASS have their pipelines. What it left of theirs is still found.
func TestProductOfWhatCpAsyncWrote(t *testing.T) {
	const product = `
	mov.u64 %rd5, 4611686293305294848;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd5, %rd5, 1, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;`
	for _, covered := range []int{0, 1, 32} {
		var zero strings.Builder
		for i := range 4 {
			fmt.Fprintf(&zero, "\n\tmov.f32 %%f%d, 0f00000000;", i)
		}
		a := asyncRun{threads: 128, in: series(256), out: make([]byte, 4096), body: `mov.u32 %r59, 256;
	shl.b32 %r10, %r0, 2;
	add.s32 %r11, %r62, %r10;
	st.shared.u32 [%r11], %r0;
	bar.sync 0;
	shl.b32 %r10, %r0, 4;
	add.s32 %r11, %r62, %r10;
	setp.lt.u32 %p1, %r0, ` + fmt.Sprint(covered) + `;
	@%p1 cp.async.cg.shared.global [%r11], [%rd1], 16;
	cp.async.wait_all;
	bar.sync 0;` + zero.String() + product}
		_, err := a.run(t)
		var f *fault.Fault
		if found := errors.As(err, &f) && f.Kind == fault.Race && strings.Contains(err.Error(), "no fence.proxy.async between"); found != (covered < 32) || err != nil && !found {
			t.Errorf("%d of 32 rows of 16 bytes are copied over: %v", covered, err)
		}
	}
}

// Registers of A may be written while the product is in flight, unlike accumulators.
func TestRegistersOfAWrittenInFlight(t *testing.T) {
	for _, c := range []struct {
		write string
		races bool
	}{{"mov.u32 %r11, 5;", false}, {"mov.f32 %f2, 0f00000000;", true}} {
		var zero strings.Builder
		for i := range 4 {
			fmt.Fprintf(&zero, "\n\tmov.f32 %%f%d, 0f00000000;\n\tmov.u32 %%r%d, %%r0;", i, 11+i)
		}
		a := asyncRun{threads: 128, in: series(256), out: make([]byte, 4096), body: `mov.u32 %r59, 256;
	shl.b32 %r10, %r0, 2;
	add.s32 %r20, %r62, %r10;
	st.shared.u32 [%r20], %r0;
	fence.proxy.async.shared::cta;
	bar.sync 0;` + zero.String() + `
	mov.u64 %rd5, 4611686293305294848;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r11, %r12, %r13, %r14}, %rd5, 1, 1, 1, 0;
	wgmma.commit_group.sync.aligned;
	` + c.write + `
	wgmma.wait_group.sync.aligned 0;`}
		_, err := a.run(t)
		var f *fault.Fault
		if found := errors.As(err, &f) && f.Kind == fault.Race; found != c.races || err != nil && !found {
			t.Errorf("%s: %v", c.write, err)
		}
	}
}
