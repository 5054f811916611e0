package assemble

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/ir"
)

// What assemblies of a kernel under several caps share changes none of them, whatever their order. The programs are
// drawn from the measured ones, and one has blocks of one instruction, which are never put into order (what one
// assembly made of them stayed for the next).
func TestPreparedOrder(t *testing.T) {
	c := openCorpus(t, measuredArchives(t)...)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	names := slices.Sorted(maps.Keys(c.Files))
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range append(names[:20], "fir-1e5d1e4d330a") {
		orderChangesNothing(t, c.Kernel(t, name), rng)
	}
}

// orderChangesNothing assembles a kernel under several caps, prepared for each and prepared once for all of
// them in an order drawn, at the end of which the first comes again.
func orderChangesNothing(t *testing.T, k *ir.Kernel, rng *rand.Rand) {
	t.Helper()
	cc, caps := [2]int{9, 0}, []int{0, 24, 32, 64}
	want := map[int]*Program{}
	for _, limit := range caps {
		var err error
		if want[limit], err = Assemble(k, Options{CC: cc, MaxRegisters: limit}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Prepare(k, Options{CC: cc})
	if err != nil {
		t.Fatal(err)
	}
	rng.Shuffle(len(caps), func(i, j int) { caps[i], caps[j] = caps[j], caps[i] })
	for _, limit := range append(caps, caps[0]) {
		got, err := p.Assemble(Options{CC: cc, MaxRegisters: limit})
		if err != nil {
			t.Fatal(err)
		}
		if !got.Equal(want[limit]) {
			t.Errorf("%s, cap %d of %v: another program than without the caps before", k.Name, limit, caps)
		}
	}
}

// Nothing is repeated to come from 40 registers to 32 (charges_double with 36 needed and 44 of ptxas), more is
// to come to 40 (xnor_gemm with 45 needed, 40 of ptxas).
func TestRepeatsFor(t *testing.T) {
	c := openCorpus(t, measuredArchives(t)...)
	for ptx, want := range map[string]int{"charges_double-9ed7dbf60225": 40, "xnor_gemm-d83d6f5cbb2b": 40} {
		if c.Files[ptx] == nil {
			t.Logf("%s is in an archive that was not fetched: make data", ptx)
			continue
		}
		p, err := Assemble(c.Kernel(t, ptx), Options{CC: [2]int{9, 0}})
		if err != nil {
			t.Fatal(err)
		}
		if p.Registers != want {
			t.Errorf("%s: %d registers, want %d", ptx, p.Registers, want)
		}
	}
}

func TestPreparedForWhatThereIsNot(t *testing.T) {
	k := asmtest.BuildKernel(t, "k", []byte(guardedText("mov.f32 %f1, 0f00000000;")))
	if _, err := Prepare(k, Options{CC: [2]int{1, 0}}); err == nil {
		t.Error("prepared for compute capability 1.0")
	}
}
