package exec

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/exec/alu"
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

// matrices is what MMAs work on: C, row by row, and what they last read from registers of A and B. Kernels multiply each
// tile of A by several of B and the other way round, and reading a tile takes longer than multiplying it.
type matrices struct {
	c    [16 * 8]float64
	a, b [32]matrixRead // by the first register, modulo their number
}

// matrixRead is a matrix and what the registers held, in all lanes, that it was read from.
type matrixRead struct {
	of     *mma.Fragment // nil: none
	regs   []alu.Vec32
	values []float64
}

// read returns the matrix in some registers of a warp.
func (w *warp) read(last *[32]matrixRead, f *mma.Fragment, regs []code.Slot) []float64 {
	m := &last[uint(regs[0].Index)%uint(len(last))]
	if m.holds(w, f, regs) {
		return m.values
	}
	m.of, m.regs, m.values = f, m.regs[:0], slices.Grow(m.values[:0], f.Elements)[:f.Elements]
	for _, s := range regs {
		if s.File != code.File32 {
			m.of = nil // it is read each time
			break
		}
		m.regs = append(m.regs, w.r32[s.Index])
	}
	w.gather(f, regs, m.values)
	return m.values
}

// holds reports whether registers hold what they did when the matrix was read.
func (m *matrixRead) holds(w *warp, f *mma.Fragment, regs []code.Slot) bool {
	if m.of != f || len(m.regs) != len(regs) {
		return false
	}
	for i, s := range regs {
		if s.File != code.File32 || m.regs[i] != w.r32[s.Index] {
			return false
		}
	}
	return true
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
	if r.matrices == nil {
		r.matrices = new(matrices)
	}
	a, b, c := w.read(&r.matrices.a, m.FragmentA, src[:na]), w.read(&r.matrices.b, m.FragmentB, src[na:na+nb]), r.matrices.c[:]
	w.gather(m.FragmentC, src[na+nb:], c)
	for i := range m.M {
		row := a[i*m.K : (i+1)*m.K]
		for j := range m.N {
			sum := c[i*m.N+j]
			for k, v := range b[j*m.K : (j+1)*m.K] {
				sum += row[k] * v
			}
			c[i*m.N+j] = m.Bounded(sum)
		}
	}
	w.scatter(m.FragmentC, in.X.Dst, c, mask)
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
