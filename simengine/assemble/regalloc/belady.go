package regalloc

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Spilling word by word, the word whose next use is farthest first (Belady, 1966; for code with
// branches after Braun and Hack, "Register Spilling and Live-Range Splitting for SSA-Form
// Programs", CC 2009).
//
// A unit is one word of a value, numbered 4 times the value plus the word. Each block is walked
// forwards with the set of units in registers:
//
//	enterBlock   what the blocks before leave in registers (spilledges.go)
//	reload       operands that are in memory; the farthest next use is evicted for them
//	define       results; the farthest next use is evicted for them
//	exitBlock    what stays in registers for the blocks after
//
// A unit is stored when it is evicted, unless memory holds it. A reload gives it a new value, a
// copy, that lasts until the unit is evicted again or has to stand beside the other words of its
// vector.
//
// Evidence, ptxas corpus: the words of one vector load leave and come back one by one; what a loop
// has updated leaves first, and its last results stay in registers for the next turn.

// spiller keeps at most k units in registers.
type spiller struct {
	f      *mir.Func
	k      int
	nu     *nextUses
	slot   map[int]int16           // by unit: its place in the spill area, in words
	remat  map[vreg.Value]mir.Inst // values that are defined again instead of reloaded
	entry  []regState              // by block: what its start finds
	exit   []regState              // by block: what its end leaves
	holder []vreg.Value            // by unit: the value that holds it now, its own or a copy
	next   []int32                 // by unit: its next use, counted from the start of the block
	since  []int32                 // by unit: when it came into a register
	kept   []int32                 // by unit: what keep was when it had to stay
	keep   int32                   // numbers sets of units that have to stay
	now    int32                   // counts what since records
	w      sparseSet[int]          // units in registers
	absent []int                   // operands that are not in registers
	saved  []bool                  // by unit: memory holds it
	out    []mir.Inst              // instructions of the block so far
	copies map[vreg.Value]unitRef  // copies that are renamed to the unit itself
}

// unitRef names a word of a value.
type unitRef struct {
	v vreg.Value
	w uint8
}

// Uses is what spilling knows of a program, however many registers there are.
type Uses struct {
	next  *nextUses
	remat map[vreg.Value]mir.Inst
}

// FindUses returns the uses of a program's values.
func FindUses(f *mir.Func) *Uses {
	all := make([]bool, len(f.Values))
	for v := range all {
		all[v] = f.Values[v].File == vreg.General && f.Values[v].Words == 1
	}
	return &Uses{findNextUses(f), rematDefs(f, all)}
}

// SpillTo rewrites the program, whose uses are given, so that at most k general registers are live at any point, as
// far as single instructions allow.
func SpillTo(f *mir.Func, uses *Uses, k int) {
	n := 4 * len(f.Values)
	s := &spiller{f: f, k: k, nu: uses.next, remat: uses.remat, slot: map[int]int16{}, entry: make([]regState, len(f.Blocks)), exit: make([]regState, len(f.Blocks)),
		holder: make([]vreg.Value, n), next: make([]int32, n), since: make([]int32, n), kept: make([]int32, n), w: newSparseSet[int](n), saved: make([]bool, n)}
	for _, b := range f.Order {
		s.block(b)
	}
	for _, b := range f.Order {
		for _, t := range f.Blocks[b].Succs {
			s.connect(b, t)
		}
	}
}

// block rewrites one block.
func (s *spiller) block(b int) {
	f := s.f
	insts := f.Blocks[b].Insts
	s.enterBlock(b)
	uses := &blockUses{reads: make([][]unitUse, len(insts)), writes: make([][]unitUse, len(insts))}
	for u, d := range s.nu.out[b] {
		s.next[u] = neverUsed
		if d < neverUsed {
			s.next[u] = afterBlock
		}
	}
	backUses(f, b, s.next, uses)
	s.out = make([]mir.Inst, 0, len(insts)+16)
	s.copies = map[vreg.Value]unitRef{}
	for u := range s.holder {
		s.holder[u] = vreg.Value(u / 4)
	}
	for i := range insts {
		in := insts[i]
		s.reload(&in, uses.reads[i])
		for _, r := range uses.reads[i] {
			s.next[r.unit] = r.next
		}
		s.rename(&in)
		for u := len(s.w.list) - 1; u >= 0; u-- {
			if x := s.w.list[u]; s.next[x] >= neverUsed {
				s.w.remove(x)
			}
		}
		s.define(&in, uses.writes[i])
		s.out = append(s.out, in)
	}
	s.exitBlock(b)
}

// reload loads the operands of an instruction that are not in registers.
func (s *spiller) reload(in *mir.Inst, reads []unitUse) {
	s.keep++
	absent := s.absent[:0]
	for _, r := range reads {
		s.kept[r.unit] = s.keep
		if !s.w.has(r.unit) {
			absent = append(absent, r.unit)
		}
	}
	s.absent = absent
	s.evictTo(s.k - len(absent))
	for _, u := range absent {
		s.load(u)
	}
	// The words of an operand of several must be in adjacent registers.
	for i := range in.Src[:in.NSrc] {
		if a := &in.Src[i]; a.Kind == mir.ArgValue && a.N > 1 {
			eachUnit(s.f, a.Value, a.WordMask(), s.unifyCopy)
		}
	}
	if in.KeepsOld {
		for i := range in.Dst {
			if a := &in.Dst[i]; a.Kind == mir.ArgValue {
				eachUnit(s.f, a.Value, a.WordMask(), s.unifyCopy)
			}
		}
	}
	if !in.AccNew {
		for i := range in.Acc {
			eachUnit(s.f, in.Acc[i].Value, in.Acc[i].WordMask(), s.unifyCopy)
		}
	}
}

// unifyCopy renames the copy that holds a unit to the unit itself.
func (s *spiller) unifyCopy(u int) {
	if p := s.holder[u]; p != vreg.Value(u/4) {
		s.copies[p] = unitRef{vreg.Value(u / 4), uint8(u % 4)}
		s.holder[u] = vreg.Value(u / 4)
	}
}

// define makes room for the results of an instruction.
func (s *spiller) define(in *mir.Inst, writes []unitUse) {
	s.keep++
	added := 0
	for _, d := range writes {
		s.kept[d.unit] = s.keep
		if !s.w.has(d.unit) {
			added++
		}
	}
	s.evictTo(s.k - added)
	for _, d := range writes {
		s.next[d.unit] = d.next
		s.saved[d.unit] = false
		s.holder[d.unit] = vreg.Value(d.unit / 4)
		s.stamp(d.unit)
		if d.next < neverUsed {
			s.w.add(d.unit)
		} else {
			s.w.remove(d.unit)
		}
	}
}

// evictTo evicts units, the farthest next use first, until k are left. Those to keep stay.
func (s *spiller) evictTo(k int) {
	for len(s.w.list) > k {
		worst := -1
		for _, u := range s.w.list {
			if s.kept[u] != s.keep && (worst < 0 || s.next[u] > s.next[worst] || s.next[u] == s.next[worst] && (s.since[u] < s.since[worst] || s.since[u] == s.since[worst] && u < worst)) {
				worst = u
			}
		}
		if worst < 0 {
			return // the instruction alone needs more
		}
		s.store(worst)
		s.w.remove(worst)
	}
}

// store writes a unit to memory unless memory holds it or it can be defined again.
func (s *spiller) store(u int) {
	if s.saved[u] || s.next[u] >= neverUsed {
		return
	}
	s.saved[u] = true
	if _, ok := s.remat[vreg.Value(u/4)]; ok {
		return
	}
	s.f.Spills.Stores++
	a := mir.ValueWords(s.holder[u], uint8(u%4), 1)
	if s.holder[u] != vreg.Value(u/4) {
		a.Word = 0
	}
	s.out = append(s.out, s.access(mir.OpSTL, a, u))
}

// load brings a unit into a register of its own.
func (s *spiller) load(u int) {
	t := s.f.NewValue(1, vreg.General)
	s.holder[u] = t
	s.w.add(u)
	s.stamp(u)
	if d, ok := s.remat[vreg.Value(u/4)]; ok {
		d.Dst[0] = mir.ValueWords(t, 0, 1)
		s.out = append(s.out, d)
		return
	}
	s.f.Spills.Loads++
	s.out = append(s.out, s.access(mir.OpLDL, mir.ValueWords(t, 0, 1), u))
}

// stamp notes that a unit comes into a register now.
func (s *spiller) stamp(u int) {
	s.now++
	s.since[u] = s.now
}

// access is a load or store of a unit's place in the spill area.
func (s *spiller) access(op mir.Op, a mir.Arg, u int) mir.Inst {
	slot, ok := s.slot[u]
	if !ok {
		slot = int16(s.f.Spills.Bytes / 4)
		s.slot[u] = slot
		s.f.Spills.Bytes += 4
	}
	in := mir.NewControl(op)
	in.Width, in.SpillSlot, in.MemOffset, in.Space = 4, slot, int64(slot)*4, ir.Local
	if op == mir.OpLDL {
		in.Dst[0] = a
	} else {
		in.Src[0], in.NSrc = a, 1
	}
	return in
}

// rename points one-word operands at the values that hold them.
func (s *spiller) rename(in *mir.Inst) {
	for i := range in.Src[:in.NSrc] {
		a := &in.Src[i]
		if a.Kind == mir.ArgValue && a.N == 1 && s.f.Values[a.Value].File == vreg.General {
			if p := s.holder[unitOf(a.Value, a.Word)]; p != a.Value {
				a.Value, a.Word = p, 0
			}
		}
	}
}

// resolve points an operand that names a copy at the unit itself, if the copy was unified.
func (s *spiller) resolve(a *mir.Arg) {
	if a.Kind != mir.ArgValue {
		return
	}
	if r, ok := s.copies[a.Value]; ok {
		a.Value, a.Word = r.v, r.w
	}
}
