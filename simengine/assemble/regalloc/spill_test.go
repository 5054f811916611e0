package regalloc

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// tokens runs machine code on names instead of numbers: what an instruction
// writes is named after it and what it read. It returns, for every instruction
// with an operand, in the order they run, what it read; spill code, and constants
// made again, leave no entry.
func tokens(f *mir.Func, path []int) []string {
	held, memory := map[unitRef]string{}, map[int16]string{}
	name := func(v vreg.Value, w uint8) string {
		if t, ok := held[unitRef{v, w}]; ok {
			return t
		}
		return "undefined"
	}
	var log []string
	for _, b := range path {
		for i := range f.Blocks[b].Insts {
			in := &f.Blocks[b].Insts[i]
			switch {
			case in.Op == mir.OpSTL && in.SpillSlot >= 0:
				memory[in.SpillSlot] = name(in.Src[0].Value, in.Src[0].Word)
				continue
			case in.Op == mir.OpLDL && in.SpillSlot >= 0:
				held[unitRef{in.Dst[0].Value, in.Dst[0].Word}] = memory[in.SpillSlot]
				continue
			}
			h := fnv.New64a()
			fmt.Fprint(h, in.Op, in.PC)
			var read []string
			in.EachRead(func(v vreg.Value, m uint8) {
				for w := uint8(0); m>>w != 0; w++ {
					if m>>w&1 != 0 {
						read = append(read, name(v, w))
					}
				}
			})
			fmt.Fprint(h, read)
			if len(read) > 0 {
				log = append(log, fmt.Sprint(in.Op, in.PC, read))
			}
			for k := range in.Dst {
				if a := &in.Dst[k]; a.Kind == mir.ArgValue {
					for w := a.Word; w < a.Word+a.N; w++ {
						held[unitRef{a.Value, w}] = fmt.Sprintf("%x.%d.%d", h.Sum64(), k, w-a.Word)
					}
				}
			}
		}
	}
	return log
}

// walkBlocks is a random path through the blocks of a function.
func walkBlocks(f *mir.Func, r *rand.Rand) []int {
	path := []int{f.Order[0]}
	for len(path) < 60 {
		s := f.Blocks[path[len(path)-1]].Succs
		if len(s) == 0 {
			break
		}
		path = append(path, s[r.IntN(len(s))])
	}
	return path
}

// TestSpillingKeepsValues checks that under ever fewer registers every
// instruction still reads what it read, on random paths, also with words and webs split,
// and that no more are live than there are.
func TestSpillingKeepsValues(t *testing.T) {
	kernels := map[string]func() *mir.Func{
		"wide": func() *mir.Func {
			return asmtest.SelectFor(t, asmtest.BuildKernel(t, "wide", []byte(asmtest.WideKernel(40))), [2]int{9, 0})
		},
	}
	for _, name := range []string{"fat_threads", "sgemm", "blur", "const_filter"} {
		kernels[name] = func() *mir.Func { return catalogued(t, name, 0.7) }
	}
	const seed = 9
	rng := rand.New(rand.NewPCG(seed, 0))
	words := 0 // of vectors, that are values of their own until they are stored
	for _, kernel := range slices.Sorted(maps.Keys(kernels)) {
		for _, registers := range []int{12, 20, 29, 45} {
			f := kernels[kernel]()
			var paths [][]int
			var want [][]string
			for range 6 {
				paths = append(paths, walkBlocks(f, rng))
				want = append(want, tokens(f, paths[len(paths)-1]))
			}
			before := f.Pressure()
			SpillTo(f, FindUses(f), registers)
			for step, split := range []func(*mir.Func){func(*mir.Func) {}, SplitStored, SplitWebs} {
				values := len(f.Values)
				split(f)
				if err := f.FindLiveness(); err != nil {
					t.Fatal(err)
				}
				if step == 1 {
					words += len(f.Values) - values
				}
				for i, p := range paths {
					if got := tokens(f, p); !slices.Equal(got, want[i]) {
						t.Fatalf("%s under %d registers (seed %d, step %d): another value is read on path %v", kernel, registers, seed, step, p)
					}
				}
			}
			if before > registers && f.Spills.Stores == 0 {
				t.Errorf("%s needs %d registers and spills nothing under %d", kernel, before, registers)
			}
			if p := f.Pressure(); p > max(registers+4, 24) {
				t.Errorf("%s under %d registers: %d live, %d before", kernel, registers, p, before)
			}
		}
	}
	if words == 0 {
		t.Errorf("seed %d: no word of a vector is stored before the vector is read", seed)
	}
}
