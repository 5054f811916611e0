package regalloc

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Where two groups of values take the same registers every instruction still reads what it read, on random paths, and
// nothing names the values of the second group.
func TestSharedGroupsKeepValues(t *testing.T) {
	kernels := map[string]func() *mir.Func{
		"wide": func() *mir.Func {
			return asmtest.SelectFor(t, asmtest.BuildKernel(t, "wide", []byte(asmtest.WideKernel(40))), [2]int{9, 0})
		},
	}
	for _, name := range []string{"fat_threads", "sgemm", "blur"} {
		kernels[name] = func() *mir.Func { return catalogued(t, name, 0.7) }
	}
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	moved, apart := 0, 0
	for _, kernel := range slices.Sorted(maps.Keys(kernels)) {
		for range 8 {
			f := kernels[kernel]()
			if err := f.FindLiveness(); err != nil {
				t.Fatal(err)
			}
			host, guest := randomGroups(f, rng, 6)
			f.Group(host)
			f.Group(guest)
			var paths [][]int
			var want [][]string
			for range 6 {
				paths = append(paths, walkBlocks(f, rng))
				want = append(want, tokens(f, paths[len(paths)-1]))
			}
			if !ShareGroups(f) {
				apart++ // an instruction names words of both at one place
				continue
			}
			for i, p := range paths {
				if got := tokens(f, p); !slices.Equal(got, want[i]) {
					t.Fatalf("%s (seed %d): another value is read on path %v", kernel, seed, p)
				}
			}
			for _, b := range f.Order {
				for i := range f.Blocks[b].Insts {
					f.Blocks[b].Insts[i].EachRead(func(v vreg.Value, _ uint8) {
						if slices.Contains(guest, v) {
							t.Fatalf("%s (seed %d): value %d of the second group is still read", kernel, seed, v)
						}
					})
				}
			}
			moved += f.Spills.Stores
		}
	}
	if moved == 0 || apart > 16 {
		t.Errorf("seed %d: %d words were stored, %d of 32 pairs of groups were not shared", seed, moved, apart)
	}
}

// randomGroups draws two disjoint groups of so many values of one word in general registers.
func randomGroups(f *mir.Func, rng *rand.Rand, n int) (host, guest []vreg.Value) {
	var all []vreg.Value
	for v := range f.Values {
		if f.Values[v].File == vreg.General && f.Values[v].Words == 1 {
			all = append(all, vreg.Value(v))
		}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n], all[n : 2*n]
}

// One group, or groups of other sizes, do not share.
func TestGroupsThatCannotShare(t *testing.T) {
	f := catalogued(t, "sgemm", 0.7)
	if err := f.FindLiveness(); err != nil {
		t.Fatal(err)
	}
	host, guest := randomGroups(f, rand.New(rand.NewPCG(1, 0)), 4)
	if ShareGroups(f) {
		t.Error("no group is shared")
	}
	f.Group(host)
	if ShareGroups(f) {
		t.Error("one group is shared")
	}
	f.Group(guest[:3])
	if ShareGroups(f) {
		t.Error("groups of four and three words are shared")
	}
}
