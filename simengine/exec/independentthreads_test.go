package exec

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// A lane that takes a lock of which the others of its warp wait for goes on and gives it back.
func TestLanesTakeALockInTurns(t *testing.T) {
	const threads = 96
	out, err := runBody(t, "", `
	mov.u32 %r10, 0;
again:
	atom.shared.cas.b32 %r1, [buf], 0, 1;
	setp.ne.u32 %p0, %r1, 0;
	@%p0 bra again;
	ld.volatile.shared.u32 %r2, [buf+4];
	add.u32 %r2, %r2, 1;
	st.volatile.shared.u32 [buf+4], %r2;
	atom.shared.exch.b32 %r3, [buf], 0;
	bar.sync 0;
	ld.shared.u32 %r4, [buf+4];
	st.global.u32 [%rd3], %r4;`, threads)
	if err != nil {
		t.Fatal(err)
	}
	for i := range threads {
		if out[i] != threads {
			t.Fatalf("thread %d finds %d turns, want %d", i, out[i], threads)
		}
	}
}

// walks is a loop that lane l leaves after l modulo groups more iterations, by what a load with
// these qualifiers says, and a block behind it.
func walks(qualifiers string, groups int) string {
	return fmt.Sprintf(`
	rem.u32 %%r5, %%r0, %d;
	st.volatile.shared.u32 [%%r31], %%r5;
	mov.u32 %%r6, 0;
again:
	add.u32 %%r6, %%r6, 1;
	ld%s.shared.u32 %%r7, [%%r31];
	setp.gt.u32 %%p0, %%r6, %%r7;
	@%%p0 bra left;
	bra again;
left:
	st.global.u32 [%%rd3], %%r6;
	bar.warp.sync 4294967295;
	st.global.u32 [%%rd3], %%r6;`, groups, qualifiers)
}

// entered counts how often a warp enters each block of a body.
func entered(t *testing.T, body string) map[int]int {
	t.Helper()
	k := buildKernel(t, "k.ptx", []byte(bodyKernel("", body)))
	l, m := launchBody(t, k, 32)
	j := newJournal()
	if err := NewRunner(compileFor(t, k, Slice)).Run(l, m, 0, Options{}, j); err != nil {
		t.Fatal(err)
	}
	n := map[int]int{}
	for _, e := range j.warps[0] {
		if e.block >= 0 {
			n[e.block]++
		}
	}
	return n
}

// Lanes that leave a loop by what others write go on as they leave it, until the warp
// synchronises; by what nobody else writes, when all have left.
func TestLanesThatYieldGoOnApart(t *testing.T) {
	for _, groups := range []int{1, 3, 8, 32} {
		for qualifiers, want := range map[string]int{"": 1, ".volatile": groups, ".relaxed.cta": groups} {
			n := entered(t, walks(qualifiers, groups))
			const behind, synchronises = 3, 4 // where lanes yield, what they do together is a block of its own
			if n[behind] != want {
				t.Errorf("%d groups, ld%s: the block behind the loop is entered %d times, want %d", groups, qualifiers, n[behind], want)
			}
			if qualifiers != "" && n[synchronises] != 1 {
				t.Errorf("%d groups, ld%s: the block that synchronises is entered %d times, want once", groups, qualifiers, n[synchronises])
			}
		}
	}
}

// Keys put into a table in shared memory by compare and swap are found as often as they are there, whatever
// way lanes go.
func TestTableOfYieldingLanes(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 7))
	for range 20 {
		keys, mult := 1+r.IntN(60), 1+2*r.IntN(1<<20)
		out, err := runBody(t, "", fmt.Sprintf(`
	mul.lo.u32 %%r1, %%r0, %d;
	rem.u32 %%r1, %%r1, %d;
	add.u32 %%r1, %%r1, 1;
	mul.lo.u32 %%r2, %%r1, 40503;
probe:
	and.b32 %%r3, %%r2, 63;
	shl.b32 %%r4, %%r3, 2;
	add.u32 %%r4, %%r4, %%r29;
	atom.shared.cas.b32 %%r5, [%%r4], 0, %%r1;
	add.u32 %%r2, %%r2, 1;
	setp.ne.u32 %%p0, %%r5, 0;
	setp.ne.u32 %%p1, %%r5, %%r1;
	and.pred %%p0, %%p0, %%p1;
	@%%p0 bra probe;
	red.shared.add.u32 [%%r4+1024], 1;
	bar.sync 0;
	ld.shared.u32 %%r6, [%%r4+1024];
	st.global.u32 [%%rd3], %%r6;`, mult, keys), 128)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		count := map[uint32]uint32{}
		for i := range uint32(128) {
			count[i*uint32(mult)%uint32(keys)]++
		}
		for i := range uint32(128) {
			if want := count[i*uint32(mult)%uint32(keys)]; out[i] != want {
				t.Fatalf("seed %d: thread %d finds its key %d times of %d", seed, i, out[i], want)
			}
		}
	}
}
