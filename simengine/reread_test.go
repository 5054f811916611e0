package simengine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
)

// twice is a body whose CTAs of 128 threads each read a row of their own of so many
// times 512 bytes twice, in loops or written out.
func twice(steps int, loops bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "	mul.lo.s32 %%r10, %%r3, %d;\n	add.s32 %%r10, %%r10, %%r0;\n	mul.wide.s32 %%rd10, %%r10, 4;\n	add.s64 %%rd10, %%rd1, %%rd10;\n", 128*steps)
	for pass := range 2 {
		if !loops {
			for k := range steps {
				fmt.Fprintf(&b, "	ld.global.f32 %%f1, [%%rd10+%d];\n	add.f32 %%f0, %%f0, %%f1;\n", 512*k)
			}
			continue
		}
		fmt.Fprintf(&b, `	mov.u32 %%r11, 0;
	mov.u64 %%rd11, %%rd10;
pass%d:
	ld.global.f32 %%f1, [%%rd11];
	add.f32 %%f0, %%f0, %%f1;
	add.s64 %%rd11, %%rd11, 512;
	add.u32 %%r11, %%r11, 1;
	setp.lt.u32 %%p1, %%r11, %d;
	@%%p1 bra pass%d;
`, pass, steps, pass)
	}
	return b.String()
}

// What a CTA reads a second time is found in L1 if what all CTAs of an SM read in
// between fits, and not if it is far more, whether iterations are left out or not.
func TestRowsReadTwice(t *testing.T) {
	const found = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"
	share := func(steps int, level simengine.Level, loops bool) float64 {
		m := report(t, kernel("", twice(steps, loops)), launch{ctas: 1300, threads: 128, level: level}).Metrics
		return m[found] / m[sectors]
	}
	for _, tt := range []struct {
		steps       int
		least, most float64
	}{{8, 0.5, 0.5}, {16, 0.5, 0.5}, {64, 0, 0.25}, {96, 0, 0.01}} {
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			whole, cut := share(tt.steps, level, false), share(tt.steps, level, true)
			if whole < tt.least || whole > tt.most || math.Abs(whole-cut) > 0.06 {
				t.Errorf("%d KB a row, level %v: %.3f found in L1, %.3f where iterations are left out, want %.2f to %.2f", tt.steps/2, level, whole, cut, tt.least, tt.most)
			}
		}
	}
}

// Loads that are to be kept in L2 alone find nothing in L1.
func TestLoadsPastL1FindNothing(t *testing.T) {
	const found = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"
	for _, how := range []string{"ld.global.cg.f32", "ld.volatile.global.f32"} {
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			for _, loops := range []bool{false, true} {
				body := strings.ReplaceAll(twice(8, loops), "ld.global.f32", how)
				if m := report(t, kernel("", body), launch{ctas: 1300, threads: 128, level: level}).Metrics; m[found] != 0 || m[sectors] == 0 {
					t.Errorf("%s, level %v, loops %v: %g of %g sectors found in L1", how, level, loops, m[found], m[sectors])
				}
			}
		}
	}
}
