package regalloc

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/disjoint"
)

// Webs: the definitions of a variable that reach common uses (Muchnick, "Advanced Compiler Design
// and Implementation", 1997, section 16.3). Definitions that share no use need not share a
// register. Spilling leaves many webs, as each reload starts one.

// SplitWebs gives every web of a one-word value a name of its own. The liveness of the program must
// be up to date.
func SplitWebs(f *mir.Func) {
	n := len(f.Values)
	split := make([]bool, n)
	for v, c := range countWrites(f) {
		split[v] = c > 1 && f.Values[v].File == vreg.General && f.Values[v].Words == 1 && !f.IsGrouped(vreg.Value(v))
	}
	w := webs{f: f, split: split}
	w.in, w.out, w.first = make([][]int32, len(f.Blocks)), make([][]int32, len(f.Blocks)), make([]int32, len(f.Blocks))
	for _, b := range f.Order {
		w.in[b] = make([]int32, n)
		for v, m := range f.Live.In[b] {
			w.in[b][v] = -1
			if m != 0 && split[v] {
				w.in[b][v] = w.sets.Add()
			}
		}
		w.walk(b, false)
	}
	for _, b := range f.Order {
		for _, t := range f.Blocks[b].Succs {
			for v, id := range w.in[t] {
				if id >= 0 && w.out[b][v] >= 0 {
					w.sets.Join(id, w.out[b][v])
				}
			}
		}
	}
	w.names = map[int32]vreg.Value{}
	for _, b := range f.Order {
		w.walk(b, true)
	}
}

// countWrites counts the instructions that write each value.
func countWrites(f *mir.Func) []int {
	out := make([]int, len(f.Values))
	for _, b := range f.Order {
		for i := range f.Blocks[b].Insts {
			in := &f.Blocks[b].Insts[i]
			for k := range in.Dst {
				if a := &in.Dst[k]; a.Kind == mir.ArgValue {
					out[a.Value]++
				}
			}
		}
	}
	return out
}

// webs numbers the webs of the values in split and joins those that meet.
type webs struct {
	f       *mir.Func
	split   []bool
	sets    disjoint.Sets
	in, out [][]int32 // by block and value: its web at the start, -1 none
	cur     []int32
	first   []int32 // by block: the web of its first definition
	count   int32   // web of the next definition, on the second walk
	names   map[int32]vreg.Value
}

// name is the value that a web goes by.
func (w *webs) name(v vreg.Value, id int32) vreg.Value {
	id = w.sets.Find(id)
	if t, ok := w.names[id]; ok {
		return t
	}
	t := w.f.NewValue(1, vreg.General)
	w.f.Values[t].Remat = w.f.Values[v].Remat
	w.names[id] = t
	return t
}

// walk follows the webs through block b. It numbers them or, with rename, renames their operands.
func (w *webs) walk(b int, rename bool) {
	insts := w.f.Blocks[b].Insts
	if rename {
		insts = append([]mir.Inst(nil), insts...)
		w.f.Blocks[b].Insts = insts
	}
	w.cur = append(w.cur[:0], w.in[b]...)
	if !rename {
		w.first[b] = int32(len(w.sets))
	}
	w.count = w.first[b]
	for i := range insts {
		in := &insts[i]
		if rename {
			for k := range in.Src[:in.NSrc] {
				w.use(&in.Src[k])
			}
		}
		for k := range in.Dst {
			a := &in.Dst[k]
			if a.Kind != mir.ArgValue || int(a.Value) >= len(w.split) || !w.split[a.Value] {
				continue
			}
			if !in.KeepsOld || w.cur[a.Value] < 0 {
				w.cur[a.Value] = w.number(rename)
			}
			if rename {
				a.Value = w.name(a.Value, w.cur[a.Value])
			}
		}
	}
	if !rename {
		w.out[b] = append([]int32(nil), w.cur...)
	}
}

// number is the web of a definition: a new one, or on the second walk the same again.
func (w *webs) number(again bool) int32 {
	if !again {
		return w.sets.Add()
	}
	w.count++
	return w.count - 1
}

// use renames an operand to its web.
func (w *webs) use(a *mir.Arg) {
	if a.Kind == mir.ArgValue && int(a.Value) < len(w.split) && w.split[a.Value] && w.cur[a.Value] >= 0 {
		a.Value = w.name(a.Value, w.cur[a.Value])
	}
}
