package ir_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// reachable marks the blocks that can be reached from block from without
// entering block without.
func reachable(k *ir.Kernel, from, without int) []bool {
	seen := make([]bool, len(k.Blocks))
	work := []int{from}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if b == without || seen[b] {
			continue
		}
		seen[b] = true
		work = append(work, k.Blocks[b].Succs...)
	}
	return seen
}

func exits(k *ir.Kernel) (list []int) {
	for i := range k.Blocks {
		if len(k.Blocks[i].Succs) == 0 {
			list = append(list, i)
		}
	}
	return list
}

// The immediate post-dominator is the first of those blocks that no path to
// the end avoids; checked against that definition on random graphs with one
// exit.
func TestPostDominators(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		body := strings.Replace(ptxtest.RandomBody(rng, 2+rng.IntN(12)), "\tret;\n", "\tbra END;\n", -1) + "END:\n\tret;\n"
		k := kernel(t, "", body)
		end := exits(k)[0]
		reach := func(a, without int) bool { return reachable(k, a, without)[end] }
		for b := range k.Blocks {
			if b == end || !reach(b, -1) {
				continue
			}
			var pdom []int // strict post-dominators
			for x := range k.Blocks {
				if x != b && !reach(b, x) {
					pdom = append(pdom, x)
				}
			}
			// The immediate one is post-dominated by all the others.
			want := -1
			for _, x := range pdom {
				nearest := true
				for _, y := range pdom {
					nearest = nearest && (x == y || !reach(x, y))
				}
				if nearest {
					want = x
				}
			}
			if got := k.Blocks[b].IPDom; got != want {
				t.Fatalf("block %d has post-dominator %d, want %d\n%s", b, got, want, k)
			}
		}
	}
}

// Dominators by definition, and loops by definition: a block is in the loop of
// header h when h dominates it and it reaches a back edge of h without
// passing h.
func TestDominatorsAndLoops(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	for range 300 {
		k := kernel(t, "", ptxtest.RandomBody(rng, 2+rng.IntN(12)))
		alive := reachable(k, 0, -1)
		dominates := func(a, b int) bool { return a == b || !reachable(k, 0, a)[b] }
		idom := k.Dominators()
		for b := range k.Blocks {
			if !alive[b] || b == 0 {
				continue
			}
			if d := idom[b]; d < 0 || d == b || !dominates(d, b) {
				t.Fatalf("block %d: dominator %d\n%s", b, d, k)
			}
			for x := range k.Blocks {
				if alive[x] && x != b && dominates(x, b) && !dominates(x, idom[b]) {
					t.Fatalf("block %d: %d dominates it more closely than %d\n%s", b, x, idom[b], k)
				}
			}
		}
		for b := range k.Blocks {
			depth := 0
			for h := range k.Blocks {
				if alive[b] && inLoop(k, alive, dominates, h, b) {
					depth++
				}
			}
			if alive[b] && depth != k.Blocks[b].LoopDepth {
				t.Fatalf("block %d at loop depth %d, want %d\n%s", b, k.Blocks[b].LoopDepth, depth, k)
			}
			if h := k.Blocks[b].LoopHead; h >= 0 && !inLoop(k, alive, dominates, h, b) {
				t.Fatalf("block %d is not in the loop of %d\n%s", b, h, k)
			} else if h >= 0 && alive[b] && k.Blocks[h].LoopDepth != depth {
				t.Fatalf("block %d at depth %d has loop header %d at depth %d\n%s", b, depth, h, k.Blocks[h].LoopDepth, k)
			}
		}
	}
}

func inLoop(k *ir.Kernel, alive []bool, dominates func(a, b int) bool, h, b int) bool {
	if !alive[h] {
		return false
	}
	for _, tail := range k.Blocks[h].Preds {
		if !alive[tail] || !dominates(h, tail) {
			continue
		}
		if b == h || reachable(k, b, h)[tail] {
			return true
		}
	}
	return false
}

// A return inside a branch does not move the reconvergence of what is around
// it to the end of the kernel.
func TestEarlyReturnReconverges(t *testing.T) {
	k := kernel(t, ".param .u32 n", `
	.reg .b32 %r<4>;
	.reg .pred %p<3>;
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	setp.lt.u32 %p1, %r2, %r1;
	@!%p1 bra JOIN;
	setp.eq.u32 %p2, %r2, 7;
	@%p2 bra LEAVE;
	add.u32 %r3, %r2, 1;
JOIN:
	bar.sync 0;
	@%p1 exit;
	ret;
LEAVE:
	trap;
`)
	golden(t, k.String(), `
kernel k
b0: -> b1 b3 ipdom b3
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	setp.lt.u32 %p1, %r2, %r1;
	@!%p1 bra b3;
b1: -> b2 b5 ipdom b2
	setp.eq.u32 %p2, %r2, 7;
	@%p2 bra b5;
b2: -> b3 ipdom b3
	add.u32 %r3, %r2, 1;
b3: -> b4 ipdom b4
	bar.sync 0;
	@%p1 exit;
b4:
	exit;
b5:
	trap;
`)
}

// Liveness by definition: a register is live at the start of a block when some
// path from there reads it before an unguarded write.
func TestLiveness(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	for range 200 {
		k := kernel(t, "", ptxtest.RandomBody(rng, 2+rng.IntN(10)))
		lv := k.Liveness()
		for b := range k.Blocks {
			for r := range k.Regs {
				if got, want := lv.In[b].Has(ir.Reg(r)), readFirst(k, b, ir.Reg(r)); got != want {
					t.Fatalf("%s live at b%d: %v, want %v\n%s", k.Regs[r].Name, b, got, want, k)
				}
			}
			lv.Walk(k, b, func(pc int, live ir.BitSet) {
				if pc == k.Blocks[b].End-1 {
					for r := range k.Regs {
						if live.Has(ir.Reg(r)) != lv.Out[b].Has(ir.Reg(r)) {
							t.Fatalf("walk of b%d starts elsewhere than at Out", b)
						}
					}
				}
			})
		}
	}
}

// readFirst follows every path from block b.
func readFirst(k *ir.Kernel, b int, r ir.Reg) bool {
	seen := make([]bool, len(k.Blocks))
	work := []int{b}
next:
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[b] {
			continue
		}
		seen[b] = true
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			in := &k.Instrs[pc]
			for _, u := range in.AppendUses(nil) {
				if u == r {
					return true
				}
			}
			for _, d := range in.AppendDefs(nil) {
				if d == r && in.Guard == ir.NoReg {
					continue next
				}
			}
		}
		work = append(work, k.Blocks[b].Succs...)
	}
	return false
}

func TestMaxLive(t *testing.T) {
	k := kernel(t, ".param .u64 p", `
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	.reg .f64 %fd<3>;
	.reg .pred %q;
	ld.param.u64 %rd1, [p];          // rd1: 2
	ld.global.f64 %fd1, [%rd1];      // rd1 fd1: 4
	ld.global.u32 %r1, [%rd1+8];     // rd1 fd1 r1: 5
	setp.eq.u32 %q, %r1, 0;          // predicates take none
	@%q st.global.f64 [%rd1], %fd1;
	ret;`)
	if n := k.MaxLive(); n != 5 {
		t.Errorf("%d registers live at once, want 5\n%s", n, k)
	}
}
