package exec

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/ir"
)

// matrixRow is the bytes of a row that ldmatrix loads.
const matrixRow = 16

var noRow [matrixRow]byte

// matrix is a compiled MMA: where the elements of each lane's registers belong, and their types.
type matrix struct {
	*ir.Matrix
	a, b, c    fragment
	saturating bool
}

// tiles are the matrices A, B and C of one product, row by row; B by columns.
type tiles struct {
	a [16 * 32]float64
	b [8 * 32]float64
	c [16 * 8]float64
}

// fragment is how a matrix lies in registers.
type fragment struct {
	bits   int // of an element
	place  [WarpSize][]int
	decode func(uint64) float64
	encode func(float64) uint64
}

// emitMma compiles an MMA. The multiplications are exact, the additions are in double precision,
// and the result is rounded once. PTX leaves the rounding to the hardware, which therefore differs in
// the last bits of results that are not small integers.
func (c *compiler) emitMma(pc int, in *ir.Instr, i *instr) (bool, error) {
	m := &matrix{Matrix: in.Matrix, saturating: in.Mod&ir.ModSat != 0}
	m.a, m.b, m.c = fragmentOf(m.A, m.M, m.K), fragmentOf(m.B, m.N, m.K), fragmentOf(m.C, m.M, m.N)
	i.kind, i.x = kindCall, &extra{run: (*Runner).multiply, matrix: m}
	return true, c.operands(pc, in, i.x, in.Type)
}

func fragmentOf(t ir.Type, rows, cols int) (f fragment) {
	f.bits = 8 * t.Size()
	for l := range f.place {
		for _, p := range ir.Fragment(t, rows, cols, l) {
			f.place[l] = append(f.place[l], p.Row*cols+p.Col)
		}
	}
	if f.decode = alu.DecodeFloat(t, false); t == ir.TF32 {
		f.decode = func(v uint64) float64 { return float64(alu.F32(uint32(v) &^ 0x1fff)) } // the bits beyond are not read
	} else if f.decode == nil {
		signed := t.IsSigned()
		f.decode = func(v uint64) float64 { return float64(int64(alu.Extend64(v, f.bits, signed))) }
	}
	f.encode = func(v float64) uint64 { return element.Encode(t, v) }
	return f
}

// gather reads a matrix from the registers of a warp.
func (f *fragment) gather(w *warp, regs []slot, to []float64) {
	per := max(1, 32/f.bits)
	for l := range f.place {
		for n, at := range f.place[l] {
			v := w.get(regs[n/per], l) >> (n % per * f.bits)
			to[at] = f.decode(v & (^uint64(0) >> (64 - f.bits)))
		}
	}
}

// scatter writes a matrix to the registers of a warp.
func (f *fragment) scatter(w *warp, regs []slot, from []float64, mask uint32) {
	per := max(1, 32/f.bits)
	for ; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		var v uint64
		for n, at := range f.place[l] {
			v |= f.encode(from[at]) << (n % per * f.bits)
			if n%per == per-1 {
				w.put(regs[n/per], l, v)
				v = 0
			}
		}
	}
}

// multiply is mma.sync.
func (r *Runner) multiply(w *warp, in *instr, mask uint32) signal {
	m := in.x.matrix
	na, nb, _ := m.Registers()
	src := in.x.src
	if r.tiles == nil {
		r.tiles = new(tiles)
	}
	t := r.tiles
	m.a.gather(w, src[:na], t.a[:])
	m.b.gather(w, src[na:na+nb], t.b[:])
	m.c.gather(w, src[na+nb:], t.c[:])
	for i := range m.M {
		row := t.a[i*m.K : (i+1)*m.K]
		for j := range m.N {
			sum := t.c[i*m.N+j]
			for k, b := range t.b[j*m.K : (j+1)*m.K] {
				sum += row[k] * b
			}
			t.c[i*m.N+j] = m.bounded(sum)
		}
	}
	m.c.scatter(w, in.x.dst, t.c[:], mask)
	return next
}

// bounded is a sum as an integer that saturates or wraps; of other types itself.
func (m *matrix) bounded(v float64) float64 {
	if m.D != ir.S32 {
		return v
	}
	if m.saturating {
		return min(max(v, math.MinInt32), math.MaxInt32)
	}
	return float64(int32(int64(v)))
}

// loadMatrices is what ldmatrix does to registers: lane l has columns 2*(l%4) and the next one
// of row l/4 of each matrix, or of column l/4 when transposed. A row whose lane takes no part
// is zero (PTX leaves that undefined).
func (r *Runner) loadMatrices(w *warp, in *instr, mask uint32) {
	trans := r.p.Kernel.Instrs[in.pc].Mod&ir.ModTrans != 0
	row := func(lane int) []byte {
		if mask>>lane&1 == 0 {
			return noRow[:]
		}
		return r.shared[r.addr[lane]:][:matrixRow]
	}
	for m, d := range in.x.dst {
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
func (r *Runner) moveMatrix(w *warp, in *instr, mask uint32) signal {
	s, d := in.x.src[0], in.x.dst[0]
	if s.file != file32 || d.file != file32 {
		return r.unsupportedSize(w, in)
	}
	half := func(row, col int) uint32 { return w.r32[s.index][row*4+col/2] >> (col % 2 * 16) & 0xffff }
	for l := range WarpSize {
		r.t32[l] = half(l%4*2, l/4) | half(l%4*2+1, l/4)<<16
	}
	blend(&w.r32[d.index], &r.t32, mask)
	return next
}
