package exec

import (
	"reflect"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// rowSum is a sparse matrix-vector product: the sum over a row of x[col[j]],
// with plain loads, stored to out.
const rowSum = `.version 8.0
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 col, .param .u64 x, .param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %r<8>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<12>;
	ld.param.u64 %rd0, [col];
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [out];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd3, %r0, 4;
	add.s64 %rd4, %rd0, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	mov.u32 %r1, 0;
	mov.f32 %f0, 0f00000000;
row:
	ld.global.u32 %r2, [%rd4];
	mul.wide.u32 %rd6, %r2, 4;
	add.s64 %rd7, %rd1, %rd6;
	ld.global.f32 %f1, [%rd7];
	add.f32 %f0, %f0, %f1;
	add.s64 %rd4, %rd4, 128;
	add.s32 %r1, %r1, 1;
	setp.lt.u32 %p, %r1, 40;
	@%p bra row;
	st.global.f32 [%rd5], %f0;
	ret;
}
`

// TestDistinctBuffers checks that a loop over an index array is sampled, and
// that a launch which breaks the assumption behind it is refused.
func TestDistinctBuffers(t *testing.T) {
	k := buildKernel(t, "rows.ptx", []byte(rowSum))
	p := &problem{kernel: k, mem: memory.New(0)}
	for _, b := range []memory.Buffer{{Name: "col", Elem: ir.U32, Count: 2048, Fill: memory.Random(1, 1000)}, {Name: "x", Elem: ir.F32, Count: 1000, Fill: memory.Random(2, 1)}, {Name: "out", Elem: ir.F32, Count: 32, Fill: memory.Fill{}}} {
		if _, err := p.mem.Alloc(b); err != nil {
			t.Fatal(err)
		}
	}
	bind := func(names ...string) {
		var args []memory.Arg
		for _, n := range names {
			args = append(args, memory.Arg{Buffer: n})
		}
		params, err := p.mem.BindParams(k, args)
		if err != nil {
			t.Fatal(err)
		}
		p.launch = Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{32, 1, 1}, Params: params}
	}
	bind("col", "x", "out")
	slice := compileFor(t, k, Slice)
	if l := slice.Loops; len(l) != 1 || !l[0].CanSample() {
		t.Fatalf("loops %+v, want one that can be sampled", l)
	}
	full := runJournal(t, p, compileFor(t, k, Full), 0, Options{})
	if all := runJournal(t, p, slice, 0, Options{}); !reflect.DeepEqual(all, full) {
		t.Error("slice and full traces differ")
	}
	if err := cutMatches(full.warps[0], runJournal(t, p, slice, 0, Options{LoopSample: 3}).warps[0]); err != nil {
		t.Error(err)
	}
	bind("col", "x", "x")
	if err := NewRunner(slice).Run(p.launch, p.mem, 0, Options{}, nil); err == nil || !strings.Contains(err.Error(), "x and out are the same buffer") {
		t.Errorf("two parameters of one buffer: %v", err)
	}
}
