package regalloc

import (
	"maps"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Accumulators that share registers. Where those of all products do not fit, two take the same registers in turn, and
// the one in them is moved out of the way whole:
//
//	STL [R1+0x100], R24       what was multiplied last
//	LDL R24, [R1]             what is multiplied now
//	HGMMA R24, …
//
// Evidence is machine code (12.8, sm_90a) of six programs with tiles of 128 by 256 results for 4 warps. They are of
// wgrad_desc_kernel, linear_relu2_kernel and bmm_bias_gelu (h100-2026-11-26-triton-wgmma-a, h100-2026-11-27-triton-wgmma-c).
// With four accumulators of 64 words the last takes the registers of the first, and an iteration stores 128 words and
// loads 128. With two of 128 it is 186 and 254 words.

// Where paths meet both are in memory, so that a loop starts and ends with a move.

// sharer is ShareGroups under way. A unit is a word of a value, as in belady.go.
type sharer struct {
	f      *mir.Func
	home   map[vreg.Value]vreg.Value // of the values of both groups: whose registers they take
	slot   map[vreg.Value]int16      // place in the spill area, in words
	saved  map[int]bool              // units that memory holds as they are
	exit   []map[int]int             // by block: owner at its end
	owner  map[int]int               // by the unit whose register it is: the unit in it
	events map[int][]event
	out    []mir.Inst
}

// event is where a block reads a unit, or writes it without reading it.
type event struct {
	at   int
	read bool
}

// ShareGroups gives the last accumulators the registers of the first that have as many, and reports whether there are
// such, and no instruction needs both at once. Liveness must be up to date, and is not afterwards.
func ShareGroups(f *mir.Func) bool {
	guest := len(f.Groups) - 1
	if guest < 1 {
		return false
	}
	host := slices.IndexFunc(f.Groups[:guest], func(g []vreg.Value) bool {
		return slices.EqualFunc(g, f.Groups[guest], func(a, b vreg.Value) bool { return f.Values[a].Words == f.Values[b].Words })
	})
	if host < 0 {
		return false
	}
	s := &sharer{f: f, home: map[vreg.Value]vreg.Value{}, slot: map[vreg.Value]int16{}, exit: make([]map[int]int, len(f.Blocks))}
	for i, v := range f.Groups[host] {
		s.home[v], s.home[f.Groups[guest][i]] = v, v
	}
	if s.together() {
		return false
	}
	for _, b := range f.Order {
		s.block(b)
	}
	f.Groups = slices.Clone(f.Groups[:guest])
	return true
}

// together reports whether an instruction names two units of one register.
func (s *sharer) together() bool {
	both := false
	for _, b := range s.f.Order {
		for i := range s.f.Blocks[b].Insts {
			in, unit := &s.f.Blocks[b].Insts[i], map[int]int{}
			note := func(u, r int) {
				old, known := unit[r]
				both = both || known && old != u
				unit[r] = u
			}
			in.EachRead(func(v vreg.Value, mask uint8) { s.words(v, mask, note) })
			in.EachWrite(func(a *mir.Arg) { s.words(a.Value, a.WordMask(), note) })
		}
	}
	return both
}

// block walks a block forwards.
func (s *sharer) block(b int) {
	insts := s.f.Blocks[b].Insts
	s.owner, s.saved = map[int]int{}, map[int]bool{}
	if p := s.f.Blocks[b].Preds; len(p) == 1 && s.exit[p[0]] != nil {
		s.owner = maps.Clone(s.exit[p[0]])
	}
	s.findEvents(insts)
	s.out = make([]mir.Inst, 0, len(insts)+16)
	end := len(insts)
	for end > 0 && mir.IsBranch(insts[end-1].Op) {
		end--
	}
	for i := range insts {
		if i == end {
			s.leave(b)
		}
		in := insts[i]
		in.EachRead(func(v vreg.Value, mask uint8) {
			s.words(v, mask, func(u, r int) { s.take(u, r, i, b, true) })
		})
		in.EachWrite(func(a *mir.Arg) {
			s.words(a.Value, a.WordMask(), func(u, r int) {
				s.take(u, r, i, b, false)
				s.saved[u] = false
			})
		})
		s.rename(&in)
		s.out = append(s.out, in)
	}
	if end == len(insts) {
		s.leave(b)
	}
	s.f.Blocks[b].Insts, s.exit[b] = s.out, s.owner
}

// leave stores what blocks that others lead to, too, find in memory.
func (s *sharer) leave(b int) {
	for _, t := range s.f.Blocks[b].Succs {
		if len(s.f.Blocks[t].Preds) == 1 {
			continue
		}
		for _, r := range slices.Sorted(maps.Keys(s.owner)) {
			if u := s.owner[r]; !s.saved[u] && liveIn(s.f.Live.In[t], u) {
				s.saved[u] = true
				s.access(mir.OpSTL, u)
			}
		}
	}
}

func liveIn(live []uint8, u int) bool { return live[u/vreg.MaxWords]>>(u%vreg.MaxWords)&1 != 0 }

// take has a unit in its register, for an instruction that reads it or only writes it.
func (s *sharer) take(u, r, at, b int, read bool) {
	old, known := s.owner[r]
	s.owner[r] = u
	if known && old == u {
		return
	}
	if known && !s.saved[old] && s.live(old, at, b) {
		s.saved[old] = true
		s.access(mir.OpSTL, old)
	}
	if read {
		s.saved[u] = true
		s.access(mir.OpLDL, u)
	}
}

// live reports whether what a unit holds before an instruction is read by it or after it.
func (s *sharer) live(u, at, b int) bool {
	for _, e := range s.events[u] {
		if e.at >= at {
			return e.read
		}
	}
	return liveIn(s.f.Live.Out[b], u)
}

// findEvents finds the events of a block, by unit.
func (s *sharer) findEvents(insts []mir.Inst) {
	s.events = map[int][]event{}
	for i := range insts {
		insts[i].EachRead(func(v vreg.Value, mask uint8) {
			s.words(v, mask, func(u, _ int) { s.events[u] = append(s.events[u], event{i, true}) })
		})
		insts[i].EachWrite(func(a *mir.Arg) {
			s.words(a.Value, a.WordMask(), func(u, _ int) {
				if l := s.events[u]; len(l) == 0 || l[len(l)-1].at < i {
					s.events[u] = append(l, event{i, false})
				}
			})
		})
	}
}

// words calls do for the units of a value of either group, with the unit whose register it takes.
func (s *sharer) words(v vreg.Value, mask uint8, do func(u, r int)) {
	home, ok := s.home[v]
	if !ok {
		return
	}
	for w := range vreg.MaxWords {
		if mask>>w&1 != 0 {
			do(int(v)*vreg.MaxWords+w, int(home)*vreg.MaxWords+w)
		}
	}
}

// access appends a load or store of a unit.
func (s *sharer) access(op mir.Op, u int) {
	v := vreg.Value(u / vreg.MaxWords)
	slot, ok := s.slot[v]
	if !ok {
		slot = int16(s.f.Spills.Bytes / 4)
		s.slot[v] = slot
		s.f.Spills.Bytes += 4 * int(s.f.Values[v].Words)
	}
	slot += int16(u % vreg.MaxWords)
	in := mir.NewControl(op)
	in.Width, in.SpillSlot, in.MemOffset, in.Space = 4, slot, int64(slot)*4, ir.Local
	word := mir.ValueWords(s.home[v], uint8(u%vreg.MaxWords), 1)
	if op == mir.OpLDL {
		in.Dst[0] = word
		s.f.Spills.Loads++
	} else {
		in.Src[0], in.NSrc = word, 1
		s.f.Spills.Stores++
	}
	s.out = append(s.out, in)
}

// rename has an instruction name the values whose registers are taken.
func (s *sharer) rename(in *mir.Inst) {
	in.Acc = slices.Clone(in.Acc)
	for _, list := range [][]mir.Arg{in.Dst[:], in.Src[:], in.Acc} {
		for i := range list {
			if home, ok := s.home[list[i].Value]; ok && list[i].Kind == mir.ArgValue {
				list[i].Value = home
			}
		}
	}
}
