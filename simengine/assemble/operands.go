package assemble

import "slices"

// operand is a value an instruction reads or writes, and which of its words.
type operand struct {
	v    value
	mask uint8
}

// operands lists what the instructions of a block read and write, packed: the
// scheduler walks them dozens of times, and an inst takes three cache lines.
type operands struct {
	uses, defs     []operand
	useEnd, defEnd []int32 // where each instruction's end
	flags          []flags
}

// flags are what else the scheduler and the allocation need of an instruction.
type flags uint8

const (
	keepsOld flags = 1 << iota // inst.keeps
	holds                      // inst.holdsSources
)

// fill packs the operands of a block into the storage of o.
func (o operands) fill(insts []inst) operands {
	n := len(insts)
	o.uses, o.defs = slices.Grow(o.uses[:0], 3*n), slices.Grow(o.defs[:0], n)
	o.useEnd, o.defEnd = slices.Grow(o.useEnd[:0], n)[:n], slices.Grow(o.defEnd[:0], n)[:n]
	o.flags = slices.Grow(o.flags[:0], n)[:n]
	for i := range insts {
		in := &insts[i]
		o.uses = in.appendReads(o.uses)
		for k := range in.dst {
			if a := &in.dst[k]; a.kind == argValue {
				o.defs = append(o.defs, operand{a.v, a.wordMask()})
			}
		}
		o.useEnd[i], o.defEnd[i], o.flags[i] = int32(len(o.uses)), int32(len(o.defs)), 0
		if in.keeps {
			o.flags[i] |= keepsOld
		}
		if in.holdsSources() {
			o.flags[i] |= holds
		}
	}
	return o
}

// appendReads appends what an instruction reads, as reads reports it.
func (in *inst) appendReads(out []operand) []operand {
	for i := range in.src[:in.nsrc] {
		if a := &in.src[i]; a.kind == argValue {
			out = append(out, operand{a.v, a.wordMask()})
		}
	}
	if in.guard != noValue {
		out = append(out, operand{in.guard, 1})
	}
	if in.keeps {
		for i := range in.dst {
			if a := &in.dst[i]; a.kind == argValue {
				out = append(out, operand{a.v, a.wordMask()})
			}
		}
	}
	return out
}

// reads returns what instruction i reads.
func (o *operands) reads(i int32) []operand {
	if i == 0 {
		return o.uses[:o.useEnd[0]]
	}
	return o.uses[o.useEnd[i-1]:o.useEnd[i]]
}

// writes returns what instruction i writes.
func (o *operands) writes(i int32) []operand {
	if i == 0 {
		return o.defs[:o.defEnd[0]]
	}
	return o.defs[o.defEnd[i-1]:o.defEnd[i]]
}

// copyLive copies what is live of the values that o mentions.
func (o *operands) copyLive(to, from []uint8) {
	for _, u := range o.uses {
		to[u.v] = from[u.v]
	}
	for _, d := range o.defs {
		to[d.v] = from[d.v]
	}
}
