package simengine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
)

// What differs between generations, from PTX to report at both levels. Only 9.0
// was compared with hardware in detail; these are the facts that documents and
// public measurements tell of the others.

// looped is a kernel that executes body steps times over 8 accumulators %f1…%f8.
func looped(declarations, before, body string) string {
	var b strings.Builder
	for i := 1; i <= 8; i++ {
		fmt.Fprintf(&b, "cvt.rn.f32.u32 %%f%d, %%r%d;\n", i, i%2)
	}
	sum := "mov.f32 %f0, %f1;\n"
	for i := 2; i <= 8; i++ {
		sum += fmt.Sprintf("add.f32 %%f0, %%f0, %%f%d;\n", i)
	}
	return kernel(declarations, b.String()+before+`
	mov.u32 %r5, 0;
again:
`+body+`
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %p1, %r5, %r2;
	@%p1 bra again;
`+sum)
}

var levels = []simengine.Level{simengine.Cycle, simengine.Model}

// waves is how many CTAs of 256 threads every SM runs in cyclesPerSM.
const waves = 16

// cyclesPerSM is the SM cycles of a kernel with the same work for every SM.
func cyclesPerSM(t *testing.T, on, text string, steps int, level simengine.Level) float64 {
	t.Helper()
	d, err := arch.Load(on)
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate(t, text, on, launch{ctas: waves * d.SMs, threads: 256, steps: steps, level: level})
	if err != nil {
		t.Fatalf("%s: %v", on, err)
	}
	return r.Cycles
}

// turn is the cycles an SM takes for one turn of the loop of a warp, what stands
// around the loop left out.
func turn(t *testing.T, on, text string, level simengine.Level) float64 {
	t.Helper()
	return (cyclesPerSM(t, on, text, 96, level) - cyclesPerSM(t, on, text, 32, level)) / (64 * waves * 256 / 32)
}

// within checks a figure at both levels.
func within(t *testing.T, what string, low, high float64, figure func(simengine.Level) float64) {
	t.Helper()
	for _, level := range levels {
		v := figure(level)
		t.Logf("%s, level %v: %.3f", what, level, v)
		if v < low || v > high {
			t.Errorf("%s, level %v: %.3g, want %.3g to %.3g", what, level, v, low, high)
		}
	}
}

// rowsOf16 reads a tile by rows of 16 threads, two to a warp, at a pitch in words.
func rowsOf16(pitch int) string {
	var body strings.Builder
	for i := range 16 {
		fmt.Fprintf(&body, "ld.shared.f32 %%f%d, [%%r10+%d];\nadd.f32 %%f%d, %%f%d, %%f%d;\n", 20+i, 4*i, 1+i%8, 1+i%8, 20+i)
	}
	return looped(".shared .align 4 .b8 tile[8192];", fmt.Sprintf(`
	and.b32 %%r11, %%r0, 15;
	shr.u32 %%r12, %%r0, 4;
	mad.lo.u32 %%r11, %%r12, %d, %%r11;
	shl.b32 %%r11, %%r11, 2;
	mov.u32 %%r10, tile;
	add.u32 %%r10, %%r10, %%r11;
`, pitch), body.String())
}

// A 16-wide tile: the second row of a warp lies in the banks of the first unless rows are padded. Unpadded over
// padded is 1.67 on A100, 1.84 on RTX 2080 Ti, and 1.00 on A4000, A6000 and RTX 3090, whose 16 address lanes take
// two cycles a warp anyway (Kernel Tuner's convolution data, median of pairs with block_size_x 16).
func TestPaddingATileOf16(t *testing.T) {
	for on, want := range map[string][2]float64{
		"a100": {1.5, 2.05}, "v100": {1.5, 2.05}, "rtx2080ti": {1.6, 2.05},
		"a4000": {0.97, 1.03}, "a6000": {0.97, 1.03}, "rtx3090": {0.97, 1.03},
	} {
		within(t, "unpadded over padded on "+on, want[0], want[1], func(level simengine.Level) float64 {
			return turn(t, on, rowsOf16(32), level) / turn(t, on, rowsOf16(48), level)
		})
	}
}

// fmas are 32 independent multiply-adds, with as many integer additions or none.
func fmas(integers bool) string {
	var body strings.Builder
	for i := range 32 {
		fmt.Fprintf(&body, "fma.rn.f32 %%f%d, %%f%d, %%f%d, 0f3F800000;\n", 1+i%8, 1+i%8, 1+i%8)
		if integers {
			fmt.Fprintf(&body, "xor.b32 %%r%d, %%r%d, %%r0;\nshl.b32 %%r%d, %%r%d, 1;\n", 20+i%8, 20+i%8, 20+i%8, 20+i%8)
		}
	}
	text := looped("", "", body.String())
	if integers {
		keep := ""
		for i := range 8 {
			keep += fmt.Sprintf("cvt.rn.f32.s32 %%f30, %%r%d;\nadd.f32 %%f0, %%f0, %%f30;\n", 20+i)
		}
		text = strings.Replace(text, "st.global.f32 [%rd5]", keep+"st.global.f32 [%rd5]", 1)
	}
	return text
}

// Single-precision lanes of an SM: 192 on Kepler, which needs two instructions a
// scheduler for them; 64 on P100, V100, Turing and A100; 128 on GA102 and since.
func TestFP32Lanes(t *testing.T) {
	for on, lanes := range map[string]float64{"k40": 192, "p100": 64, "v100": 64, "t4": 64, "a100": 64, "a6000": 128, "rtx4090": 128, "h200": 128} {
		within(t, "fp32 lanes of "+on, 0.82*lanes, 1.02*lanes, func(level simengine.Level) float64 {
			return 32 * 32 / turn(t, on, fmas(false), level)
		})
	}
}

// products are 32 MMAs, of which eight are independent.
func products(shape, types string, a, b int) string {
	var body strings.Builder
	for i := range 32 {
		n := 20 + 4*(i%8)
		fmt.Fprintf(&body, "mma.sync.aligned.%s.row.col.%s {%%f%d,%%f%d,%%f%d,%%f%d}, {%s}, {%s}, {%%f%d,%%f%d,%%f%d,%%f%d};\n",
			shape, types, n, n+1, n+2, n+3, "%r10,%r11,%r12,%r13"[:5*a-1], "%r14,%r15"[:5*b-1], n, n+1, n+2, n+3)
	}
	var before strings.Builder
	for i := range 6 {
		fmt.Fprintf(&before, "add.u32 %%r%d, %%r0, %d;\n", 10+i, i)
	}
	for i := range 32 {
		fmt.Fprintf(&before, "mov.f32 %%f%d, 0f00000000;\n", 20+i)
	}
	text := looped("", before.String(), body.String())
	keep := ""
	for i := range 32 {
		keep += fmt.Sprintf("add.f32 %%f0, %%f0, %%f%d;\n", 20+i)
	}
	return strings.Replace(text, "st.global.f32 [%rd5]", keep+"st.global.f32 [%rd5]", 1)
}

// Multiply-adds of halves that an SM does in a cycle with sums in single precision. They are the whitepapers' 1024
// on A100 and 512 on GA102, and half of that on GeForce. On H200 they are what mma.sync was measured to reach
// (deploy/calibrate tensor.rate), 64 % of the 2048 that warpgroups do. Half as deep products are half as much work,
// and on H200 not twice as fast.
func TestTensorCores(t *testing.T) {
	for on, want := range map[string][2]float64{"t4": {512, 512}, "a100": {1024, 1024}, "a6000": {512, 512}, "rtx3090": {256, 256}, "rtx2080ti": {256, 256}, "h200": {1330, 940}} {
		for i, shape := range []string{"m16n8k16", "m16n8k8"} {
			fmas := []float64{2048, 1024}[i]
			within(t, fmt.Sprintf("multiply-adds of %s on %s", shape, on), 0.9*want[i], 1.03*want[i], func(level simengine.Level) float64 {
				return 32 * fmas / turn(t, on, products(shape, "f32.f16.f16.f32", 4>>i, 2>>i), level)
			})
		}
	}
}

// Without the second instruction a cycle Kepler's schedulers feed four warps' worth of lanes.
func TestKeplerDualIssue(t *testing.T) {
	single, err := arch.Parse([]byte(`{"name": "single-issue", "base": "k40", "numbers": {
		"issue_width": {"value": 1, "unit": "instructions/cycle", "source": "test"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	within(t, "fp32 lanes of a K40 that issues one at a time", 100, 128, func(level simengine.Level) float64 {
		cycles := func(steps int) float64 {
			r, err := simulateOn(t, fmas(false), single, launch{ctas: waves * single.SMs, threads: 256, steps: steps, level: level})
			if err != nil {
				t.Fatal(err)
			}
			return r.TimeUS * single.ClockMHz
		}
		return 32 * 32 * 64 * waves * 256 / 32 / (cycles(96) - cycles(32))
	})
}

// Half of GA102's single-precision lanes are its integer lanes: integers slow
// multiply-adds there and not on A100, which has 64 of each.
func TestIntegersTakeFP32LanesOfGA102(t *testing.T) {
	slower := func(on string, level simengine.Level) float64 {
		return turn(t, on, fmas(true), level) / turn(t, on, fmas(false), level)
	}
	for _, level := range levels {
		a100, ga102 := slower("a100", level), slower("a6000", level)
		if ga102 < 1.3*a100 {
			t.Errorf("level %v: integers make it %.2f times on GA102, %.2f times on A100", level, ga102, a100)
		}
	}
}

// sharedReads are 16 loads, a row of 64 words apart, of lanes stride words apart.
func sharedReads(stride int) string {
	var body strings.Builder
	for i := range 16 {
		fmt.Fprintf(&body, "ld.shared.f32 %%f%d, [%%r10+%d];\nadd.f32 %%f%d, %%f%d, %%f%d;\n", 20+i, 256*i, 1+i%8, 1+i%8, 20+i)
	}
	return looped(".shared .align 8 .b8 tile[16384];", fmt.Sprintf(`
	and.b32 %%r11, %%r0, 31;
	mul.lo.u32 %%r11, %%r11, %d;
	mov.u32 %%r10, tile;
	add.u32 %%r10, %%r10, %%r11;
`, 4*stride), body.String())
}

// A warp's load of consecutive words takes the 16 address lanes of Pascal's and
// Turing's load/store units two cycles, 32 lanes one.
func TestLoadStoreLanes(t *testing.T) {
	for on, cycles := range map[string]float64{"k40": 1, "p100": 2, "t4": 2, "rtx2080ti": 2, "v100": 1, "a100": 1, "a4000": 2, "h200": 1} {
		within(t, "cycles of a shared load on "+on, 0.95*cycles, 1.25*cycles, func(level simengine.Level) float64 {
			return turn(t, on, sharedReads(1), level) / 16
		})
	}
}

// Kepler's banks are 8 bytes wide: every other word of a row of 64 is no conflict
// there and is a two-way one on later parts. In its 4-byte mode, the default, a padded column of
// a 64-wide tile is none anywhere; its 8-byte mode would make it two-way.
func TestKeplerBanks(t *testing.T) {
	for on, want := range map[string]float64{"k20": 1, "k40": 1, "v100": 2, "a100": 2} {
		within(t, "stride of two words over one on "+on, 0.9*want, 1.1*want, func(level simengine.Level) float64 {
			return turn(t, on, sharedReads(2), level) / turn(t, on, sharedReads(1), level)
		})
		within(t, "stride of 65 words over one on "+on, 0.9, 1.1, func(level simengine.Level) float64 {
			return turn(t, on, sharedReads(65), level) / turn(t, on, sharedReads(1), level)
		})
	}
}

// A100 has two L2 halves with a link between them: lines at home in the other one
// take longer, and data that all SMs read is kept in both, which halves the room
// for it. A CTA that waits for each line it reads sees the one; the same machine
// with a single L2 does not.
func TestL2Halves(t *testing.T) {
	a100, err := arch.Load("a100")
	if err != nil {
		t.Fatal(err)
	}
	near, far := a100.Latency[arch.LatencyL2], a100.Latency[arch.LatencyL2Far]
	if a100.L2Partitions != 2 || a100.L2EffectiveBytes > a100.L2Bytes*6/10 || far < 1.3*near {
		t.Errorf("a100: %d partitions, %d of %d bytes for data that all read, latencies %v and %v", a100.L2Partitions, a100.L2EffectiveBytes, a100.L2Bytes, near, far)
	}
	for _, on := range []string{"v100", "t4", "a6000", "p100", "k40"} {
		d, err := arch.Load(on)
		if err != nil {
			t.Fatal(err)
		}
		if d.L2Partitions != 1 || d.Latency[arch.LatencyL2Far] != d.Latency[arch.LatencyL2] {
			t.Errorf("%s: %d partitions, latencies %v and %v", on, d.L2Partitions, d.Latency[arch.LatencyL2], d.Latency[arch.LatencyL2Far])
		}
	}
	single, err := arch.Parse([]byte(fmt.Sprintf(`{"name": "one-l2", "base": "a100", "numbers": {
		"l2_partitions": {"value": 1, "unit": "count", "source": "test"},
		"l2_effective": {"value": %d, "unit": "bytes", "source": "test"},
		"latency.l2_far": {"value": %g, "unit": "cycles", "source": "test"}}}`, a100.L2Bytes, near)))
	if err != nil {
		t.Fatal(err)
	}
	// Each warp follows a chain of loads; together they read 24 MB, which stay in L2
	// from launch to launch but are more than one half holds.
	const ctas, steps = 2048, 96
	chain := looped("", "mov.u64 %rd10, %rd4;\n", `
	add.s64 %rd11, %rd1, %rd10;
	ld.global.cg.f32 %f20, [%rd11];
	cvt.rzi.s32.f32 %r20, %f20;
	cvt.s64.s32 %rd12, %r20;
	add.s64 %rd10, %rd10, %rd12;
	add.s64 %rd10, %rd10, 262144;
`)
	for _, level := range levels {
		cycles := func(d *arch.Descriptor) float64 {
			r, err := simulateOn(t, chain, d, launch{ctas: ctas, threads: 32, steps: steps, level: level, count: ctas * steps * 32})
			if err != nil {
				t.Fatal(err)
			}
			return r.Cycles
		}
		two, one := cycles(a100), cycles(single)
		t.Logf("level %v: %.0f cycles with two halves, %.0f with one", level, two, one)
		if two < 1.02*one {
			t.Errorf("level %v: %.0f cycles with two halves, %.0f with one", level, two, one)
		}
	}
}

// Pascal's L1 is apart from shared memory: what a kernel takes of one leaves the
// other. On Volta and since they share one memory.
func TestSplitL1(t *testing.T) {
	for on, split := range map[string]bool{"p100": true, "k40": false, "v100": false, "t4": false, "a100": false, "h200": false} {
		d, err := arch.Load(on)
		if err != nil {
			t.Fatal(err)
		}
		least, most := d.CarveOuts[0], d.CarveOuts[len(d.CarveOuts)-1]
		if got := d.L1Bytes(least) == d.L1Bytes(most); got != split {
			t.Errorf("%s: an L1 of %d bytes beside %d of shared memory, %d beside %d", on, d.L1Bytes(least), least, d.L1Bytes(most), most)
		}
		if d.L1Bytes(least) == 0 {
			t.Errorf("%s: no L1", on)
		}
	}
}

// A division of numbers that the code in line does not serve is one of the code in line
// and of a routine: of zeros, 25 instructions after 10.
func TestDivisionsOfZerosTakeTheSlowPath(t *testing.T) {
	divisions := func(by string) string {
		before, body := "mov.f32 %f9, "+by+";\n", ""
		for i := 1; i <= 8; i++ {
			before += fmt.Sprintf("mov.f32 %%f%d, %%f9;\n", i)
			body += fmt.Sprintf("div.rn.f32 %%f%d, %%f%d, %%f9;\n", i, i)
		}
		return looped("", before, body)
	}
	for _, on := range []string{"rtx3090", "h200"} {
		within(t, "8 divisions of zeros on "+on+" over 8 of other numbers", 2, 3.6, func(l simengine.Level) float64 {
			return turn(t, on, divisions("0f00000000"), l) / turn(t, on, divisions("0f3F800000"), l)
		})
	}
}

// Before Hopper constants are operands, and a multiply-add by one costs no more than by a
// register.
func TestConstantOperandsAreFree(t *testing.T) {
	products := func(factor string) string {
		body := ""
		for i := 1; i <= 8; i++ {
			body += strings.ReplaceAll(factor, "#", fmt.Sprint(4*i)) + fmt.Sprintf("fma.rn.f32 %%f%d, %%f%d, %%f9, %%f%d;\n", i, i, i)
		}
		return ".version 8.0\n.target sm_50\n.address_size 64\n.const .align 4 .b8 factors[64];\n" +
			strings.SplitN(looped("", "mov.f32 %f9, 0f3F000000;\n", body), ".address_size 64\n", 2)[1]
	}
	for _, on := range []string{"p100", "v100", "rtx2080ti", "rtx3090"} {
		within(t, "products with constants on "+on+" over those with a register", 0.97, 1.06, func(l simengine.Level) float64 {
			return turn(t, on, products("ld.const.f32 %f9, [factors+#];\n"), l) / turn(t, on, products(""), l)
		})
	}
}
