package mir

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Accumulators of warpgroups' products.

// Group makes values adjacent registers, in order.
func (f *Func) Group(vals []vreg.Value) {
	f.Groups = append(f.Groups, vals)
	for _, v := range vals {
		for int(v) >= len(f.grouped) {
			f.grouped = append(f.grouped, false)
		}
		f.grouped[v] = true
	}
}

// IsGrouped reports whether a value is one of accumulators.
func (f *Func) IsGrouped(v vreg.Value) bool { return int(v) < len(f.grouped) && f.grouped[v] }

// Accumulates reports whether instruction i of the packed ones reads or writes accumulators.
func (f *Func) Accumulates(o *Operands, i int32) bool {
	if len(f.Groups) == 0 {
		return false
	}
	for _, r := range o.Reads(i) {
		if f.IsGrouped(r.Value) {
			return true
		}
	}
	for _, w := range o.Writes(i) {
		if f.IsGrouped(w.Value) {
			return true
		}
	}
	return false
}

// FirstAccumulator is the first register that accumulators of warpgroups' products take, where there
// is room (regalloc/groups.go).
const FirstAccumulator = 24

// Needed is Pressure with accumulators in their place: while any is live, the registers before them
// are taken or lie idle.
func (f *Func) Needed() int {
	if len(f.Groups) == 0 {
		return f.Pressure()
	}
	return f.NeededIn(func(int) bool { return true })
}

// NeededIn is Needed of some blocks.
func (f *Func) NeededIn(in func(b int) bool) int {
	most := 0
	cur := make([]uint8, len(f.Values))
	for _, b := range f.Order {
		if !in(b) {
			continue
		}
		copy(cur, f.Live.Out[b])
		acc, n := 0, 0
		for v, m := range cur {
			w := int(WordCount[m&f.GeneralMask(vreg.Value(v))])
			if n += w; f.IsGrouped(vreg.Value(v)) {
				acc += w
			}
		}
		insts := f.Blocks[b].Insts
		for j := len(insts) - 1; j >= 0; j-- {
			in := &insts[j]
			at := n
			in.EachWrite(func(a *Arg) { at += int(WordCount[a.WordMask()&^cur[a.Value]&f.GeneralMask(a.Value)]) })
			most = max(most, at, withAccumulators(n, acc))
			before := f.groupedWords(in, cur)
			n += f.StepCount(in, cur)
			acc += f.groupedWords(in, cur) - before
		}
		most = max(most, withAccumulators(n, acc))
	}
	return most
}

// withAccumulators is the registers that n live words take, acc of them accumulators.
func withAccumulators(n, acc int) int {
	if acc == 0 {
		return n
	}
	return max(n-acc, FirstAccumulator) + acc
}

// groupedWords counts the live words of the accumulators that an instruction mentions, each operand
// once.
func (f *Func) groupedWords(in *Inst, live []uint8) (n int) {
	var seen [16]vreg.Value
	told := seen[:0]
	count := func(v vreg.Value) {
		if f.IsGrouped(v) && !slices.Contains(told, v) {
			told = append(told, v)
			n += int(WordCount[live[v]])
		}
	}
	in.EachRead(func(v vreg.Value, _ uint8) { count(v) })
	in.EachWrite(func(a *Arg) { count(a.Value) })
	return n
}
