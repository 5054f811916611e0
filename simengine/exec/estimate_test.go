package exec

import (
	"testing"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// visit branches on what it loads, and counts.
const visit = `and.b32 %r5, %r1, 255;
mul.wide.u32 %rd5, %r5, 4;
add.s64 %rd6, %rd4, %rd5;
ld.global.u32 %r2, [%rd6];
and.b32 %r6, %r2, 3;
setp.ne.u32 %p1, %r6, 0;
@%p1 bra even;
ld.global.u32 %r3, [%rd6+4];
even: add.s32 %r1, %r1, 1;
`

// byData is a loop of 4,000 iterations each of which branches on what it loads.
const byData = `mov.u32 %r1, 0;
l: ` + visit + `setp.lt.s32 %p0, %r1, 4000;
@%p0 bra l;`

// byDataInside is the same with the counter counted on in a loop inside, which starts
// where the one around it does.
const byDataInside = `mov.u32 %r1, 0;
l: add.s32 %r7, %r1, 8;
m: ` + visit + `and.b32 %r8, %r1, 3;
setp.ne.u32 %p2, %r8, 0;
@%p2 bra m;
mov.u32 %r1, %r7;
setp.lt.s32 %p0, %r7, 32000;
@%p0 bra l;`

// A loop whose iterations differ with data is run whole unless it may be estimated; then
// as many iterations are accounted for as there are, in places all over the loop.
func TestLoopsThatBranchOnDataAreEstimated(t *testing.T) {
	for _, body := range []string{byData, byDataInside} {
		checkEstimate(t, body)
	}
}

// checkEstimate estimates the first of a body's loops, of 4,000 iterations.
func checkEstimate(t *testing.T, body string) {
	t.Helper()
	k := buildKernel(t, "k.ptx", []byte(bodyKernel("", body)))
	p := &problem{kernel: k, mem: memory.New(0)}
	for _, name := range []string{"out", "in"} {
		if _, err := p.mem.Alloc(memory.Buffer{Name: name, Elem: ir.U32, Count: outWords, Fill: memory.Random(3, 1000)}); err != nil {
			t.Fatal(err)
		}
	}
	params, err := p.mem.BindParams(k, []memory.Arg{{Buffer: "out"}, {Buffer: "in"}})
	if err != nil {
		t.Fatal(err)
	}
	p.launch = Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{64, 1, 1}, Params: params}
	slice := compileFor(t, k, Slice)
	if !slice.CanEstimate() || slice.Loops[0].CanSample() {
		t.Fatalf("the outer loop can be estimated: %v; obstacle %q", slice.CanEstimate(), slice.Loops[0].Obstacle)
	}
	head := slice.Loops[0].Head
	for _, c := range []struct{ parts, repeats int }{{0, 0}, {1, 1}, {8, 8}} {
		got := runJournal(t, p, slice, 0, Options{LoopSample: 3, Estimate: c.parts})
		for w := range got.warps {
			repeats, steps, least := 0, int64(0), int64(4000)
			for _, e := range got.warps[w] {
				switch {
				case e.repeat > 0 && e.block == head:
					repeats++
					steps += e.repeat
					least = min(least, e.repeat)
				case e.block == head && e.repeat == 0:
					steps++
				}
			}
			if repeats != c.repeats || steps != 4000 || c.parts > 0 && least < int64(3900/c.parts) {
				t.Errorf("%d parts, warp %d: %d cuts, the least of %d, and %d iterations accounted for; want %d and 4000", c.parts, w, repeats, least, steps, c.repeats)
			}
		}
	}
}
