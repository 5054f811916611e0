package simengine_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
)

// moved is a kernel that copies in to out, an element a thread. Its third parameter is a buffer that it leaves alone, and
// count is a variable in managed memory.
const moved = `.version 8.0
.target sm_90
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 count;
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 idle)
{
	.reg .b64 %rd<8>;
	.reg .b32 %r<8>;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	cvta.to.global.u64 %rd1, %rd1;
	cvta.to.global.u64 %rd2, %rd2;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r1, %r1, 256, %r2;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.u32 %r3, [%rd4];
	ld.global.u32 %r4, [count];
	add.u32 %r3, %r3, %r4;
	st.global.u32 [%rd5], %r3;
	ret;
}
`

// move simulates the kernel with in and out of mib MiB, where these are, on a GPU.
func move(t *testing.T, on string, mib int64, in, out simengine.Managed) (*simengine.Report, error) {
	t.Helper()
	d, err := arch.Load(on)
	if err != nil {
		t.Fatal(err)
	}
	engine := simengine.New()
	m, err := engine.Parse("k.ptx", []byte(moved))
	if err != nil {
		t.Fatal(err)
	}
	fill := simengine.Fill{Kind: simengine.FillConstant}
	buffer := func(name string, where simengine.Managed) simengine.Arg {
		return simengine.Arg{Name: name, Elem: ir.U32, Count: mib << 18, Fill: fill, Managed: where}
	}
	return engine.Simulate(m, simengine.Request{
		Kernel: "k", Arch: d, Level: simengine.Model, Grid: [3]int{int(mib << 10), 1, 1}, CTA: [3]int{256, 1, 1}, CarveOut: -1,
		Args: []simengine.Arg{buffer("in", in), buffer("out", out), buffer("idle", simengine.ManagedHost)},
	})
}

// What migrates in the first launch is each buffer that is touched, at the rate of what is done with it; the time of launches
// that follow is as if no memory were managed.
func TestManagedMemoryMigrates(t *testing.T) {
	plain, err := move(t, "h100", 64, simengine.ManagedNot, simengine.ManagedNot)
	if err != nil {
		t.Fatal(err)
	}
	if plain.Migration != nil || plain.NotModelled != nil {
		t.Errorf("without managed memory that is touched: %+v, %q", plain.Migration, plain.NotModelled)
	}
	const bytes = 64 << 20
	for _, c := range []struct {
		in, out simengine.Managed
		want    float64 // microseconds
		names   string
	}{
		{simengine.ManagedHost, simengine.ManagedNowhere, 0.805*(bytes/6.85e9*1e6+bytes/7.976e9*1e6) + 260, "in out"},
		{simengine.ManagedHost, simengine.ManagedHost, 0.805*(bytes/6.85e9*1e6+bytes/5.096e9*1e6) + 260, "in out"},
		{simengine.ManagedDevice, simengine.ManagedNowhere, bytes/7.976e9*1e6 + 260, "out"},
		{simengine.ManagedHost, simengine.ManagedDevice, bytes/6.85e9*1e6 + 260, "in"},
		{simengine.ManagedDevice, simengine.ManagedDevice, 0, ""},
	} {
		r, err := move(t, "h100", 64, c.in, c.out)
		if err != nil {
			t.Fatal(err)
		}
		got, names := simengine.Migration{}, []string{}
		if r.Migration != nil {
			got = *r.Migration
			if got.FirstLaunchUS != r.TimeUS+got.TimeUS {
				t.Errorf("%v, %v: the first launch takes %v us, others %v", c.in, c.out, got.FirstLaunchUS, r.TimeUS)
			}
		}
		for _, b := range got.Buffers {
			names = append(names, b.Name)
		}
		if math.Abs(got.TimeUS-c.want) > 1e-6*c.want || strings.Join(names, " ") != c.names || r.TimeUS != plain.TimeUS {
			t.Errorf("%v, %v: %v us for %v, want %v for %s; later launches %v us, want %v", c.in, c.out, got.TimeUS, names, c.want, c.names, r.TimeUS, plain.TimeUS)
		}
	}
}

// Of GPUs on which it was not measured the first launch is not predicted, and more managed memory than a GPU has is refused.
func TestManagedMemoryNotModelled(t *testing.T) {
	r, err := move(t, "a100", 1, simengine.ManagedHost, simengine.ManagedNot)
	if err != nil {
		t.Fatal(err)
	}
	if r.Migration != nil || !slices.ContainsFunc(r.NotModelled, func(s string) bool { return strings.Contains(s, "managed memory") && strings.Contains(s, "(in)") }) {
		t.Errorf("a100: %+v, not modelled: %q", r.Migration, r.NotModelled)
	}
	if _, err = move(t, "h100", 60<<10, simengine.ManagedHost, simengine.ManagedHost); err == nil || !strings.Contains(err.Error(), "oversubscription") {
		t.Errorf("180 GiB on 80: %v", err)
	}
}

// sum is a kernel that adds two vectors.
const sum = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 c, .param .u64 a, .param .u64 b)
{
	.reg .b64 %rd<8>;
	.reg .b32 %r<8>;
	.reg .f32 %f<4>;
	ld.param.u64 %rd0, [c];
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [b];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r1, %r1, %r3, %r2;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd0, %rd0, %rd3;
	add.s64 %rd1, %rd1, %rd3;
	add.s64 %rd2, %rd2, %rd3;
	ld.global.f32 %f0, [%rd1];
	ld.global.f32 %f1, [%rd2];
	add.f32 %f0, %f0, %f1;
	st.global.f32 [%rd0], %f0;
	ret;
}
`

// The first launch of a sum of vectors in managed memory is predicted to within a quarter of the median of what H100s of three
// hosts took, whose launches took 0.7 to 1.4 times the median.
func TestFirstLaunchesOfASum(t *testing.T) {
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	engine := simengine.New()
	m, err := engine.Parse("k.ptx", []byte(sum))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mib  int
		c    simengine.Managed // the vector that is written; the host wrote the others
		us   float64           // microseconds, a median
		from string            // docs/measuring/textures-h100.txt, but for the first
	}{
		{64, simengine.ManagedHost, 33426, "4 launches of textured/time.cu, deploy/calibrate/results/h100-textures.jsonl.gz (in the history), the first host"},
		{64, simengine.ManagedHost, 27775, "4 medians of warptune measure, the second host"},
		{64, simengine.ManagedHost, 27393, "12 launches of textured/time.cu, the third host"},
		{16, simengine.ManagedHost, 6009, "8 medians of warptune measure, the third host"},
		{64, simengine.ManagedHost, 24615, "8 medians, the same"},
		{256, simengine.ManagedHost, 96600, "8 medians, the same"},
		{16, simengine.ManagedNowhere, 6726, "8 medians, the same"},
		{64, simengine.ManagedNowhere, 25450, "8 medians, the same"},
		{256, simengine.ManagedNowhere, 81720, "8 medians, the same"},
	} {
		vector := func(where simengine.Managed) simengine.Arg {
			return simengine.Arg{Elem: ir.F32, Count: int64(c.mib) << 18, Fill: simengine.Fill{Kind: simengine.FillConstant}, Managed: where}
		}
		r, err := engine.Simulate(m, simengine.Request{Kernel: "k", Arch: d, Level: simengine.Model, Grid: [3]int{c.mib << 10, 1, 1}, CTA: [3]int{256, 1, 1}, CarveOut: -1,
			Args: []simengine.Arg{vector(c.c), vector(simengine.ManagedHost), vector(simengine.ManagedHost)}})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Migration.FirstLaunchUS
		t.Logf("%d MiB, %v: %.2f ms predicted, %.2f measured: %+.1f %% (%s)", c.mib, c.c, got/1e3, c.us/1e3, 100*(got/c.us-1), c.from)
		if math.Abs(got/c.us-1) > 0.25 {
			t.Errorf("%d MiB, %v: %.2f ms predicted, %.2f measured", c.mib, c.c, got/1e3, c.us/1e3)
		}
	}
}

// launched is a record of microbenchmark managed.
type launched struct {
	Name   string
	Params struct {
		What string
		MiB  float64 `json:"mib"`
	}
	Value float64 // microseconds
}

// The figures give what an H100 took by size, 16 MiB to 1 GiB.
func TestMigrationIsMeasured(t *testing.T) {
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	rates := map[string]float64{"the host's, read": d.ManagedReadBytes, "the host's, written": d.ManagedWrittenBytes, "nobody's, written": d.ManagedFirstBytes}
	times := map[string]map[float64][]float64{}
	for _, r := range measured.Records[launched](t, "../deploy/calibrate/results/h100-textures.jsonl.gz") {
		if rates[r.Params.What] > 0 && r.Params.MiB >= 16 {
			if times[r.Params.What] == nil {
				times[r.Params.What] = map[float64][]float64{}
			}
			times[r.Params.What][r.Params.MiB] = append(times[r.Params.What][r.Params.MiB], r.Value)
		}
	}
	if len(times) != 3 {
		t.Fatalf("launches of %d kinds were measured", len(times))
	}
	for what, sizes := range times {
		for mib, two := range sizes {
			mean := (two[0] + two[1]) / 2
			if got := mib*(1<<20)/rates[what]*1e6 + d.ManagedFaultUS; math.Abs(got/mean-1) > 0.2 {
				t.Errorf("%s, %v MiB: %.0f us, the H100 %.0f", what, mib, got, mean)
			}
		}
	}
}
