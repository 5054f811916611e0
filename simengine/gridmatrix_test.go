package simengine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
)

// triangle is a kernel each of whose warps multiplies matrices as often as its CTA's index says.
const triangle = `.version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .f32 %f<5>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %tid.x;
	mov.f32 %f0, 0f00000000;
	mov.f32 %f1, 0f00000000;
	mov.f32 %f2, 0f00000000;
	mov.f32 %f3, 0f00000000;
	setp.eq.u32 %p0, %r0, 0;
	@%p0 bra done;
again:
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%f0,%f1,%f2,%f3};
	sub.u32 %r0, %r0, 1;
	setp.ne.u32 %p1, %r0, 0;
	@%p1 bra again;
done:
	add.f32 %f0, %f0, %f1;
	mul.wide.u32 %rd1, %r1, 4;
	add.s64 %rd2, %rd0, %rd1;
	st.global.f32 [%rd2], %f0;
	ret;
}
`

// Of a launch that a profiler makes, the instructions of tensor cores are those of every CTA, not those of a sample. A grid
// of more CTAs than may be executed is counted along the axes that decide what a CTA executes.
func TestProductsOfAProfiledLaunchAreExact(t *testing.T) {
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	const ctas, warps = 211, 3
	const times = ctas * (ctas - 1) / 2
	for _, c := range []struct {
		level simengine.Level
		index string // of the CTA, in %r0
		grid  [3]int
		want  int // of each warp
	}{
		{simengine.Cycle, "mov.u32 %r0, %ctaid.x;", [3]int{ctas, 1, 1}, times},
		{simengine.Model, "mov.u32 %r0, %ctaid.x;", [3]int{ctas, 1, 1}, times},
		{simengine.Model, "mov.u32 %r0, %ctaid.x;", [3]int{ctas, 300, 70}, 21000 * times},
		{simengine.Model, "mov.u32 %r0, %ctaid.y;", [3]int{7000, ctas, 3}, 21000 * times},
		{simengine.Model, "mov.u32 %r0, %ctaid.z;", [3]int{30, 700, ctas}, 21000 * times},
		{simengine.Model, "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mul.lo.u32 %r0, %r0, %r1;", [3]int{210, 3, 7000}, 7000 * (209 * 210 / 2) * (0 + 1 + 2)},
	} {
		t.Run(fmt.Sprint(c.level, c.grid), func(t *testing.T) {
			engine := simengine.New()
			m, err := engine.Parse("k.ptx", []byte(strings.Replace(triangle, "mov.u32 %r0, %ctaid.x;", c.index, 1)))
			if err != nil {
				t.Fatal(err)
			}
			report, err := engine.Simulate(m, simengine.Request{
				Kernel: "k", Arch: d, Level: c.level, Grid: c.grid, CTA: [3]int{32 * warps, 1, 1}, CarveOut: -1, Cold: true,
				Args: []simengine.Arg{{Name: "out", Elem: ir.F32, Count: 32 * warps, Fill: simengine.Fill{Kind: simengine.FillConstant}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := report.Metrics["sm__inst_executed_pipe_tensor.sum"], float64(warps*c.want); got != want {
				t.Errorf("%.0f instructions of tensor cores, want %.0f", got, want)
			}
		})
	}
}
