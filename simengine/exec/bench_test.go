package exec

import (
	"testing"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/racecheck"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
)

// counter counts the warp instructions of the blocks entered.
type counter struct {
	k     *ir.Kernel
	count int64
}

func (c *counter) Step(_, block int, _ uint32) {
	c.count += int64(c.k.Blocks[block].End - c.k.Blocks[block].Start)
}
func (c *counter) Repeat(int, int, int64)                                    {}
func (c *counter) Access(int, int, ir.Space, int, uint32, *[WarpSize]uint64) {}

// aluLoop is a loop of integer and single precision arithmetic.
const aluLoop = `.version 8.0
.target sm_80
.address_size 64
.visible .entry alu(.param .u64 out, .param .u32 n)
{
	.reg .pred %p;
	.reg .b32 %r<10>;
	.reg .f32 %f<10>;
	.reg .b64 %rd<4>;
	ld.param.u32 %r0, [n];
	ld.param.u64 %rd0, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, 0;
	mov.f32 %f0, 0f3F800000;
	mov.f32 %f1, 0f3F000000;
loop:
	add.s32 %r3, %r1, %r2;
	xor.b32 %r4, %r3, 1234567;
	shl.b32 %r5, %r4, 3;
	mad.lo.s32 %r1, %r5, 5, %r3;
	fma.rn.f32 %f0, %f0, %f1, 0f3F800000;
	mul.f32 %f2, %f0, %f1;
	add.f32 %f1, %f2, 0f3C23D70A;
	min.s32 %r6, %r1, %r5;
	add.s32 %r2, %r2, 1;
	setp.lt.s32 %p, %r2, %r0;
	@%p bra loop;
	mul.wide.u32 %rd1, %r1, 0;
	add.s64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], %r6;
	st.global.f32 [%rd2], %f1;
	ret;
}
`

func benchmarkRun(b *testing.B, p *problem, prog *Program, opt Options, record bool) {
	count := &counter{k: p.kernel}
	r := NewRunner(prog)
	cta := p.launch.Grid.Count() / 2
	if err := r.Run(p.launch, p.mem, cta, Options{}, count); err != nil {
		b.Fatal(err)
	}
	var obs Observer
	trace := coalesce.NewRecorder(p.kernel, 4)
	if record {
		obs = trace
	}
	warps := int(p.launch.CTA.Count()+WarpSize-1) / WarpSize
	b.ReportAllocs()
	for b.Loop() {
		trace.Begin(cta, warps)
		if err := r.Run(p.launch, p.mem, cta, opt, obs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(count.count)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mwarp-inst/s")
}

func BenchmarkALU(b *testing.B) {
	k := buildKernel(b, "alu.ptx", []byte(aluLoop))
	p := &problem{kernel: k, mem: memory.New(0)}
	if _, err := p.mem.Alloc(memory.Buffer{Name: "out", Elem: ir.F32, Count: 1024, Fill: memory.Fill{}}); err != nil {
		b.Fatal(err)
	}
	params, err := p.mem.BindParams(k, []memory.Arg{{Buffer: "out"}, {Elem: ir.U32, Scalar: 1000}})
	if err != nil {
		b.Fatal(err)
	}
	p.launch = Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{128, 1, 1}, Params: params}
	benchmarkRun(b, p, compileFor(b, k, Full), Options{}, false)
}

// sgemm is a CTA of the dataset's matrix multiplication, n = 1024.
func sgemm(b *testing.B) *problem {
	for _, rec := range records(b, "timings.jsonl.gz") {
		if rec.Kernel == "sgemm" && rec.Params["BM"] == 64 && rec.Params["BN"] == 64 && rec.Params["TM"] == 4 && rec.Params["TN"] == 4 {
			k := buildKernel(b, rec.PTX, ptxFile(b, "ptx.zip", rec.PTX))
			return setUp(b, k, "sgemm", []int{1024}, rec.Params, rec.Block)
		}
	}
	b.Skip("no such configuration")
	return nil
}

func BenchmarkSgemmFull(b *testing.B) {
	p := sgemm(b)
	benchmarkRun(b, p, compileFor(b, p.kernel, Full), Options{}, false)
}

func BenchmarkSgemmRaces(b *testing.B) {
	p := sgemm(b)
	benchmarkRun(b, p, compileFor(b, p.kernel, Full), Options{Races: true}, false)
}

// What looking for races in device memory costs beside those in shared memory, and for uninitialised reads beside nothing.
func BenchmarkSgemmGlobalRaces(b *testing.B) {
	p := sgemm(b)
	benchmarkRun(b, p, compileFor(b, p.kernel, Full), Options{GlobalRaces: racecheck.New(0)}, false)
}

func BenchmarkSgemmUninitialised(b *testing.B) {
	p := sgemm(b)
	benchmarkRun(b, p, compileFor(b, p.kernel, Full), Options{Uninitialised: true}, false)
}

// transpose is a CTA of a kernel that does little but move data.
func transpose(b *testing.B) *problem {
	for _, rec := range records(b, "timings.jsonl.gz") {
		if rec.Kernel == "transpose_tiled" && rec.Params["TILE"] == 32 {
			k := buildKernel(b, rec.PTX, ptxFile(b, "ptx.zip", rec.PTX))
			return setUp(b, k, "transpose_tiled", []int{1024}, rec.Params, rec.Block)
		}
	}
	b.Skip("no such configuration")
	return nil
}

func BenchmarkTransposeFull(b *testing.B) {
	p := transpose(b)
	benchmarkRun(b, p, compileFor(b, p.kernel, Full), Options{}, false)
}

func BenchmarkTransposeRaces(b *testing.B) {
	p := transpose(b)
	benchmarkRun(b, p, compileFor(b, p.kernel, Full), Options{Races: true}, false)
}

func BenchmarkTransposeGlobalRaces(b *testing.B) {
	p := transpose(b)
	benchmarkRun(b, p, compileFor(b, p.kernel, Full), Options{GlobalRaces: racecheck.New(0)}, false)
}

func BenchmarkTransposeUninitialised(b *testing.B) {
	p := transpose(b)
	benchmarkRun(b, p, compileFor(b, p.kernel, Full), Options{Uninitialised: true}, false)
}

func BenchmarkSgemmSlice(b *testing.B) {
	p := sgemm(b)
	benchmarkRun(b, p, compileFor(b, p.kernel, Slice), Options{}, true)
}

// BenchmarkSgemmSampled counts the instructions that stand for, not those run.
func BenchmarkSgemmSampled(b *testing.B) {
	p := sgemm(b)
	benchmarkRun(b, p, compileFor(b, p.kernel, Slice), Options{LoopSample: 4}, true)
}

func BenchmarkCompileSlice(b *testing.B) {
	p := sgemm(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(p.kernel, Slice); err != nil {
			b.Fatal(err)
		}
	}
}
