package clock

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

func TestCopyIsBoundByDRAM(t *testing.T) {
	d := h200(t)
	p, tr := copyKernel(4)
	r := run(t, input(d, p, tr, 65536, 8, 8)) // 65536 CTAs x 8 warps x 4 rows x 128 B = 268 MB each way
	bytes := 2 * 65536 * 8 * 4 * 128.0
	rate := bytes / (r.TimeUS * 1e-6)
	t.Logf("%.1f us, %.2f TB/s, bound %s, %v", r.TimeUS, rate/1e12, r.Bound, r.Utilisation)
	if r.Bound != timing.BoundDRAM || rate > d.DRAMBytesPerSecond || rate < 0.7*d.DRAMBytesPerSecond {
		t.Errorf("bound %s at %.2f TB/s", r.Bound, rate/1e12)
	}
}

func TestMoreWarpsHideLatency(t *testing.T) {
	d := h200(t)
	p, tr := copyKernel(1)
	var last float64
	for _, resident := range []int{1, 2, 3} {
		r := run(t, input(d, p, tr, 10000, resident, 4))
		t.Logf("%d CTAs of four warps: %.1f us, %s", resident, r.TimeUS, r.Bound)
		if resident == 1 && r.Bound != timing.BoundLatency {
			t.Errorf("four warps: bound %s", r.Bound)
		}
		if last > 0 && r.TimeUS > 0.8*last {
			t.Errorf("%d CTAs take %.1f us, half as many %.1f", resident, r.TimeUS, last)
		}
		last = r.TimeUS
	}
}

func TestLaunchRateBindsTinyCTAs(t *testing.T) {
	d := h200(t)
	p, tr := copyKernel(1)
	r := run(t, input(d, p, tr, 1<<20, 32, 2))
	want := float64(1<<20) / d.CTALaunchRate / d.ClockMHz
	t.Logf("%.1f us, launch alone %.1f, %s", r.TimeUS, want, r.Bound)
	if r.Bound != timing.BoundLaunch || r.TimeUS < want || r.TimeUS > 1.03*want {
		t.Errorf("%.1f us bound by %s, want the launch rate's %.1f us", r.TimeUS, r.Bound, want)
	}
}

func TestPipesBind(t *testing.T) {
	d := h200(t)
	for _, c := range []struct {
		class assemble.Class
		op    ir.Op
		lane  string
		bound timing.Bound
	}{
		{assemble.MUFU, ir.Sin, "mufu", timing.BoundXU},
		{assemble.ALU, ir.And, "int32", timing.BoundALU},
		{assemble.FP64, ir.Fma, "fp64", timing.BoundFP64},
		{assemble.FMAHeavy, ir.Mad, "imad", timing.BoundIMAD},
	} {
		const body, n = 64, 16
		p, tr := loopKernel(c.class, c.op, body, n, n, false)
		r := run(t, input(d, p, tr, d.SMs*4, 4, 8))
		want := 4 * 8 * body * n * 32 / d.Lanes[c.lane]
		t.Logf("class %d: %.0f cycles, want %.0f, %s", c.class, r.Cycles, want, r.Bound)
		if r.Bound != c.bound || r.Cycles < 0.999*want || r.Cycles > 1.1*want {
			t.Errorf("class %d: %.0f cycles bound by %s, want %.0f by %s", c.class, r.Cycles, r.Bound, want, c.bound)
		}
	}
}

func TestChainTakesItsLatency(t *testing.T) {
	d := h200(t)
	const body, n = 64, 8
	p, tr := loopKernel(assemble.FMA, ir.Fma, body, n, n, true)
	r := run(t, input(d, p, tr, 1, 1, 1))
	m, err := cost.NewMachine(d)
	if err != nil {
		t.Fatal(err)
	}
	want := body*n*d.Latency["fma"] + float64(m.ColdStart)
	if r.Bound != timing.BoundLatency || r.Cycles < want || r.Cycles > 1.3*want {
		t.Errorf("%.0f cycles bound by %s, want about %.0f", r.Cycles, r.Bound, want)
	}
}

// Skipping iterations must say what running them says.
func TestSkippedIterationsCostWhatTheyWould(t *testing.T) {
	d := h200(t)
	for _, chain := range []bool{false, true} {
		const body, n = 16, 200
		p, all := loopKernel(assemble.FMA, ir.Fma, body, n, n, chain)
		_, few := loopKernel(assemble.FMA, ir.Fma, body, n, 4, chain)
		in := input(d, p, all, d.SMs*4, 4, 8)
		in.Budget = 1 << 20
		long := run(t, in)
		in = input(d, p, few, d.SMs*4, 4, 8)
		short := run(t, in)
		if q := short.Cycles / long.Cycles; q < 0.97 || q > 1.03 {
			t.Errorf("chain %v: %.0f cycles with skipping, %.0f without", chain, short.Cycles, long.Cycles)
		}
		for _, name := range []string{"smsp__inst_executed.sum", "smsp__thread_inst_executed.sum"} {
			if short.Metrics[name] != long.Metrics[name] {
				t.Errorf("%s: %v with skipping, %v without", name, short.Metrics[name], long.Metrics[name])
			}
		}
	}
}

// What L1 finds must be counted as often with iterations left out as with all of them recorded: here each
// reads one line, but for the last two, which read another.
func TestSkippedIterationsCountAsWhatTheyFind(t *testing.T) {
	const n = 200
	d := h200(t)
	p := &program{}
	p.block()
	p.emit(assemble.S2R, ir.Mov, 0, 0)
	p.loop()
	ld := p.emit(assemble.Load, ir.Ld, ir.Global, 1)
	p.emit(assemble.Branch, ir.Bra, 0, -1)
	p.block()
	p.emit(assemble.Exit, ir.Exit, 0, -1)
	warp := func(recorded int) func(int64, int, int, *trace.Warp) {
		return func(cta int64, _, _ int, w *trace.Warp) {
			w.Steps = append(w.Steps, trace.Step{Block: 0, Mask: ^uint32(0)})
			for i := range n {
				if i >= recorded && i < n-2 {
					if i == recorded {
						w.Steps = append(w.Steps, trace.Step{Block: 1, Mask: ^uint32(0), Access: int32(len(w.Accesses)), Repeat: int64(n - 2 - recorded)})
					}
					continue
				}
				w.Steps = append(w.Steps, trace.Step{Block: 1, Mask: ^uint32(0), Access: int32(len(w.Accesses))})
				w.Accesses = append(w.Accesses, trace.Access{PC: ld, Space: ir.Global, Mask: ^uint32(0), Width: 4, Passes: 1, Ideal: 1, Sectors: 4, NLines: 1, First: int32(len(w.Lines))})
				w.Lines = append(w.Lines, trace.Line{Addr: 2*uint64(cta) + uint64(i/(n-2)), Sectors: 0xf})
			}
			w.Steps = append(w.Steps, trace.Step{Block: 2, Mask: ^uint32(0), Access: int32(len(w.Accesses))})
		}
	}
	rate := func(recorded int) float64 {
		return run(t, input(d, p, eachWarp(warp(recorded)), d.SMs*4, 4, 1)).Metrics["l1tex__t_sector_hit_rate.pct"]
	}
	if all, few := rate(n-2), rate(3); math.Abs(all-few) > 0.1 || math.Abs(all-99) > 0.1 {
		t.Errorf("L1 finds %.1f %% with all iterations recorded, %.1f %% with few; want 99", all, few)
	}
}

func TestRunIsDeterministic(t *testing.T) {
	d := h200(t)
	p, tr := copyKernel(3)
	in := input(d, p, tr, 5000, 5, 6)
	a, b := run(t, in), run(t, in)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("two runs differ:\n%v\n%v", a, b)
	}
}

func TestBandwidthNeverSlows(t *testing.T) {
	base := *h200(t)
	p, tr := copyKernel(4)
	last := 0.0
	for i := range 4 {
		d := base
		d.DRAMBytesPerSecond *= float64(int(1) << i)
		r := run(t, input(&d, p, tr, 20000, 8, 8))
		if last > 0 && r.TimeUS > last*1.005 {
			t.Errorf("twice the bandwidth: %.2f us after %.2f", r.TimeUS, last)
		}
		last = r.TimeUS
	}
}

// The sample must stand for the whole: a larger budget says the same.
func TestBudgetDoesNotMatter(t *testing.T) {
	d := h200(t)
	for _, items := range []int{1, 4} {
		p, tr := copyKernel(items)
		in := input(d, p, tr, 20000, 8, 8)
		in.Budget = 6000
		small := run(t, in)
		in.Budget = 1 << 20
		whole := run(t, in)
		if whole.ClockedCTAs != whole.CTAs {
			t.Fatalf("clocked %d of %d CTAs", whole.ClockedCTAs, whole.CTAs)
		}
		if q := small.Cycles / whole.Cycles; q < 0.95 || q > 1.05 {
			t.Errorf("%d items: %.0f cycles from %d CTAs, %.0f from all %d", items, small.Cycles, small.ClockedCTAs, whole.Cycles, whole.CTAs)
		}
	}
}

// What is extrapolated is in doubt, not the whole time: where a third of the CTAs is clocked the error is at most
// two thirds of what it is where nearly none is.
func TestErrorIsOfWhatIsExtrapolated(t *testing.T) {
	d := h200(t)
	doubt := func(waves int) (share, clocked float64) {
		p, tr := copyKernel(4)
		in := input(d, p, tr, waves*8*d.SMs, 8, 8)
		in.Budget = 6000
		r := run(t, in)
		return r.SampleError, float64(r.ClockedCTAs) / float64(r.CTAs)
	}
	few, most := doubt(100)
	many, part := doubt(400)
	t.Logf("error %.4f with %.2f clocked, %.4f with %.2f", few, most, many, part)
	if many <= 0 || part > 0.5 || most < 0.3 || most >= 1 {
		t.Fatalf("error %g with %g clocked, %g with %g", few, most, many, part)
	}
	if few > many*(1-most)/(1-part)*1.1 {
		t.Errorf("error %g with %g clocked, %g with %g", few, most, many, part)
	}
}

func TestInputErrorsAreAllReported(t *testing.T) {
	_, err := Run(timing.Input{Grid: [3]int{0, 1, 1}, Budget: -1})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"architecture", "program", "source", "grid dimension 0", "budget"} {
		if !contains(err.Error(), want) {
			t.Errorf("error does not speak of %s: %v", want, err)
		}
	}
}

func contains(s, sub string) bool {
	for i := range len(s) - len(sub) + 1 {
		if s[i:i+len(sub)] == sub {
			return true
		}
	}
	return false
}

// What is clocked of a launch takes memory once, not with every instruction or CTA.
func TestClockAllocatesNothing(t *testing.T) {
	p, tr := copyKernel(8)
	in := input(h200(t), p, tr, 1<<18, 8, 8)
	in.Budget = timing.DefaultBudget
	ready := readied(t, in)
	allocations := func(ctas int64) float64 {
		return testing.AllocsPerRun(3, func() {
			if err := ready().run(ctas, true); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocations(20), allocations(200); many != few {
		t.Errorf("%v allocations to clock 20 CTAs, %v for 200", few, many)
	}
}

func BenchmarkRun(b *testing.B) {
	d := h200(b)
	for _, items := range []int{1, 8} {
		p, tr := copyKernel(items)
		in := input(d, p, tr, 1<<18, 8, 8)
		b.Run(fmt.Sprintf("copy/items=%d", items), func(b *testing.B) {
			var issued int64
			for b.Loop() {
				issued += run(b, in).Issued
			}
			b.ReportMetric(float64(issued)/b.Elapsed().Seconds(), "warp-instructions/s")
		})
	}
	p, tr := loopKernel(assemble.FMA, ir.Fma, 64, 64, 64, false)
	in := input(d, p, tr, 132*8, 8, 8)
	b.Run("fma", func(b *testing.B) {
		var issued int64
		for b.Loop() {
			issued += run(b, in).Issued
		}
		b.ReportMetric(float64(issued)/b.Elapsed().Seconds(), "warp-instructions/s")
	})
}

// Every architecture of the catalogue runs the same kernels; none is faster
// than its own peaks.
func TestEveryArchitecture(t *testing.T) {
	for _, name := range arch.Names() {
		d, err := arch.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		p, tr := copyKernel(4)
		const ctas = 20000
		r := run(t, input(d, p, tr, ctas, min(4, d.MaxCTAs), 8))
		rate := 2 * ctas * 8 * 4 * 128 / (r.TimeUS * 1e-6)
		if rate > d.DRAMBytesPerSecond || rate < 0.3*d.DRAMBytesPerSecond {
			t.Errorf("%s: copies at %.0f GB/s of %.0f", name, rate/1e9, d.DRAMBytesPerSecond/1e9)
		}
		const body, n = 64, 16
		p, tr = loopKernel(assemble.FMA, ir.Fma, body, n, n, false)
		r = run(t, input(d, p, tr, d.SMs*4, 4, 8))
		if least := 4 * 8 * body * n * 32 / d.Lanes[arch.LaneFP32]; r.Cycles < 0.999*least || r.Cycles > 2.2*least {
			t.Errorf("%s: %.0f cycles of fp32, its lanes take %.0f", name, r.Cycles, least)
		}
		t.Logf("%-12s copy %6.0f GB/s of %6.0f", name, rate/1e9, d.DRAMBytesPerSecond/1e9)
	}
}
