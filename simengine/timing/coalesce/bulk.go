package coalesce

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// Async implements exec.AsyncObserver. What a bulk copy reads or writes of device memory is an access of the same
// instruction, of one lane: its lines in the order of shared memory, a line that two ranges in a row touch once.
func (r *Recorder) Async(warp int, a trace.Async, ranges []trace.Range) {
	w := &r.cta.Warps[warp]
	w.Asyncs = append(w.Asyncs, a)
	if len(ranges) == 0 {
		return
	}
	in := &r.kernel.Instrs[a.PC]
	store := in.Bulk != nil && in.Bulk.To == ir.Global && in.Bulk.From != ir.Global
	first := len(w.Lines)
	for _, b := range ranges {
		w.Lines = appendRange(w.Lines, first, b, store)
	}
	one := trace.Access{PC: a.PC, Space: ir.Global, Mask: 1, First: int32(first), NLines: uint16(len(w.Lines) - first), MaxSame: 1}
	for _, l := range w.Lines[first:] {
		one.Sectors += uint16(bits.OnesCount8(l.Sectors))
	}
	w.Accesses = append(w.Accesses, one)
}

// maxBulkLines is the most lines of an access, whose sectors fit into Access.Sectors. No copy to or from shared memory
// has as many; of a prefetch of more than 2 MB the first ones count.
const maxBulkLines = (1<<16 - 1) / 4

// appendRange adds the lines of bytes of device memory to those from first on, up to maxBulkLines. Of a store they are
// written.
func appendRange(lines []trace.Line, first int, b trace.Range, store bool) []trace.Line {
	for addr, n := b.Addr, max(b.Bytes, 0); n > 0 && len(lines)-first < maxBulkLines; {
		in := int(addr % lineBytes)
		part := min(n, lineBytes-in)
		l := trace.Line{Addr: addr >> lineShift, Sectors: 1<<((in+part-1)>>sectorShift+1) - 1<<(in>>sectorShift)}
		if store {
			from, to := (in+sectorBytes-1)>>sectorShift, (in+part)>>sectorShift
			if to > from {
				l.Full = 1<<to - 1<<from
			}
		}
		if k := len(lines) - 1; k >= first && lines[k].Addr == l.Addr {
			lines[k].Sectors |= l.Sectors
			lines[k].Full |= l.Full
		} else {
			lines = append(lines, l)
		}
		addr += uint64(part)
		n -= part
	}
	return lines
}
