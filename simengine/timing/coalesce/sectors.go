package coalesce

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/trace"
)

const (
	warpSize    = 32
	lineBytes   = 128
	sectorBytes = 32
	lineShift   = 7
	sectorShift = 5
)

// Lanes are the byte addresses of a warp's lanes.
type Lanes = [warpSize]uint64

// maxLines is the most lines one request can touch: 8 words of local memory
// for every lane.
const maxLines = 8 * warpSize

// Request is what one warp memory instruction asks of the L1: distinct lines
// in ascending order.
type Request struct {
	Lines  [maxLines]trace.Line
	N      int // lines used
	covers [maxLines][2]uint64
}

// Sectors is the number of distinct sectors of the request.
func (r *Request) Sectors() int {
	n := 0
	for i := range r.Lines[:r.N] {
		n += bits.OnesCount8(r.Lines[i].Sectors)
	}
	return n
}

// reset empties the request.
func (r *Request) reset() { r.N = 0 }

// line returns the index of the line with the given line address, inserted
// in order if it is new.
func (r *Request) line(addr uint64) int {
	i := r.N
	for i > 0 && r.Lines[i-1].Addr >= addr {
		i--
	}
	if i < r.N && r.Lines[i].Addr == addr {
		return i
	}
	copy(r.Lines[i+1:r.N+1], r.Lines[i:r.N])
	copy(r.covers[i+1:r.N+1], r.covers[i:r.N])
	r.Lines[i] = trace.Line{Addr: addr}
	r.covers[i] = [2]uint64{}
	r.N++
	return i
}

// touch adds bytes [addr, addr+n).
func (r *Request) touch(addr uint64, n int) {
	for n > 0 {
		in := int(addr & (lineBytes - 1))
		part := min(n, lineBytes-in)
		i := r.line(addr >> lineShift)
		r.cover(i, in, part)
		addr += uint64(part)
		n -= part
	}
}

func (r *Request) cover(i, in, n int) {
	first, last := in>>sectorShift, (in+n-1)>>sectorShift
	r.Lines[i].Sectors |= 1<<(last+1) - 1<<first
	half := in >> 6
	m := ^uint64(0)
	if n < 64 {
		m = 1<<n - 1
	}
	r.covers[i][half] |= m << (in & 63)
	if half == 0 && in+n > 64 {
		r.covers[i][1] |= m >> (64 - in)
	}
}

// seal works out which sectors are written completely, for stores.
func (r *Request) seal(store bool) {
	if !store {
		return
	}
	const sector = 1<<sectorBytes - 1
	for i := range r.Lines[:r.N] {
		for s := 0; s < 4; s++ {
			if r.covers[i][s/2]>>(s%2*sectorBytes)&sector == sector {
				r.Lines[i].Full |= 1 << s
			}
		}
	}
}

// words notes the words of 32 bits that atomics update.
func (r *Request) words() {
	for i := range r.Lines[:r.N] {
		for w := range lineBytes / 4 {
			if r.covers[i][w/16]>>(w%16*4)&0xf != 0 {
				r.Lines[i].Words |= 1 << w
			}
		}
	}
}

// Global finds the lines and sectors of a request to global memory by the
// lanes in mask, width bytes each. store also finds the sectors it fills.
// It replaces what the request held.
func (r *Request) Global(addr *Lanes, mask uint32, width int, store bool) {
	r.reset()
	last, index := ^uint64(0), 0
	for m := mask; m != 0; m &= m - 1 {
		a := addr[bits.TrailingZeros32(m)&(warpSize-1)]
		in := int(a & (lineBytes - 1))
		if in+width > lineBytes {
			r.touch(a, width)
			last = ^uint64(0)
			continue
		}
		if l := a >> lineShift; l != last {
			last, index = l, r.line(l)
		}
		r.cover(index, in, width)
	}
	r.seal(store)
}

// Local finds the lines of a request to local memory. addr are byte offsets in
// each thread's local memory. The hardware interleaves the 32 threads of a
// warp word by word, so that word w of lane l is byte 128w+4l of the warp's
// local memory, which starts at line base.
func (r *Request) Local(addr *Lanes, mask uint32, width int, store bool, base uint64) {
	r.reset()
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & (warpSize - 1)
		for a, n := addr[l], width; n > 0; {
			part := min(n, 4-int(a&3))
			i := r.line(base + a>>2)
			r.cover(i, 4*l+int(a&3), part)
			a += uint64(part)
			n -= part
		}
	}
	r.seal(store)
}
