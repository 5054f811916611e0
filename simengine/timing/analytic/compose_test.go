package analytic

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/clock"
	"github.com/warptune/warptune/simengine/trace"
)

func predict(tb rapid.TB, in timing.Input) *timing.Result {
	tb.Helper()
	r, err := Compose(in)
	if err != nil {
		tb.Fatal(err)
	}
	if !(r.TimeUS > 0) || math.IsInf(r.TimeUS, 0) {
		tb.Fatalf("time is %v", r.TimeUS)
	}
	for name, u := range r.Utilisation {
		if u < 0 || u > 1 {
			tb.Errorf("%s is used for %v of the time", name, u)
		}
	}
	return r
}

// What one warp of a CTA brings to L1 the others find there: it is asked of L2 once.
func TestWarpsShareLines(t *testing.T) {
	k, tr := sharing(64)
	in := input(h200(t), k, tr, 528, 4, 16)
	clocked, err := clock.Run(in)
	if err != nil {
		t.Fatal(err)
	}
	r := predict(t, in)
	t.Logf("%.2f us, clocked %.2f", r.TimeUS, clocked.TimeUS)
	if math.Abs(r.TimeUS/clocked.TimeUS-1) > 0.15 {
		t.Errorf("%.2f us, clocked %.2f", r.TimeUS, clocked.TimeUS)
	}
}

// CTAs that walk the same data wait for DRAM as one of them does, the nearest, though they move a hundredth of it
// (deploy/calibrate together.end: 612 cycles a step where each takes 711 with its own). What L2 has they do not
// wait for.
func TestCTAsKeepStep(t *testing.T) {
	const n = 256
	step := func(own, cold bool) float64 {
		k, tr := walking(n, own)
		in := input(h200(t), k, tr, 132, 1, 1)
		in.Cold = cold
		return predict(t, in).Cycles / n
	}
	same, own, l2 := step(false, true), step(true, true), step(false, false)
	t.Logf("the same data %.0f cycles a step, its own %.0f, out of L2 %.0f", same, own, l2)
	if same < 540 || same > 700 || own < 640 || own > 800 || l2 > 400 {
		t.Errorf("the same data %.0f cycles a step, its own %.0f, out of L2 %.0f; measured 612, 711 and 330", same, own, l2)
	}
}

// Where one resource clearly binds, or nothing but latency, both levels say so
// and agree on the time.
func TestAgreesWithTheClock(t *testing.T) {
	d := h200(t)
	for _, c := range []struct {
		name                  string
		make                  func() (*kernel, tracer)
		grid, resident, warps int
		bound                 timing.Bound
	}{
		{"DRAM", func() (*kernel, tracer) { return copying(8) }, 16384, 8, 8, timing.BoundDRAM},
		{"launch", func() (*kernel, tracer) { return copying(1) }, 1 << 18, 32, 2, timing.BoundLaunch},
		{"few warps", func() (*kernel, tracer) { return copying(1) }, 10000, 1, 4, timing.BoundLatency},
		{"ALU", func() (*kernel, tracer) { return looping(assemble.ALU, 64, 16, 16, false, false) }, 528, 4, 8, timing.BoundALU},
		{"FP64", func() (*kernel, tracer) { return looping(assemble.FP64, 64, 16, 16, false, false) }, 528, 4, 8, timing.BoundFP64},
		{"chain", func() (*kernel, tracer) { return looping(assemble.FMA, 64, 64, 64, true, false) }, 1, 1, 1, timing.BoundLatency},
	} {
		k, tr := c.make()
		in := input(d, k, tr, c.grid, c.resident, c.warps)
		clocked, err := clock.Run(in)
		if err != nil {
			t.Fatal(err)
		}
		r := predict(t, in)
		t.Logf("%s: %.2f us, clocked %.2f; %s", c.name, r.TimeUS, clocked.TimeUS, r.Bound)
		if r.Bound != c.bound || math.Abs(r.TimeUS/clocked.TimeUS-1) > 0.1 {
			t.Errorf("%s: %.2f us bound by %s, want %.2f by %s", c.name, r.TimeUS, r.Bound, clocked.TimeUS, c.bound)
		}
	}
}

// Iterations that a trace leaves out count as if they were there.
func TestSkippedIterationsCount(t *testing.T) {
	d := h200(t)
	for _, barrier := range []bool{false, true} {
		for _, chain := range []bool{false, true} {
			k, whole := looping(assemble.FMA, 40, 500, 500, chain, barrier)
			_, part := looping(assemble.FMA, 40, 500, 6, chain, barrier)
			a, b := predict(t, input(d, k, whole, 264, 2, 4)), predict(t, input(d, k, part, 264, 2, 4))
			t.Logf("chain %v barrier %v: %.0f cycles, of a sample %.0f", chain, barrier, a.Cycles, b.Cycles)
			if math.Abs(b.Cycles/a.Cycles-1) > 0.01 {
				t.Errorf("chain %v barrier %v: %.0f cycles, of a sample %.0f", chain, barrier, a.Cycles, b.Cycles)
			}
			if x, y := a.Metrics["smsp__inst_executed.sum"], b.Metrics["smsp__inst_executed.sum"]; x != y {
				t.Errorf("%.0f instructions, of a sample %.0f", x, y)
			}
		}
	}
}

// What the iterations left out of a trace read comes from DRAM as it does with all of
// them traced: a loop over more than L2 holds is no faster for being sampled.
func TestSkippedIterationsRead(t *testing.T) {
	d := h200(t)
	const grid, warps, n = 264, 8, 500
	k, whole := striding(grid, n, n)
	_, part := striding(grid, n, 6)
	a, b := predict(t, input(d, k, whole, grid, 2, warps)), predict(t, input(d, k, part, grid, 2, warps))
	for _, name := range []string{"dram__bytes_read.sum", "gpu__time_duration.sum"} {
		if x, y := a.Metrics[name], b.Metrics[name]; math.Abs(y/x-1) > 0.01 {
			t.Errorf("%s: %.0f, of a sample %.0f", name, x, y)
		}
	}
	if read := b.Metrics["dram__bytes_read.sum"]; read != grid*warps*n*128 {
		t.Errorf("%.0f bytes read, of %d", read, grid*warps*n*128)
	}
}

// CTAs that march through planes side by side read what their neighbours read, too,
// from DRAM once, whether all iterations are traced or some.
func TestMarchingCTAsShare(t *testing.T) {
	d := h200(t)
	const grid, n = 4096, 60
	for _, warps := range []int{1, 8} {
		k, whole := marching(grid, n, n)
		_, part := marching(grid, n, 5)
		first, second := input(d, k, whole, grid, 16, warps), input(d, k, part, grid, 16, warps)
		first.Cold, second.Cold = true, true // L2 holds what one launch leaves another
		a, b := predict(t, first), predict(t, second)
		x, y := a.Metrics["dram__bytes_read.sum"], b.Metrics["dram__bytes_read.sum"]
		if least := float64(grid * warps * n * 128); math.Abs(x/least-1) > 0.1 || math.Abs(y/x-1) > 0.1 {
			t.Errorf("%d warps: %.0f bytes read, of a sample %.0f; there are %.0f", warps, x, y, least)
		}
	}
}

// draw makes a random kernel and launch.
func draw(t *rapid.T, d *arch.Descriptor) timing.Input {
	var k *kernel
	var tr tracer
	if rapid.Bool().Draw(t, "copy") {
		k, tr = copying(rapid.IntRange(1, 8).Draw(t, "items"))
	} else {
		c := rapid.SampledFrom([]assemble.Class{assemble.ALU, assemble.FMA, assemble.MUFU, assemble.Shuffle, assemble.FP64}).Draw(t, "class")
		k, tr = looping(c, rapid.IntRange(1, 60).Draw(t, "body"), 9, 4, rapid.Bool().Draw(t, "chain"), rapid.Bool().Draw(t, "barrier"))
	}
	warps := rapid.IntRange(1, 32).Draw(t, "warps")
	return input(d, k, tr, rapid.IntRange(1, 20000).Draw(t, "grid"), rapid.IntRange(1, min(32, 64/warps)).Draw(t, "resident"), warps)
}

// tolerance is what bisection leaves open.
const tolerance = 1.01

// The launch rate is not among the parts: CTAs that start apart get less in each
// other's way.
func TestFasterPartsAreNeverSlower(t *testing.T) {
	improve := map[string]func(*arch.Descriptor){
		"DRAM bandwidth":  func(d *arch.Descriptor) { d.DRAMBytesPerSecond *= 1.5 },
		"L2 bandwidth":    func(d *arch.Descriptor) { d.L2BytesPerCycle *= 2; d.L2WriteBytesPerCycle *= 2 },
		"turnaround":      func(d *arch.Descriptor) { d.CTATurnaroundEmpty /= 2 },
		"DRAM latency":    func(d *arch.Descriptor) { d.Latency[arch.LatencyDRAM] *= 0.8 },
		"fp32 lanes":      func(d *arch.Descriptor) { d.Lanes[arch.LaneFP32] *= 2 },
		"int32 lanes":     func(d *arch.Descriptor) { d.Lanes[arch.LaneInt32] *= 2 },
		"barrier latency": func(d *arch.Descriptor) { d.Latency[arch.LatencyBarrier] /= 2 },
	}
	rapid.Check(t, func(rt *rapid.T) {
		in := draw(rt, h200(t))
		before := predict(rt, in)
		for name, better := range improve {
			d := h200(t)
			better(d)
			in.Arch = d
			if after := predict(rt, in); after.Cycles > before.Cycles*tolerance {
				rt.Errorf("better %s: %.1f cycles, before %.1f", name, after.Cycles, before.Cycles)
			}
		}
	})
}

func TestLargerGridsTakeLonger(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := draw(rt, h200(t))
		// Caches keep small footprints from launch to launch, and what one
		// stores, and so make growing grids slower at once; cold ones that much
		// streams through do not.
		in.Cold = true
		in.Grid[0] += 400_000
		once := predict(rt, in)
		in.Grid[0] *= 4
		if four := predict(rt, in); four.Cycles < once.Cycles || four.Cycles > 4.5*once.Cycles {
			rt.Errorf("four times the grid: %.0f cycles, once %.0f", four.Cycles, once.Cycles)
		}
	})
}

func TestSameInputSameResult(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := draw(rt, h200(t))
		if a, b := predict(rt, in), predict(rt, in); !reflect.DeepEqual(a, b) {
			rt.Errorf("%+v and %+v", a, b)
		}
	})
}

// Traces that do not fit the program are refused, whatever is wrong with them.
func TestBadTracesAreRefused(t *testing.T) {
	d := h200(t)
	for name, spoil := range map[string]func(c *trace.CTA) *trace.CTA{
		"none":          func(*trace.CTA) *trace.CTA { return nil },
		"missing warp":  func(c *trace.CTA) *trace.CTA { c.Warps = c.Warps[1:]; return c },
		"unknown block": func(c *trace.CTA) *trace.CTA { c.Warps[0].Steps[0].Block = 9; return c },
		"unknown pc":    func(c *trace.CTA) *trace.CTA { c.Warps[0].Accesses[0].PC = 99; return c },
		"lines beyond":  func(c *trace.CTA) *trace.CTA { c.Warps[1].Accesses[0].NLines = 77; return c },
		"access beyond": func(c *trace.CTA) *trace.CTA { c.Warps[1].Steps[0].Access = 77; return c },
		"repeats":       func(c *trace.CTA) *trace.CTA { c.Warps[1].Steps[0].Repeat = -1; return c },
	} {
		k, tr := copying(2)
		in := input(d, k, func(cta int64, warps int) *trace.CTA { return spoil(tr(cta, warps)) }, 100, 2, 4)
		if _, err := Compose(in); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := Compose(timing.Input{}); err == nil {
		t.Error("empty input accepted")
	}
}

func BenchmarkCompose(b *testing.B) {
	d := h200(b)
	for _, c := range []struct {
		name  string
		make  func() (*kernel, tracer)
		warps int
	}{
		{"copy", func() (*kernel, tracer) { return copying(4) }, 8},
		{"loop", func() (*kernel, tracer) { return looping(assemble.FMA, 200, 500, 6, false, true) }, 8},
	} {
		b.Run(c.name, func(b *testing.B) {
			k, tr := c.make()
			in := input(d, k, tr, 4096, 4, c.warps)
			traces := map[int64]*trace.CTA{}
			in.Source = func(cta int64) (*trace.CTA, error) {
				if traces[cta] == nil {
					traces[cta] = tr(cta, c.warps)
				}
				return traces[cta], nil
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compose(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Every architecture described can be composed for.
func TestEveryArchitecture(t *testing.T) {
	for _, name := range arch.Names() {
		d, err := arch.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		k, tr := copying(2)
		r := predict(t, input(d, k, tr, 100_000, 2, 8))
		bytes := 2 * 100_000 * 8 * 2 * 128.0
		if rate := bytes / (r.TimeUS * 1e-6); rate > d.DRAMBytesPerSecond {
			t.Errorf("%s: copies %.2f TB/s of %.2f there are", name, rate/1e12, d.DRAMBytesPerSecond/1e12)
		}
	}
}
