package mir

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Operand is a value that an instruction reads or writes, and which of its words.
type Operand struct {
	Value vreg.Value
	Mask  uint8
}

// Operands lists what the instructions of a block read and write, packed. The scheduler walks them
// dozens of times, and an Inst takes three cache lines.
type Operands struct {
	Uses, Defs     []Operand
	useEnd, defEnd []int32 // end of each instruction's part
	Flags          []flags
}

// flags are other properties of an instruction that scheduling and allocation need.
type flags uint8

const (
	KeepsOld  flags = 1 << iota // Inst.KeepsOld
	ReadsLate                   // reads its sources some cycles after it issues
)

// Fill packs the operands of a block into the storage of o.
func (o Operands) Fill(insts []Inst) Operands {
	n := len(insts)
	o.Uses, o.Defs = slices.Grow(o.Uses[:0], 3*n), slices.Grow(o.Defs[:0], n)
	o.useEnd, o.defEnd = slices.Grow(o.useEnd[:0], n)[:n], slices.Grow(o.defEnd[:0], n)[:n]
	o.Flags = slices.Grow(o.Flags[:0], n)[:n]
	for i := range insts {
		in := &insts[i]
		o.Uses = in.appendReads(o.Uses)
		for k := range in.Dst {
			if a := &in.Dst[k]; a.Kind == ArgValue {
				o.Defs = append(o.Defs, Operand{a.Value, a.WordMask()})
			}
		}
		for k := range in.Acc {
			o.Defs = append(o.Defs, Operand{in.Acc[k].Value, in.Acc[k].WordMask()})
		}
		o.useEnd[i], o.defEnd[i], o.Flags[i] = int32(len(o.Uses)), int32(len(o.Defs)), 0
		if in.KeepsOld {
			o.Flags[i] |= KeepsOld
		}
		if in.readsLate() {
			o.Flags[i] |= ReadsLate
		}
	}
	return o
}

// appendReads appends what an instruction reads.
func (in *Inst) appendReads(out []Operand) []Operand {
	for i := range in.Src[:in.NSrc] {
		if a := &in.Src[i]; a.Kind == ArgValue {
			out = append(out, Operand{a.Value, a.WordMask()})
		}
	}
	if in.Guard != vreg.None {
		out = append(out, Operand{in.Guard, 1})
	}
	if in.KeepsOld {
		for i := range in.Dst {
			if a := &in.Dst[i]; a.Kind == ArgValue {
				out = append(out, Operand{a.Value, a.WordMask()})
			}
		}
	}
	if !in.AccNew {
		for i := range in.Acc {
			out = append(out, Operand{in.Acc[i].Value, in.Acc[i].WordMask()})
		}
	}
	return out
}

// Reads returns what instruction i reads.
func (o *Operands) Reads(i int32) []Operand {
	if i == 0 {
		return o.Uses[:o.useEnd[0]]
	}
	return o.Uses[o.useEnd[i-1]:o.useEnd[i]]
}

// Writes returns what instruction i writes.
func (o *Operands) Writes(i int32) []Operand {
	if i == 0 {
		return o.Defs[:o.defEnd[0]]
	}
	return o.Defs[o.defEnd[i-1]:o.defEnd[i]]
}

// CopyLive copies the live words of the values that o mentions.
func (o *Operands) CopyLive(to, from []uint8) {
	for _, u := range o.Uses {
		to[u.Value] = from[u.Value]
	}
	for _, d := range o.Defs {
		to[d.Value] = from[d.Value]
	}
}
