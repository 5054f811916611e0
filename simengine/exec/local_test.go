package exec

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir/sroa"
)

// throughLocal draws a loop of which addresses come out of local memory, stored there in
// all kinds of ways.
func throughLocal(r *rand.Rand) string {
	value := func() string { return fmt.Sprintf("%%r%d", 5+r.IntN(4)) }
	source := func() string {
		if r.IntN(3) == 0 {
			return fmt.Sprint(r.IntN(9))
		}
		return value()
	}
	offset := func() int { return 4 * r.IntN(3) }
	base := func() string { return []string{"w", "w", "v", "%rd7"}[r.IntN(4)] }
	guard := func() string { return []string{"", "", "", "@%p1 ", "@!%p1 "}[r.IntN(5)] }
	kinds := 6 + r.IntN(5) // the later ones are those that nothing is known of
	step := func() string {
		switch r.IntN(kinds) {
		case 0:
			return fmt.Sprintf("ld.local.u32 %s, [%s+%d];", value(), base(), offset())
		case 1:
			return fmt.Sprintf("%sst.local.u32 [%s+%d], %s;", guard(), base(), offset(), source())
		case 2:
			return fmt.Sprintf("add.u32 %s, %s, %d;", value(), value(), r.IntN(5))
		case 3, 4:
			return fmt.Sprintf("and.b32 %%r9, %s, 1023;\nmul.wide.u32 %%rd5, %%r9, 4;\nadd.s64 %%rd6, %%rd1, %%rd5;\nld.global.u32 %%r10, [%%rd6];", value())
		case 5:
			return fmt.Sprintf("%smov.u32 %s, %s;", guard(), value(), source())
		case 6:
			return fmt.Sprintf("xor.b32 %s, %s, %%r1;", value(), value())
		case 7:
			return fmt.Sprintf("st.volatile.u32 [%%rd8+%d], %s;\nld.volatile.u32 %s, [%%rd8+%d];", offset(), source(), value(), offset())
		case 8:
			return fmt.Sprintf("st.local.u16 [%s+%d], %s;", base(), offset()+2*r.IntN(2), value())
		case 9:
			return fmt.Sprintf("and.b32 %%r9, %s, 3;\nmul.wide.u32 %%rd5, %%r9, 4;\nadd.s64 %%rd6, %%rd7, %%rd5;\nst.local.u32 [%%rd6], %s;", value(), source())
		}
		return fmt.Sprintf("st.local.v2.u32 [w+8], {%s, %s};", value(), value())
	}
	steps := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(step() + "\n")
		}
		return b.String()
	}
	return `.local .align 8 .b8 w[16];
	.local .align 8 .b8 v[16];
	.local .align 8 .b8 u[16];
	mov.u64 %rd7, w;
	mov.u64 %rd9, u;
	cvta.local.u64 %rd8, %rd9;
	setp.lt.u32 %p1, %r0, 9;
	mov.u32 %r5, %r0;
	mov.u32 %r6, 3;
	mov.u32 %r7, 0;
	mov.u32 %r8, 1;
` + steps(r.IntN(4)) + `	mov.u32 %r1, 0;
l:
` + steps(2+r.IntN(6)) + `	add.s32 %r1, %r1, 1;
	setp.lt.s32 %p0, %r1, 20;
	@%p0 bra l;
` + steps(r.IntN(3))
}

// Whatever goes through local memory, a slice sees the accesses that are, and iterations
// are only left out where that changes none of the others.
func TestSlicesSeeThroughLocalMemory(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	kept, cuts := 0, 0
	for round := range 1500 {
		text := bodyKernel("", throughLocal(r))
		k := buildKernel(t, "k.ptx", []byte(text))
		p := &problem{kernel: k}
		p.launch, p.mem = launchBody(t, k, 32)
		slice := compileFor(t, k, Slice)
		full := runJournal(t, p, compileFor(t, k, Full), 0, Options{})
		if all := runJournal(t, p, slice, 0, Options{}); !reflect.DeepEqual(all.warps, full.warps) {
			t.Fatalf("seed %d round %d: slice and full traces differ in\n%s", seed, round, text)
		}
		cut := runJournal(t, p, slice, 0, Options{LoopSample: 3})
		if err := cutMatches(full.warps[0], cut.warps[0]); err != nil {
			t.Fatalf("seed %d round %d: %v in\n%s", seed, round, err, text)
		}
		if sroa.Mirror(k) != k {
			kept++
		}
		if len(cut.warps[0]) < len(full.warps[0]) {
			cuts++
		}
	}
	if t.Logf("%d with places in registers, %d cut", kept, cuts); kept < 300 || cuts < 300 {
		t.Errorf("%d of the kernels have places in registers, %d are cut", kept, cuts)
	}
}
