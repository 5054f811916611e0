package assemble

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// tokens runs machine code on names instead of numbers: what an instruction
// writes is named after it and what it read. It returns, for every instruction
// with an operand, in the order they run, what it read; spill code, and constants
// made again, leave no entry.
func tokens(f *mfn, path []int) []string {
	held, memory := map[unitRef]string{}, map[int16]string{}
	name := func(v value, w uint8) string {
		if t, ok := held[unitRef{v, w}]; ok {
			return t
		}
		return "undefined"
	}
	var log []string
	for _, b := range path {
		for i := range f.blocks[b].insts {
			in := &f.blocks[b].insts[i]
			switch {
			case in.op == opSTL && in.spill >= 0:
				memory[in.spill] = name(in.src[0].v, in.src[0].w)
				continue
			case in.op == opLDL && in.spill >= 0:
				held[unitRef{in.dst[0].v, in.dst[0].w}] = memory[in.spill]
				continue
			}
			h := fnv.New64a()
			fmt.Fprint(h, in.op, in.pc)
			var read []string
			in.reads(func(v value, m uint8) {
				for w := uint8(0); m>>w != 0; w++ {
					if m>>w&1 != 0 {
						read = append(read, name(v, w))
					}
				}
			})
			fmt.Fprint(h, read)
			if len(read) > 0 {
				log = append(log, fmt.Sprint(in.op, in.pc, read))
			}
			for k := range in.dst {
				if a := &in.dst[k]; a.kind == argValue {
					for w := a.w; w < a.w+a.n; w++ {
						held[unitRef{a.v, w}] = fmt.Sprintf("%x.%d.%d", h.Sum64(), k, w-a.w)
					}
				}
			}
		}
	}
	return log
}

// walkBlocks is a random path through the blocks of a function.
func walkBlocks(f *mfn, r *rand.Rand) []int {
	path := []int{f.order[0]}
	for len(path) < 60 {
		s := f.blocks[path[len(path)-1]].succs
		if len(s) == 0 {
			break
		}
		path = append(path, s[r.IntN(len(s))])
	}
	return path
}

// TestSpillingKeepsValues checks that under ever fewer registers every
// instruction still reads what it read, on random paths, and that no more are
// live than there are.
func TestSpillingKeepsValues(t *testing.T) {
	kernels := map[string]func() *mfn{
		"wide": func() *mfn { return selectFor(t, buildKernel(t, "wide", []byte(wideKernel(40))), [2]int{9, 0}) },
	}
	for _, name := range []string{"fat_threads", "sgemm", "blur", "const_filter"} {
		kernels[name] = func() *mfn { return catalogued(t, name, 0.7) }
	}
	const seed = 9
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, kernel := range slices.Sorted(maps.Keys(kernels)) {
		for _, registers := range []int{12, 20, 29, 45} {
			f := kernels[kernel]()
			var paths [][]int
			var want [][]string
			for range 6 {
				paths = append(paths, walkBlocks(f, rng))
				want = append(want, tokens(f, paths[len(paths)-1]))
			}
			before := f.pressure()
			f.spillTo(registers)
			for _, split := range []bool{false, true} {
				if split {
					f.splitWebs()
				}
				if err := f.findLiveness(); err != nil {
					t.Fatal(err)
				}
				for i, p := range paths {
					if got := tokens(f, p); !slices.Equal(got, want[i]) {
						t.Fatalf("%s under %d registers (seed %d, webs split %v): another value is read on path %v", kernel, registers, seed, split, p)
					}
				}
			}
			if before > registers && f.spills.stores == 0 {
				t.Errorf("%s needs %d registers and spills nothing under %d", kernel, before, registers)
			}
			if p := f.pressure(); p > max(registers+4, 24) {
				t.Errorf("%s under %d registers: %d live, %d before", kernel, registers, p, before)
			}
		}
	}
}
