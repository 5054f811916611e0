package exec

import (
	"encoding/binary"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/mma"
	"github.com/warptune/warptune/simengine/ir"
)

var noRow [code.MatrixRow]byte

// gather reads a matrix from the registers of a warp.
func (w *warp) gather(f *mma.Fragment, regs []code.Slot, to []float64) {
	per := max(1, 32/f.Bits)
	for l := range f.Place {
		for n, at := range f.Place[l] {
			v := w.get(regs[n/per], l) >> (n % per * f.Bits)
			to[at] = f.Decode(v & (^uint64(0) >> (64 - f.Bits)))
		}
	}
}

// scatter writes a matrix to the registers of a warp.
func (w *warp) scatter(f *mma.Fragment, regs []code.Slot, from []float64, mask uint32) {
	per := max(1, 32/f.Bits)
	for ; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		var v uint64
		for n, at := range f.Place[l] {
			v |= f.Encode(from[at]) << (n % per * f.Bits)
			if n%per == per-1 {
				w.put(regs[n/per], l, v)
				v = 0
			}
		}
	}
}

// multiply is mma.sync.
func (r *Runner) multiply(w *warp, in *code.Instr, mask uint32) signal {
	m := in.X.Matrix
	na, nb, _ := m.Registers()
	src := in.X.Src
	if r.tiles == nil {
		r.tiles = new(mma.Tiles)
	}
	t := r.tiles
	w.gather(m.FragmentA, src[:na], t.A[:])
	w.gather(m.FragmentB, src[na:na+nb], t.B[:])
	w.gather(m.FragmentC, src[na+nb:], t.C[:])
	for i := range m.M {
		row := t.A[i*m.K : (i+1)*m.K]
		for j := range m.N {
			sum := t.C[i*m.N+j]
			for k, b := range t.B[j*m.K : (j+1)*m.K] {
				sum += row[k] * b
			}
			t.C[i*m.N+j] = m.Bounded(sum)
		}
	}
	w.scatter(m.FragmentC, in.X.Dst, t.C[:], mask)
	return next
}

// loadMatrices is what ldmatrix does to registers: lane l has columns 2*(l%4) and the next one
// of row l/4 of each matrix, or of column l/4 when transposed. A row whose lane takes no part
// is zero (PTX leaves that undefined).
func (r *Runner) loadMatrices(w *warp, in *code.Instr, mask uint32) {
	trans := r.p.Kernel.Instrs[in.PC].Mod&ir.ModTrans != 0
	row := func(lane int) []byte {
		if mask>>lane&1 == 0 {
			return noRow[:]
		}
		return r.shared[r.addr[lane]:][:code.MatrixRow]
	}
	for m, d := range in.X.Dst {
		for rest := mask; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			at, col := l/4, l%4
			if !trans {
				w.put(d, l, uint64(binary.LittleEndian.Uint32(row(8*m + at)[4*col:])))
				continue
			}
			low := binary.LittleEndian.Uint16(row(8*m + 2*col)[2*at:])
			high := binary.LittleEndian.Uint16(row(8*m + 2*col + 1)[2*at:])
			w.put(d, l, uint64(low)|uint64(high)<<16)
		}
	}
}

// moveMatrix is movmatrix: it transposes a matrix of 8 by 8 halves.
func (r *Runner) moveMatrix(w *warp, in *code.Instr, mask uint32) signal {
	s, d := in.X.Src[0], in.X.Dst[0]
	if s.File != code.File32 || d.File != code.File32 {
		return r.unsupportedSize(w, in)
	}
	half := func(row, col int) uint32 { return w.r32[s.Index][row*4+col/2] >> (col % 2 * 16) & 0xffff }
	for l := range WarpSize {
		r.t32[l] = half(l%4*2, l/4) | half(l%4*2+1, l/4)<<16
	}
	blend(&w.r32[d.Index], &r.t32, mask)
	return next
}
