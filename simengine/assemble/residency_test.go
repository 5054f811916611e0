package assemble

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/simengine/arch"
)

// TestDeclaredSizesAgainstPtxas assembles what deploy/calibrate/ptxas/bounds.py asked ptxas: by the size
// of the CTAs declared, the share of kernels whose registers are within 10 % of its own.
func TestDeclaredSizesAgainstPtxas(t *testing.T) {
	// About 5 points under what it was when written, in percent.
	floors := map[string]int{"none": 40, "32": 53, "64": 52, "128": 46, "256": 50, "512": 50, "1024": 50, "64, 24 KB": 50}
	near, all := map[string]int{}, map[string]int{}
	c := openCorpus(t, measuredArchives(t)...)
	records, err := results.Read[struct {
		PTX       string
		Registers map[string]int
		More      map[string]int `json:"registers_24576"`
	}]("../../deploy/calibrate/results/bounds-ptxas-13.0.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if c.files[r.PTX] == nil {
			continue // its data set's archive was not fetched
		}
		k := *c.kernel(t, r.PTX)
		k.MaxNTid = [3]int{}
		check := func(name, threads string, want int) {
			n, _ := strconv.Atoi(threads) // none: 0
			p, err := Assemble(&k, Options{CC: [2]int{9, 0}, MaxThreads: n})
			if err != nil {
				t.Fatal(err)
			}
			all[name]++
			if math.Abs(float64(p.Registers-want)) <= 0.1*float64(want) {
				near[name]++
			}
		}
		for threads, want := range r.Registers {
			check(threads, threads, want)
		}
		if want := r.More["64"]; want > 0 {
			k.SharedBytes = 24576 - 1024
			check("64, 24 KB", "64", want)
		}
	}
	for name, floor := range floors {
		t.Logf("declared %s: %d of %d within 10 %%", name, near[name], all[name])
		if all[name] == 0 || 100*near[name] < floor*all[name] {
			t.Errorf("declared %s: %d of %d within 10 %%, want %d %%", name, near[name], all[name], floor)
		}
	}
}

// TestOffers holds what a declared size offers to cases by hand, on sm_90.
func TestOffers(t *testing.T) {
	tg, err := targetFor([2]int{9, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		need int
		cta  cta
		want int
	}{
		{70, cta{}, 72},
		{40, cta{threads: 32}, 64},                // 32 CTAs of a warp at most
		{70, cta{threads: 128}, 72},               // 28 warps
		{70, cta{threads: 256}, 80},               // three CTAs
		{70, cta{threads: 64, shared: 21504}, 96}, // ten CTAs
		{70, cta{threads: 512}, 80},               // one CTA, and one step more
		{250, cta{threads: 64}, 255},              // all there are
	} {
		if got := tg.offers(c.need, c.cta); got != c.want {
			t.Errorf("%+v offers %d registers to %d, want %d", c.cta, got, c.need, c.want)
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
		tg, err := targetFor(d.CC)
		if err != nil {
			t.Fatal(err)
		}
		seed := uint64(1)
		r := rand.New(rand.NewPCG(seed, 0))
		for range 2000 {
			c := cta{threads: 1 + r.IntN(d.MaxThreadsPerCTA), shared: r.IntN(2) * r.IntN(d.SharedPerCTA)}
			registers := 1 + r.IntN(maxRegisters)
			o, err := arch.Occupy(d, arch.Kernel{Threads: c.threads, Registers: registers, Shared: c.shared}, d.CarveOuts[len(d.CarveOuts)-1])
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
