package simengine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
)

// byWord meets as tiles of several warps do through nvcc: leaders set bits of a word in shared memory; the last one clears
// those of its tile, the others look until theirs is cleared. Tiles are pairs of warps.
const byWord = `
	bar.warp.sync 4294967295;
	@%%p0 bra there%[1]d;
	atom.shared.or.b32 %%r5, [word], %%r3;
	or.b32 %%r5, %%r5, %%r3;
	and.b32 %%r5, %%r5, %%r4;
	setp.eq.u32 %%p1, %%r5, %%r4;
	@%%p1 bra last%[1]d;
look%[1]d:
	ld.volatile.shared.u32 %%r6, [word];
	and.b32 %%r6, %%r6, %%r3;
	setp.eq.u32 %%p2, %%r6, 0;
	@%%p2 bra there%[1]d;
	nanosleep.u32 20;
	bra look%[1]d;
last%[1]d:
	not.b32 %%r6, %%r4;
	red.shared.and.b32 [word], %%r6;
there%[1]d:
	bar.warp.sync 4294967295;
`

// byBarrier meets at the named barrier of the pair.
const byBarrier = "\n\tbar.sync %%r7, 64; // %[1]d\n"

// wordKernel is a kernel of pairs of warps that meet so many times by words, or at named barriers. Between meetings the
// warps of pair p do slow*(p+1) additions in turn, the other one.
func wordKernel(meeting string, meetings, slow int) string {
	var all strings.Builder
	for i := range meetings {
		fmt.Fprintf(&all, `
	mov.u32 %%r8, 0;
	setp.ne.u32 %%p4, %%r11, %[2]d;
	selp.b32 %%r9, 1, %%r12, %%p4;
work%[1]d:
	add.f32 %%f0, %%f0, 0f3F800000;
	add.u32 %%r8, %%r8, 1;
	setp.lt.u32 %%p3, %%r8, %%r9;
	@%%p3 bra work%[1]d;
`, i, i%2)
		fmt.Fprintf(&all, meeting, i)
	}
	return fmt.Sprintf(`.version 8.5
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .pred %%p<8>;
	.reg .b32 %%r<16>;
	.reg .b64 %%rd<8>;
	.reg .f32 %%f<2>;
	.shared .align 4 .b32 word;
	ld.param.u64 %%rd0, [out];
	mov.u32 %%r0, %%tid.x;
	mul.wide.u32 %%rd1, %%r0, 4;
	add.s64 %%rd1, %%rd0, %%rd1;
	and.b32 %%r1, %%r0, 31;
	setp.ne.u32 %%p0, %%r1, 0;
	shr.u32 %%r2, %%r0, 5;
	mov.u32 %%r3, 1;
	shl.b32 %%r3, %%r3, %%r2;
	shr.u32 %%r7, %%r0, 6;
	and.b32 %%r10, %%r2, 4294967294;
	mov.u32 %%r4, 3;
	shl.b32 %%r4, %%r4, %%r10;
	and.b32 %%r11, %%r2, 1;
	mad.lo.u32 %%r12, %%r7, %[1]d, %[1]d;
	add.u32 %%r7, %%r7, 1;
	mov.f32 %%f0, 0f00000000;
	setp.ne.u32 %%p5, %%r0, 0;
	@%%p5 bra begin;
	st.shared.u32 [word], 0;
begin:
	bar.sync 0;
	%[2]s
	st.global.f32 [%%rd1], %%f0;
	ret;
}
`, slow, all.String())
}

func wordTime(t *testing.T, level simengine.Level, kernel string) (*simengine.Report, error) {
	t.Helper()
	a100, err := arch.Load("a100")
	if err != nil {
		t.Fatal(err)
	}
	e := simengine.New()
	m, err := e.Parse("k.ptx", []byte(kernel))
	if err != nil {
		t.Fatal(err)
	}
	return e.Simulate(m, simengine.Request{Arch: a100, Level: level, Grid: [3]int{108, 1, 1}, CTA: [3]int{256, 1, 1}, CarveOut: -1,
		Args: []simengine.Arg{{Name: "out", Elem: ir.U32, Count: 256, Fill: simengine.Fill{Kind: simengine.FillConstant}}}})
}

// Warps that meet by words of shared memory take what those take that meet at named barriers, and at most 250 cycles a
// meeting more, however long some keep others waiting; pairs that share a word do not wait for each other.
func TestMeetingsByWordsAreWaits(t *testing.T) {
	const meetings, mhz = 6, 1410 // the A100's
	for _, slow := range []int{1, 40, 400} {
		time := func(level simengine.Level, meeting string) float64 {
			r, err := wordTime(t, level, wordKernel(meeting, meetings, slow))
			if err != nil {
				t.Fatal(err)
			}
			return r.TimeUS
		}
		barriers := time(simengine.Model, byBarrier)
		for _, level := range []simengine.Level{simengine.Model, simengine.Cycle} {
			words := time(level, byWord)
			t.Logf("level %v, %d additions: %.2f us by words, %.2f by named barriers", level, slow, words, barriers)
			if words < 0.97*barriers || words > 1.03*barriers+meetings*250.0/mhz {
				t.Errorf("level %v, %d additions: %.2f us by words, %.2f by named barriers: want at most 250 cycles a meeting more", level, slow, words, barriers)
			}
		}
	}
}

// A wait is executed as one look, however long it lasts: instructions grow with the work of those that are waited for alone.
func TestAWaitIsOneLook(t *testing.T) {
	executed := func(slow int) float64 {
		r, err := wordTime(t, simengine.Cycle, wordKernel(byWord, 1, slow))
		if err != nil {
			t.Fatal(err)
		}
		return r.Metrics["smsp__inst_executed.sum"]
	}
	n := [4]float64{1: executed(16), 2: executed(32), 3: executed(48)}
	if n[1] == 0 || math.Abs(n[3]-2*n[2]+n[1]) > 1 {
		t.Errorf("%v instructions with 16, 32 and 48 additions: want as many more each time", n[1:])
	}
}

// A wait for what nobody writes is told, not simulated for ever.
func TestAWaitThatNobodyEnds(t *testing.T) {
	kernel := strings.Replace(wordKernel(byWord, 1, 1), "red.shared.and.b32 [word], %r6;", "red.shared.and.b32 [word], 4294967295;", 1)
	_, err := wordTime(t, simengine.Model, kernel)
	if err == nil || !strings.Contains(err.Error(), "none writes what it waits for") {
		t.Errorf("%v", err)
	}
}
