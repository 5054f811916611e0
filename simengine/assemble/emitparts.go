package assemble

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// partWords is the most registers of an operand of a Wgmma or one of its parts.
const partWords = 8

// appendParts gives the last instruction of a list, a product, its first accumulators, and appends
// parts for the others, two operands each.
func appendParts(list []Instr, f *mir.Func, in *mir.Inst) []Instr {
	product := len(list) - 1
	part := list[product]
	part.Class, part.Src = mir.WgmmaPart, [4]RegSpan{}
	spans := accumulatorSpans(f, in)
	for i := 0; i < len(spans); i += 2 {
		if i > 0 {
			list = append(list, part)
		}
		p := &list[len(list)-1]
		for k, s := range spans[i:min(i+2, len(spans))] {
			p.Dst[k] = s
			if !in.AccNew {
				p.addSource(s)
			}
		}
	}
	return list
}

// addSource adds a source if there is room.
func (in *Instr) addSource(s RegSpan) {
	for i := range in.Src {
		if in.Src[i].Count == 0 {
			in.Src[i] = s
			return
		}
	}
}

// accumulatorSpans lists the accumulators of a product as registers, up to partWords in a span.
func accumulatorSpans(f *mir.Func, in *mir.Inst) (spans []RegSpan) {
	for i := range in.Acc {
		s := regSpan(f, &in.Acc[i])
		if n := len(spans); n > 0 && spans[n-1].First+Reg(spans[n-1].Count) == s.First && spans[n-1].Count+s.Count <= partWords {
			spans[n-1].Count += s.Count
			continue
		}
		spans = append(spans, s)
	}
	return spans
}
