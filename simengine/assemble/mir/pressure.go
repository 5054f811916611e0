package mir

import (
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// GeneralMask is the words of v that take general registers.
func (f *Func) GeneralMask(v vreg.Value) uint8 {
	if f.Values[v].File != vreg.General {
		return 0
	}
	return 1<<f.Values[v].Words - 1
}

// GeneralWords is the number of general registers that v takes.
func (f *Func) GeneralWords(v vreg.Value) int { return int(WordCount[f.GeneralMask(v)]) }

// WordCount is the number of words in a mask.
var WordCount = func() (n [256]int8) {
	for m := range n {
		n[m] = n[m/2] + int8(m&1)
	}
	return n
}()

// Pressure is the largest number of general registers live at any point of the program.
func (f *Func) Pressure() int {
	most := 0
	cur := make([]uint8, len(f.Values))
	for _, b := range f.Order {
		most = max(most, f.BlockPressure(b, cur, f.Blocks[b].Insts))
	}
	return most
}

// BlockPressure is the largest number of general registers live at any point of block b, if its
// instructions are insts. cur is scratch of one byte a value.
func (f *Func) BlockPressure(b int, cur []uint8, insts []Inst) int {
	copy(cur, f.Live.Out[b])
	n := 0
	for v, m := range cur {
		n += int(WordCount[m&f.GeneralMask(vreg.Value(v))])
	}
	most := n
	for j := len(insts) - 1; j >= 0; j-- {
		in := &insts[j]
		// A result that nothing reads still takes a register where it is defined.
		at := n
		in.EachWrite(func(a *Arg) { at += int(WordCount[a.WordMask()&^cur[a.Value]&f.GeneralMask(a.Value)]) })
		most = max(most, at)
		n += f.StepCount(in, cur)
		most = max(most, n)
	}
	return most
}

// StepCount is Inst.Step, and returns the change of the number of live general registers.
func (f *Func) StepCount(in *Inst, live []uint8) int {
	d := 0
	if !in.KeepsOld {
		for i := range in.Dst {
			if a := &in.Dst[i]; a.Kind == ArgValue {
				d -= int(WordCount[a.WordMask()&live[a.Value]&f.GeneralMask(a.Value)])
				live[a.Value] &^= a.WordMask()
			}
		}
	}
	if in.AccNew {
		for i := range in.Acc {
			a := &in.Acc[i]
			d -= int(WordCount[a.WordMask()&live[a.Value]&f.GeneralMask(a.Value)])
			live[a.Value] &^= a.WordMask()
		}
	}
	add := func(v vreg.Value, m uint8) {
		d += int(WordCount[m&^live[v]&f.GeneralMask(v)])
		live[v] |= m
	}
	in.EachRead(add)
	return d
}
