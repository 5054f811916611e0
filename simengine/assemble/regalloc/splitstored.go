package regalloc

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/disjoint"
)

// Words of vectors that go to memory before the vector is read. A word needs its place beside the others only once an
// instruction reads it as part of the vector. Until then any register will do:
//
//	F2FP R29, …           one of four words of a fragment
//	STL [R1+0x50], R29
//	…
//	LDL.64 R140, [R1+0x50]
//	HGMMA R24, R140, …
//
// Evidence, machine code (12.8, sm_90a): all 28 words of fragments that wgmma_attn with 3 warpgroups spills
// (h100-2026-11-27-triton-wgmma-d).

// stored finds the webs (webs.go) of words of vectors.
type stored struct {
	f        *mir.Func
	index    []int32 // by unit: its number among those looked at, -1 none
	live     [][]int32
	ends     [][]int32 // by block and number: its web at the start, at the end; -1 none
	cur      []int32
	sets     disjoint.Sets
	together map[int32]bool // webs read or written beside other words of their vector
	spilled  map[int32]bool // webs stored in the spill area
	alone    []wordOf       // operands of one word
}

// wordOf is an operand, and the web it is of.
type wordOf struct {
	arg *mir.Arg
	web int32
}

// SplitStored gives such words values of their own until they are stored. Liveness must be up to date, and is not
// afterwards.
func SplitStored(f *mir.Func) {
	s := &stored{f: f, index: make([]int32, len(f.Values)*vreg.MaxWords), live: make([][]int32, len(f.Blocks)), ends: make([][]int32, len(f.Blocks)),
		together: map[int32]bool{}, spilled: map[int32]bool{}}
	n := int32(0)
	for u := range s.index {
		v := &f.Values[u/vreg.MaxWords]
		if s.index[u] = -1; v.File == vreg.General && v.Words > 1 && u%vreg.MaxWords < int(v.Words) && !f.IsGrouped(vreg.Value(u/vreg.MaxWords)) {
			s.index[u], n = n, n+1
		}
	}
	s.cur = make([]int32, n)
	for _, b := range f.Order {
		s.block(b)
	}
	for _, b := range f.Order {
		for _, t := range f.Blocks[b].Succs {
			for i, web := range s.live[t] {
				if web >= 0 && s.ends[b][i] >= 0 {
					s.sets.Join(web, s.ends[b][i])
				}
			}
		}
	}
	s.rename()
}

// block numbers the webs of a block.
func (s *stored) block(b int) {
	blk := &s.f.Blocks[b]
	for u, i := range s.index {
		if i < 0 {
			continue
		}
		if s.cur[i] = -1; liveIn(s.f.Live.In[b], u) {
			s.cur[i] = s.sets.Add()
		}
	}
	s.live[b] = slices.Clone(s.cur)
	blk.Insts = slices.Clone(blk.Insts)
	for i := range blk.Insts {
		in := &blk.Insts[i]
		for k := range in.Src[:in.NSrc] {
			s.operand(&in.Src[k], false, in.Op == mir.OpSTL && in.SpillSlot >= 0)
		}
		for k := range in.Dst {
			s.operand(&in.Dst[k], !in.KeepsOld, false)
		}
		for k := range in.Acc {
			s.operand(&in.Acc[k], false, false)
		}
	}
	s.ends[b] = slices.Clone(s.cur)
}

// operand notes what an instruction reads, or writes without reading it.
func (s *stored) operand(a *mir.Arg, writes, spills bool) {
	if a.Kind != mir.ArgValue {
		return
	}
	for w := a.Word; w < a.Word+a.N; w++ {
		i := s.index[int(a.Value)*vreg.MaxWords+int(w)]
		if i < 0 {
			return
		}
		if writes || s.cur[i] < 0 {
			s.cur[i] = s.sets.Add()
		}
		web := s.cur[i]
		if a.N > 1 {
			s.together[web] = true
			continue
		}
		s.alone = append(s.alone, wordOf{a, web})
		if spills {
			s.spilled[web] = true
		}
	}
}

// rename gives each web that is stored and never read beside others a value of its own.
func (s *stored) rename() {
	together, spilled, names := map[int32]bool{}, map[int32]bool{}, map[int32]vreg.Value{}
	for web := range s.together {
		together[s.sets.Find(web)] = true
	}
	for web := range s.spilled {
		spilled[s.sets.Find(web)] = true
	}
	for _, x := range s.alone {
		web := s.sets.Find(x.web)
		if together[web] || !spilled[web] {
			continue
		}
		t, ok := names[web]
		if !ok {
			t = s.f.NewValue(1, vreg.General)
			names[web] = t
		}
		*x.arg = mir.ValueWords(t, 0, 1)
	}
}
