package target

import (
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
)

// TestOffers holds what a declared size offers to cases by hand, on sm_90.
func TestOffers(t *testing.T) {
	tg, err := For([2]int{9, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		need int
		cta  CTA
		want int
	}{
		{70, CTA{}, 72},
		{40, CTA{Threads: 32}, 64},                // 32 CTAs of a warp at most
		{70, CTA{Threads: 128}, 72},               // 28 warps
		{70, CTA{Threads: 256}, 80},               // three CTAs
		{70, CTA{Threads: 64, Shared: 21504}, 96}, // ten CTAs
		{70, CTA{Threads: 512}, 80},               // one CTA, and one step more
		{250, CTA{Threads: 64}, 255},              // all there are
	} {
		if got := tg.Offers(c.need, c.cta); got != c.want {
			t.Errorf("%+v offers %d registers to %d, want %d", c.cta, got, c.need, c.want)
		}
	}
}

// What a least number of CTAs offers is a step more than is needed, and no less than half of the warps leave.
func TestOffersLeast(t *testing.T) {
	tg, err := For([2]int{9, 0})
	if err != nil {
		t.Fatal(err)
	}
	for need, want := range map[int]int{20: 64, 30: 64, 54: 64, 57: 72, 75: 96, 100: 168, 130: 255, 250: 255} {
		if got := tg.OffersLeast(need, CTA{Threads: 128}); got != want {
			t.Errorf("%d registers needed, %d offered, want %d", need, got, want)
		}
	}
}

// TestResidencyAsDescriptors holds how many CTAs an SM is thought to hold to the descriptors' rules
// (arch.Occupy), of every architecture and launches drawn at random.
func TestResidencyAsDescriptors(t *testing.T) {
	for _, name := range arch.Names() {
		d, err := arch.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		tg, err := For(d.CC)
		if err != nil {
			t.Fatal(err)
		}
		seed := uint64(1)
		r := rand.New(rand.NewPCG(seed, 0))
		for range 2000 {
			c := CTA{Threads: 1 + r.IntN(d.MaxThreadsPerCTA), Shared: r.IntN(2) * r.IntN(d.SharedPerCTA)}
			registers := 1 + r.IntN(MaxRegisters)
			o, err := arch.Occupy(d, arch.Kernel{Threads: c.Threads, Registers: registers, Shared: c.Shared}, d.CarveOuts[len(d.CarveOuts)-1])
			want := o.CTAs
			if err != nil {
				want = 0 // no CTA has room
			}
			if got := tg.resident(registers, c); got != want {
				t.Fatalf("%s, seed %d: %+v with %d registers: %d CTAs, the descriptor's rules give %d (%v)", name, seed, c, registers, got, want, err)
			}
		}
	}
}

// What declared warps leave is what ptxas 13.0.88 gives kernels that need more, for sm_80 and sm_90.
func TestLeaves(t *testing.T) {
	for _, cc := range [][2]int{{8, 0}, {9, 0}} {
		tg, err := For(cc)
		if err != nil {
			t.Fatal(err)
		}
		for warps, want := range map[int]int{9: 168, 15: 128, 18: 96, 20: 96, 21: 80, 24: 80, 25: 72, 26: 72, 29: 64} {
			if got := tg.Leaves(warps); got != want {
				t.Errorf("sm_%d%d: %d warps leave %d registers, ptxas gives %d", cc[0], cc[1], warps, got, want)
			}
		}
	}
}
