package assemble

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// What assemblies of a kernel under several caps share changes none of them,
// whatever their order.
func TestPreparedOrder(t *testing.T) {
	c := openCorpus(t, filepath.Join(sharedDir(t), "ptx.zip"))
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	caps := []int{0, 16, 24, 32, 40, 64, 128}
	for _, ptx := range []string{"copy-408a92f6f43d", "sgemm-25b729b06491"} {
		k := c.kernel(t, ptx)
		want := map[int]*Program{}
		for _, limit := range caps {
			var err error
			if want[limit], err = Assemble(k, Options{CC: [2]int{9, 0}, MaxRegisters: limit}); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			p, err := Prepare(k, [2]int{9, 0})
			if err != nil {
				t.Fatal(err)
			}
			rng.Shuffle(len(caps), func(i, j int) { caps[i], caps[j] = caps[j], caps[i] })
			for _, limit := range append(caps, caps[0]) {
				got, err := p.Assemble(Options{CC: [2]int{9, 0}, MaxRegisters: limit})
				if err != nil {
					t.Fatal(err)
				}
				if !got.Equal(want[limit]) {
					t.Errorf("%s, cap %d of %v: another program than without the caps before", ptx, limit, caps)
				}
			}
		}
	}
	if p, q := sgemm(t, c, 0), sgemm(t, c, 32); p.Equal(q) {
		t.Error("programs of 0 and 32 registers at most are equal")
	}
	if _, err := Prepare(c.kernel(t, "copy-408a92f6f43d"), [2]int{1, 0}); err == nil {
		t.Error("prepared for compute capability 1.0")
	}
}

func sgemm(t *testing.T, c *corpus, limit int) *Program {
	p, err := Assemble(c.kernel(t, "sgemm-25b729b06491"), Options{CC: [2]int{9, 0}, MaxRegisters: limit})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
