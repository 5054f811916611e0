package assemble

import "slices"

// On Hopper and later a constant comes to a uniform register before an instruction reads it. A
// block whose constants find room there all together has them at hand, and its order costs
// general registers only. One that has more loads them as its instructions come to need them, and an order
// that uses each value up before the next keeps constants instead: there a word of a constant counts as
// much as any other. ptxas 13.0.88 so takes 31 registers for sm_90 where four filters of 54 constants
// share their inputs and 56 where they have 56 (31 and 62 with 70 and 72 constants for sm_100, 39 and 62 for sm_120); for
// sm_86, which reads constants in place, 39 or 40 whatever their number. With weights that are immediates it takes 32 at most, with
// weights in shared memory what the program's order needs, for all of them (deploy/calibrate/filters.py).

// loaded are constants of a word that a block brings to uniform registers.
type loaded []value

// crowdedConstants lists a block's constants, none if uniform registers hold them all.
func (f *mfn) crowdedConstants(b int) loaded {
	if f.t.constOperand {
		return nil
	}
	var list loaded
	insts := f.blocks[b].insts
	for i := range insts {
		in := &insts[i]
		if in.op != opULDC && in.op != opULDCX || in.dst[0].kind != argValue {
			continue
		}
		if v := in.dst[0].v; f.vals[v].file == fileUniform && f.live.out[b][v] == 0 {
			list = append(list, v)
		}
	}
	if 4*len(list) <= f.t.uniformConstants {
		return nil // a value has four words at most
	}
	list = slices.DeleteFunc(list, func(v value) bool { return !readByWords(insts, v) })
	words := 0
	for _, v := range list {
		words += int(f.vals[v].words)
	}
	if words <= f.t.uniformConstants {
		return nil
	}
	return list
}

// readByWords says whether an instruction takes one word of a value: addresses are
// taken whole.
func readByWords(insts []inst, v value) bool {
	for i := range insts {
		for _, a := range insts[i].src[:insts[i].nsrc] {
			if a.kind == argValue && a.v == v {
				return a.n == 1
			}
		}
	}
	return false
}

// crowdsConstants says whether a block has more constants than uniform registers hold. Loads do not go
// ahead there into the rest of an occupancy step, as they wait for constants: ptxas takes what the
// order needs (78, 87 and 91 registers with 88, 104 and 112 constants for sm_90, of the same filters).
func (f *mfn) crowdsConstants() bool {
	return slices.ContainsFunc(f.order, func(b int) bool { return f.crowdedConstants(b) != nil })
}

// among is the words counted, those of the constants with them.
func (c loaded) among(counted []uint8) []uint8 {
	if c == nil {
		return counted
	}
	out := slices.Clone(counted)
	for _, v := range c {
		out[v] = 1<<4 - 1
	}
	return out
}

// holds says whether uniform registers hold the constants that live at the same time in an order
// of a block, or fewer than in its own.
func (f *mfn) holds(c loaded, b int, g *dag, order []int32, s *scratch) bool {
	if c == nil {
		return true
	}
	alone := c.among(make([]uint8, len(s.general)))
	most := f.orderPressure(b, &g.ops, order, 0, alone, s)
	return most <= f.t.uniformConstants || most <= f.orderPressure(b, &g.ops, nil, 0, alone, s)
}
