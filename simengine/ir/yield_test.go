package ir_test

import (
	"path/filepath"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
)

// TestYields: the loops that ptxas marks for sm_90 are those that a lane may leave by what other threads
// write. Each case is one of deploy/calibrate/ptxas/yields.py, by hand in PTX.
func TestYields(t *testing.T) {
	const before = `.reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<8>;
.shared .align 4 .b8 w[4096];
ld.param.u64 %rd1, [p]; ld.param.u32 %r20, [m];
mov.u32 %r1, %tid.x; mov.u32 %r2, w; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; mul.wide.u32 %rd2, %r3, 1; add.u64 %rd3, %rd1, %rd2;
bra loop;
loop:
`
	const step = "\nadd.u32 %r4, %r4, 4;\nadd.u64 %rd3, %rd3, 4;\nadd.u32 %r10, %r10, 1;\n"
	const leave = "setp.ne.u32 %p1, %r5, %r1; @%p1 bra loop;\nst.global.u32 [%rd3], %r10;\nret;"
	const count = "setp.lt.u32 %p1, %r10, %r20; @%p1 bra loop;\nst.global.u32 [%rd3], %r5;\nret;"
	marked := map[string]int{}
	type loop struct {
		Kind  string
		SM    string
		Yield int
	}
	loops := measured.Records[loop](t, filepath.Join("..", "..", "deploy", "calibrate", "results", "yields-13.0.jsonl.gz"))
	for _, l := range loops {
		if l.SM == "90" {
			marked[l.Kind] = l.Yield
		}
	}
	for name, c := range map[string]struct {
		body string
		want bool
	}{
		"volatile_shared":       {"ld.volatile.shared.u32 %r5, [%r4];" + step + leave, true},
		"shared":                {"ld.shared.u32 %r5, [%r4];" + step + leave, false},
		"volatile_shared_fixed": {"ld.volatile.shared.u32 %r5, [w];" + step + "setp.ne.u32 %p1, %r5, %r20; @%p1 bra loop;\nret;", false},
		"volatile_global":       {"ld.volatile.global.u32 %r5, [%rd3];" + step + leave, true},
		"global":                {"ld.global.u32 %r5, [%rd3];" + step + leave, false},
		"relaxed_global":        {"ld.relaxed.gpu.global.u32 %r5, [%rd3];" + step + leave, true},
		"acquire_global":        {"ld.acquire.gpu.global.u32 %r5, [%rd3];" + step + leave, true},
		"cas_shared":            {"atom.shared.cas.b32 %r5, [%r4], 0, 1;" + step + leave, true},
		"cas_shared_fixed":      {"atom.shared.cas.b32 %r5, [w], 0, 1;" + step + "setp.ne.u32 %p1, %r5, 0; @%p1 bra loop;\nret;", true},
		"add_global":            {"atom.global.add.u32 %r5, [%rd3], 1;" + step + leave, true},
		"through_arithmetic":    {"ld.volatile.shared.u32 %r6, [%r4];" + step + "xor.b32 %r5, %r6, 3;\n" + leave, true},
		"through_address":       {"ld.volatile.shared.u32 %r6, [%r4];" + step + "add.u32 %r6, %r6, %r2;\nld.shared.u32 %r5, [%r6];\n" + leave, true},
		"through_vote":          {"ld.volatile.shared.u32 %r6, [%r4];" + step + "setp.ne.u32 %p2, %r6, 0;\nvote.sync.any.pred %p1, %p2, 4294967295; @%p1 bra loop;\nret;", false},
		"through_flag":          {"ld.volatile.shared.u32 %r6, [%r4];" + step + "setp.eq.u32 %p2, %r6, 0; @%p2 bra skip;\nld.shared.u32 %r5, [%r4];\nskip:\n" + leave, true},
		"counted_volatile":      {"ld.volatile.shared.u32 %r5, [%r4];" + step + count, false},
		"lanes_counted_cas":     {"atom.shared.cas.b32 %r5, [%r4], 0, 1;" + step + "setp.lt.u32 %p1, %r10, %r1; @%p1 bra loop;\nret;", false},
		"plain_exit_atomic":     {"red.shared.add.u32 [%r4], 1;\nld.shared.u32 %r5, [%r4];" + step + leave, false},
		"counted_break":         {"ld.volatile.shared.u32 %r6, [%r4];" + step + "setp.eq.u32 %p2, %r6, %r1; @%p2 bra out;\n" + "setp.lt.u32 %p1, %r10, %r20; @%p1 bra loop;\nout:\nret;", true},
	} {
		if n, ok := marked[name]; !ok || (n > 0) != c.want {
			t.Errorf("%s: ptxas marks %d (known: %v), want %v", name, n, ok, c.want)
		}
		k := kernel(t, ".param .u64 p, .param .u32 m", before+c.body)
		got := 0
		for b, yields := range k.Yields() {
			if yields {
				got++
				if k.Blocks[b].LoopHead != b {
					t.Errorf("%s: block %d heads no loop", name, b)
				}
			}
		}
		if got > 1 || (got == 1) != c.want {
			t.Errorf("%s: %d loops yield, want %v", name, got, c.want)
		}
	}
}
