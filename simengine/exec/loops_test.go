package exec

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

func loopProgram(t *testing.T, body string) *Program {
	t.Helper()
	return compileFor(t, buildKernel(t, "k.ptx", []byte(bodyKernel("", body))), Slice)
}

// TestObstacles checks which loops may be sampled, and what the others lack.
func TestObstacles(t *testing.T) {
	for _, c := range []struct{ name, body, part string }{
		{"counted", "mov.u32 %r1, 0;\nl: ld.global.u32 %r2, [%rd4];\nadd.s64 %rd4, %rd4, 128;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 50;\n@%p0 bra l;", ""},
		{"through copies", "mov.u32 %r1, 50;\nl: ld.global.u32 %r2, [%rd4];\nadd.s64 %rd5, %rd4, 64;\nadd.s32 %r3, %r1, -2;\nmov.u32 %r1, %r3;\nadd.s64 %rd4, %rd5, 64;\nsetp.ne.s32 %p0, %r3, 0;\n@%p0 bra l;", ""},
		{"masked index", "mov.u32 %r1, 0;\nl: and.b32 %r5, %r1, 7;\nmul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd4, %rd5;\nld.global.u32 %r2, [%rd6];\nadd.s32 %r1, %r1, 3;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", ""},
		{"index array", "mov.u32 %r1, 0;\nl: ld.global.u32 %r5, [%rd4];\nmul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r2, [%rd6];\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", ""},
		{"doubling", "mov.u32 %r1, 1;\nl: st.shared.u32 [%r31], %r1;\nshl.b32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", "comparing an induction"},
		{"step that changes", "mov.u32 %r1, 1;\nmov.u32 %r2, 1;\nl: add.s32 %r1, %r1, %r2;\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", "not a linear induction"},
		{"pointer chase", "l: ld.global.u64 %rd4, [%rd4];\nsetp.ne.u64 %p0, %rd4, 0;\n@%p0 bra l;", "not a linear induction"},
		{"break", "mov.u32 %r1, 1;\nl: ld.global.u32 %r2, [%rd4];\nsetp.eq.u32 %p1, %r2, 5;\n@%p1 bra out;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;\nout:", "several blocks leave it"},
		{"guard that changes once", "mov.u32 %r1, 1;\nl: setp.lt.s32 %p1, %r1, %r0;\n@%p1 ld.global.u32 %r2, [%rd4];\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", ""},
		{"buffers in turns", "mov.u32 %r1, 0;\nmov.u32 %r5, 0;\nl: shl.b32 %r6, %r5, 7;\nadd.s32 %r6, %r31, %r6;\nld.shared.u32 %r2, [%r6];\nadd.s32 %r5, %r5, 1;\nsetp.eq.s32 %p2, %r5, 3;\nselp.b32 %r5, 0, %r5, %p2;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", "not a linear induction"},
		{"buffers in turns, one definition", "mov.u32 %r1, 0;\nmov.u32 %r5, 0;\nl: shl.b32 %r6, %r5, 7;\nadd.s32 %r6, %r31, %r6;\nld.shared.u32 %r2, [%r6];\nadd.s32 %r7, %r5, 1;\nsetp.eq.s32 %p2, %r7, 3;\nselp.b32 %r5, 0, %r7, %p2;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", ""},
		{"turns with the induction", "mov.u32 %r1, 0;\nmov.u32 %r5, 0;\nl: ld.shared.u32 %r2, [%r31];\nxor.b32 %r5, %r5, %r1;\nmul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd4, %rd5;\nld.global.u32 %r2, [%rd6];\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", "not a linear induction"},
		{"branch that varies", "mov.u32 %r1, 1;\nl: and.b32 %r5, %r1, 1;\nsetp.eq.s32 %p1, %r5, 0;\n@%p1 bra even;\nld.global.u32 %r2, [%rd4];\neven: add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", "guard"},
		{"conditional step", "mov.u32 %r1, 1;\nsetp.lt.u32 %p1, %r0, 3;\nl: @%p1 add.s32 %r1, %r1, 1;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", "not a linear induction"},
		{"addresses through memory", "mov.u32 %r1, 1;\nl: st.shared.u32 [%r31], %r1;\nld.shared.u32 %r5, [%r31];\nmul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r2, [%rd6];\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", "writes what addresses may depend on"},
		{"address through local memory", ".local .b32 w[2];\nst.local.u32 [w], %r0;\nmov.u32 %r1, 1;\nl: ld.volatile.local.u32 %r5, [w];\nmul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r2, [%rd6];\nst.shared.u32 [%r31], %r2;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", ""},
		{"address through a generic pointer to local memory", ".local .b32 w[2];\nmov.u64 %rd7, w;\ncvta.local.u64 %rd8, %rd7;\nst.volatile.u32 [%rd8], %r0;\nmov.u32 %r1, 1;\nl: ld.volatile.u32 %r5, [%rd8];\nmul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r2, [%rd6];\nst.shared.u32 [%r31], %r2;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", ""},
		{"address through local memory at a place that data says", ".local .b32 w[8];\nmov.u64 %rd7, w;\nmov.u32 %r1, 1;\nl: ld.global.u32 %r2, [%rd4];\nand.b32 %r2, %r2, 7;\nmul.wide.u32 %rd5, %r2, 4;\nadd.s64 %rd6, %rd7, %rd5;\nst.local.u32 [%rd6], %r1;\nld.local.u32 %r5, [w];\nmul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r2, [%rd6];\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", "writes what addresses may depend on"},
		{"word of local memory, taken apart", ".local .b32 w[2];\nst.local.u32 [w], 0;\nmov.u32 %r1, 1;\nl: ld.local.u32 %r5, [w];\nmul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r2, [%rd6];\nst.local.u16 [w], %r1;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", "writes what addresses may depend on"},
		{"pointer kept in local memory", ".local .b64 w[2];\nst.local.u64 [w], %rd4;\nmov.u32 %r1, 1;\nl: ld.local.u64 %rd5, [w];\nld.global.u32 %r2, [%rd5];\nadd.s64 %rd6, %rd5, 128;\nst.local.u64 [w], %rd6;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", ""},
		{"float counter", ".reg .f32 %f0;\nmov.f32 %f0, 0f00000000;\nl: add.f32 %f0, %f0, 0f3F800000;\nsetp.lt.f32 %p0, %f0, 0f42480000;\n@%p0 bra l;", "one comparison of integers"},
		{"return", "mov.u32 %r1, 1;\nsetp.eq.u32 %p1, %r0, 5;\nl: @%p1 exit;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", "contains exit"},
	} {
		loops := loopProgram(t, c.body).Loops
		if len(loops) != 1 {
			t.Errorf("%s: %d loops", c.name, len(loops))
			continue
		}
		if o := loops[0].Obstacle; (o == "") != (c.part == "") || !strings.Contains(o, c.part) {
			t.Errorf("%s: obstacle %q, want %q", c.name, o, c.part)
		}
	}
}

// TestSampledLoops cuts loops of every form and compares with the full trace.
func TestSampledLoops(t *testing.T) {
	for _, c := range []struct {
		name, body string
		threads    int
		cuts       bool
	}{
		{"test at the end", "mov.u32 %r1, 0;\nl: ld.global.u32 %r2, [%rd4];\nadd.s64 %rd4, %rd4, 4;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 50;\n@%p0 bra l;", 64, true},
		{"test at the start", "mov.u32 %r1, 0;\nl: setp.ge.s32 %p0, %r1, 50;\n@%p0 bra out;\nld.global.u32 %r2, [%rd4];\nadd.s64 %rd4, %rd4, 4;\nadd.s32 %r1, %r1, 1;\nbra l;\nout:", 64, true},
		{"test before the step", "mov.u32 %r1, 50;\nl: ld.global.u32 %r2, [%rd4];\nadd.s64 %rd4, %rd4, 4;\nsetp.gt.s32 %p0, %r1, 1;\nadd.s32 %r1, %r1, -1;\n@%p0 bra l;", 64, true},
		{"nested", "mov.u32 %r1, 0;\nl: mov.u32 %r3, 0;\nm: ld.global.u32 %r2, [%rd4];\nadd.s64 %rd4, %rd4, 4;\nadd.s32 %r3, %r3, 2;\nsetp.lt.s32 %p1, %r3, 30;\n@%p1 bra m;\nadd.s64 %rd4, %rd4, -32;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 20;\n@%p0 bra l;", 32, true},
		{"lanes with other counts", "mov.u32 %r1, 0;\nl: ld.global.u32 %r2, [%rd4];\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, %r0;\n@%p0 bra l;", 64, false},
		{"warps with other counts", "or.b32 %r5, %r0, 31;\nmov.u32 %r1, 0;\nl: ld.global.u32 %r2, [%rd4];\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, %r5;\n@%p0 bra l;", 64, true},
		{"one side of a branch after the other", "setp.lt.u32 %p2, %r0, 9;\n@%p2 add.s64 %rd4, %rd4, 64;\nmov.u32 %r5, 25;\n@%p2 mov.u32 %r5, 40;\nmov.u32 %r1, 0;\nl: ld.global.u32 %r2, [%rd4];\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, %r5;\n@%p0 bra l;", 32, false},
		{"two buffers in turns", "mov.u32 %r1, 0;\nmov.u32 %r5, 0;\nl: shl.b32 %r6, %r5, 7;\nadd.s32 %r6, %r31, %r6;\nld.shared.u32 %r2, [%r6];\nxor.b32 %r5, %r5, 1;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 51;\n@%p0 bra l;", 64, true},
		{"three buffers in turns", "mov.u32 %r1, 0;\nmov.u32 %r5, 0;\nl: shl.b32 %r6, %r5, 7;\nadd.s32 %r6, %r31, %r6;\nld.shared.u32 %r2, [%r6];\nadd.s32 %r7, %r5, 1;\nsetp.eq.s32 %p2, %r7, 3;\nselp.b32 %r5, 0, %r7, %p2;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 50;\n@%p0 bra l;", 64, true},
		{"what is not fetched at the end", "mov.u32 %r1, 0;\nl: add.s32 %r5, %r1, 4;\nsetp.lt.s32 %p1, %r5, 50;\n@!%p1 bra past;\nld.global.u32 %r2, [%rd4+64];\npast: ld.global.u32 %r3, [%rd4];\nadd.s64 %rd4, %rd4, 4;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 50;\n@%p0 bra l;", 64, true},
		{"guards that end in other iterations for other lanes", "mov.u32 %r1, 0;\nl: add.s32 %r5, %r1, %r0;\nsetp.lt.s32 %p1, %r5, 80;\n@%p1 ld.global.u32 %r2, [%rd4];\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 90;\n@%p0 bra l;", 32, true},
		{"what local memory kept", ".local .b32 w[2];\nmov.u64 %rd7, w;\ncvta.local.u64 %rd8, %rd7;\nst.volatile.u32 [%rd8+4], %r0;\nmov.u32 %r1, 0;\nl: ld.volatile.u32 %r5, [%rd8+4];\nmul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd4, %rd5;\nld.global.u32 %r2, [%rd6];\nst.shared.u32 [%r31], %r2;\nadd.s64 %rd4, %rd4, 4;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 50;\n@%p0 bra l;", 64, true},
		{"counter in local memory", ".local .b32 w[4];\nst.local.u32 [w+4], 0;\nl: ld.local.u32 %r1, [w+4];\nmul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\nld.global.u32 %r2, [%rd6];\nadd.s32 %r3, %r1, 1;\nst.local.u32 [w+4], %r3;\nsetp.lt.s32 %p0, %r3, 50;\n@%p0 bra l;", 64, true},
		{"limit in local memory", ".local .b32 w[4];\nst.local.u32 [w+4], 50;\nmov.u32 %r1, 0;\nl: mul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\nld.global.u32 %r2, [%rd6];\nld.volatile.local.u32 %r6, [w+4];\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, %r6;\n@%p0 bra l;", 64, true},
		{"counter in parts of local memory", ".local .b32 w[4];\nst.local.u32 [w+4], 0;\nl: ld.local.u32 %r1, [w+4];\nmul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\nld.global.u32 %r2, [%rd6];\nadd.s32 %r3, %r1, 1;\nst.local.u8 [w+5], %r3;\nst.local.u32 [w+4], %r3;\nsetp.lt.s32 %p0, %r3, 50;\n@%p0 bra l;", 64, false},
		{"counter in local memory that an index may reach", ".local .b32 w[4];\nst.local.u32 [w+4], 0;\nl: ld.local.u32 %r1, [w+4];\nmul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\nld.global.u32 %r2, [%rd6];\nadd.s32 %r3, %r1, 1;\nmov.u64 %rd7, w;\nmul.wide.u32 %rd8, %r0, 0;\nadd.s64 %rd7, %rd7, %rd8;\nst.local.u32 [%rd7], %r3;\nst.local.u32 [w+4], %r3;\nsetp.lt.s32 %p0, %r3, 50;\n@%p0 bra l;", 64, false},
		{"limit that changes in local memory", ".local .b32 w[4];\nst.local.u32 [w+4], 50;\nmov.u32 %r1, 0;\nl: mul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\nld.global.u32 %r2, [%rd6];\nld.volatile.local.u32 %r6, [w+4];\nadd.s32 %r1, %r1, 1;\nshr.u32 %r6, %r6, 1;\nadd.s32 %r6, %r6, 24;\nst.local.u32 [w+4], %r6;\nsetp.lt.s32 %p0, %r1, %r6;\n@%p0 bra l;", 64, false},
		{"what local memory keeps anew", ".local .b32 w[2];\nst.local.u32 [w], 0;\nmov.u32 %r1, 0;\nl: ld.local.u32 %r5, [w];\nmul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd4, %rd5;\nld.global.u32 %r2, [%rd6];\nxor.b32 %r5, %r5, %r1;\nst.local.u32 [w], %r5;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 50;\n@%p0 bra l;", 64, false},
		{"barriers", "mov.u32 %r1, 0;\nl: st.shared.u32 [%r31], %r1;\nbar.sync 0;\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 30;\n@%p0 bra l;", 128, true},
		{"barriers of warps that disagree", "shr.u32 %r6, %r0, 5;\nmad.lo.s32 %r5, %r6, 3, 20;\nadd.s32 %r6, %r6, 1;\nmov.u32 %r1, 0;\nl: bar.sync %r6, 32;\nld.global.u32 %r2, [%rd4];\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, %r5;\n@%p0 bra l;", 128, false},
	} {
		k := buildKernel(t, "k.ptx", []byte(bodyKernel("", c.body)))
		p := &problem{kernel: k, mem: memory.New(0)}
		for _, name := range []string{"out", "in"} {
			if _, err := p.mem.Alloc(memory.Buffer{Name: name, Elem: ir.U32, Count: outWords, Fill: memory.Fill{}}); err != nil {
				t.Fatal(err)
			}
		}
		params, err := p.mem.BindParams(k, []memory.Arg{{Buffer: "out"}, {Buffer: "in"}})
		if err != nil {
			t.Fatal(err)
		}
		p.launch = Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{c.threads, 1, 1}, Params: params}
		slice := compileFor(t, k, Slice)
		full := runJournal(t, p, compileFor(t, k, Full), 0, Options{})
		for sample := 1; sample <= 7; sample++ {
			cut := runJournal(t, p, slice, 0, Options{LoopSample: sample})
			repeats := 0
			for w := range full.warps {
				if err := cutMatches(full.warps[w], cut.warps[w]); err != nil {
					t.Errorf("%s, sample %d, warp %d: %v", c.name, sample, w, err)
				}
				for _, e := range cut.warps[w] {
					if e.repeat > 0 {
						repeats++
					}
				}
			}
			if (repeats > 0) != c.cuts {
				t.Errorf("%s, sample %d: %d cuts", c.name, sample, repeats)
			}
		}
	}
}
