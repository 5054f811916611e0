package simengine_test

import (
	"math"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
)

// rounds runs a chain of arithmetic as often as trips says in %r10.
func rounds(trips string) string {
	return trips + `
	mov.f32 %f0, 0f3F800000;
	mov.u32 %r11, 0;
again:
	setp.ge.u32 %p1, %r11, %r10;
	@%p1 bra done;
	fma.rn.f32 %f0, %f0, %f0, %f0;
	fma.rn.f32 %f1, %f1, %f1, %f0;
	fma.rn.f32 %f2, %f2, %f2, %f1;
	fma.rn.f32 %f3, %f3, %f3, %f2;
	add.u32 %r11, %r11, 1;
	bra again;
done:
	add.f32 %f0, %f0, %f3;`
}

// A grid whose CTAs differ in their work takes as long as one whose CTAs all do what those do in the mean, wherever
// the long ones are. That holds if it has so many that the SM which is last is not much later than others. The CTA
// in the middle is not taken for all, nor are a few.
func TestCTAsThatDiffer(t *testing.T) {
	const ctas = 1 << 17
	mean := rounds("shr.u32 %r10, %r3, 17;\nadd.u32 %r10, %r10, 256;") // 256
	for name, trips := range map[string]string{
		"growing":              "shr.u32 %r10, %r3, 8;\nadd.u32 %r10, %r10, 1;", // 1 to 512
		"most where it is not": "mov.u32 %r10, 341;\nsetp.gt.u32 %p2, %r3, 49151;\nsetp.lt.u32 %p3, %r3, 81920;\nand.pred %p2, %p2, %p3;\nselp.u32 %r10, 1, %r10, %p2;",
		"most in the middle":   "mov.u32 %r10, 1;\nsetp.gt.u32 %p2, %r3, 49151;\nsetp.lt.u32 %p3, %r3, 81920;\nand.pred %p2, %p2, %p3;\nselp.u32 %r10, 1024, %r10, %p2;",
		"every eighth":         "and.b32 %r10, %r3, 7;\nsetp.eq.u32 %p2, %r10, 5;\nselp.u32 %r10, 2041, 1, %p2;",
	} {
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			l := launch{ctas: ctas, threads: 128, level: level}
			even, uneven := report(t, kernel("", mean), l), report(t, kernel("", rounds(trips)), l)
			t.Logf("%s, level %v: %.1f us, %.1f us if all did the same", name, level, uneven.TimeUS, even.TimeUS)
			if r := uneven.TimeUS / even.TimeUS; math.Abs(r-1) > 0.1 {
				t.Errorf("%s, level %v: %.1f us, %.1f us if all did the same", name, level, uneven.TimeUS, even.TimeUS)
			}
			const counted = "smsp__inst_executed.sum"
			if r := uneven.Metrics[counted] / even.Metrics[counted]; math.Abs(r-1) > 0.05 {
				t.Errorf("%s, level %v: %.0f instructions, %.0f if all did the same", name, level, uneven.Metrics[counted], even.Metrics[counted])
			}
		}
	}
}

// A grid of which all CTAs are resident at once takes as long as the SM with most of the long ones does. Here a
// quarter of the CTAs are four times as long as the others, and come to every fourth SM.
func TestCTAsThatComeToOneSM(t *testing.T) {
	mean := rounds("shr.u32 %r10, %r3, 17;\nadd.u32 %r10, %r10, 700;")
	trips := rounds("and.b32 %r10, %r3, 3;\nsetp.eq.u32 %p2, %r10, 3;\nselp.u32 %r10, 1600, 400, %p2;")
	for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
		l := launch{ctas: 132 * 16, threads: 128, level: level}
		even, uneven := report(t, kernel("", mean), l), report(t, kernel("", trips), l)
		r := uneven.TimeUS / even.TimeUS
		t.Logf("level %v: %.1f us, %.1f us if all did the same", level, uneven.TimeUS, even.TimeUS)
		if r < 1.25 || r > 2.4 { // 1600/700 where each SM has as many, and longer in fact
			t.Errorf("level %v: %.1f us, %.1f us if all did the same", level, uneven.TimeUS, even.TimeUS)
		}
	}
}

// CTAs that execute nearly as many instructions as the others, and ask for less, are not
// taken for these: the requests of the grid are those of all its CTAs.
func TestCTAsThatLoadNothing(t *testing.T) {
	const ctas, threads = 1 << 13, 128
	padding := strings.Repeat("\n	fma.rn.f32 %f0, %f0, %f0, %f0;", 64)
	body := `setp.lt.u32 %p2, %r3, 2048;
	@%p2 bra skip;
	mul.wide.u32 %rd10, %r1, 4;
	add.s64 %rd11, %rd1, %rd10;
	ld.global.f32 %f1, [%rd11];
	ld.global.f32 %f2, [%rd11+512];
	add.f32 %f0, %f1, %f2;
skip:` + padding
	for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
		got := report(t, kernel("", body), launch{ctas: ctas, threads: threads, level: level}).Metrics[requests]
		if want := 2.0 * threads / 32 * ctas * 3 / 4; math.Abs(got/want-1) > 0.05 {
			t.Errorf("level %v: %.0f requests, want %.0f", level, got, want)
		}
	}
}
