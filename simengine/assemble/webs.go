package assemble

import "github.com/warptune/warptune/simengine/disjoint"

// splitWebs gives every web of a one-word value a name of its own: definitions
// that share no use need not share a register. Spilling leaves many, as each
// load back starts one. It needs the liveness of the program.
func (f *mfn) splitWebs() {
	n := len(f.vals)
	split := make([]bool, n)
	for v, c := range f.countWrites() {
		split[v] = c > 1 && f.vals[v].file == fileGeneral && f.vals[v].words == 1
	}
	w := webs{f: f, split: split}
	w.in, w.out, w.first = make([][]int32, len(f.blocks)), make([][]int32, len(f.blocks)), make([]int32, len(f.blocks))
	for _, b := range f.order {
		w.in[b] = make([]int32, n)
		for v, m := range f.live.in[b] {
			w.in[b][v] = -1
			if m != 0 && split[v] {
				w.in[b][v] = w.sets.Add()
			}
		}
		w.walk(b, false)
	}
	for _, b := range f.order {
		for _, t := range f.blocks[b].succs {
			for v, id := range w.in[t] {
				if id >= 0 && w.out[b][v] >= 0 {
					w.sets.Join(id, w.out[b][v])
				}
			}
		}
	}
	w.names = map[int32]value{}
	for _, b := range f.order {
		w.walk(b, true)
	}
}

// countWrites counts the instructions that write each value.
func (f *mfn) countWrites() []int {
	out := make([]int, len(f.vals))
	for _, b := range f.order {
		for i := range f.blocks[b].insts {
			in := &f.blocks[b].insts[i]
			for k := range in.dst {
				if a := &in.dst[k]; a.kind == argValue {
					out[a.v]++
				}
			}
		}
	}
	return out
}

// webs numbers the webs of some values and joins those that meet.
type webs struct {
	f       *mfn
	split   []bool
	sets    disjoint.Sets
	in, out [][]int32 // by block and value: its web, -1 none
	cur     []int32
	first   []int32 // by block: the web of its first definition
	count   int32   // of the next definition, on the second walk
	names   map[int32]value
}

// name is the value that a web goes by: the first one keeps the old name.
func (w *webs) name(v value, id int32) value {
	id = w.sets.Find(id)
	if t, ok := w.names[id]; ok {
		return t
	}
	t := w.f.newValue(1, fileGeneral)
	w.f.vals[t].remat = w.f.vals[v].remat
	w.names[id] = t
	return t
}

// walk follows the webs through a block: it numbers them, in program order, or
// renames their operands.
func (w *webs) walk(b int, rename bool) {
	insts := w.f.blocks[b].insts
	if rename {
		insts = append([]inst(nil), insts...)
		w.f.blocks[b].insts = insts
	}
	w.cur = append(w.cur[:0], w.in[b]...)
	if !rename {
		w.first[b] = int32(len(w.sets))
	}
	w.count = w.first[b]
	for i := range insts {
		in := &insts[i]
		if rename {
			for k := range in.src[:in.nsrc] {
				w.use(&in.src[k])
			}
		}
		for k := range in.dst {
			a := &in.dst[k]
			if a.kind != argValue || int(a.v) >= len(w.split) || !w.split[a.v] {
				continue
			}
			if !in.keeps || w.cur[a.v] < 0 {
				w.cur[a.v] = w.number(rename)
			}
			if rename {
				a.v = w.name(a.v, w.cur[a.v])
			}
		}
	}
	if !rename {
		w.out[b] = append([]int32(nil), w.cur...)
	}
}

// number is the web of a definition: a new one, or the same on the second walk.
func (w *webs) number(again bool) int32 {
	if !again {
		return w.sets.Add()
	}
	w.count++
	return w.count - 1
}

func (w *webs) use(a *arg) {
	if a.kind == argValue && int(a.v) < len(w.split) && w.split[a.v] && w.cur[a.v] >= 0 {
		a.v = w.name(a.v, w.cur[a.v])
	}
}
