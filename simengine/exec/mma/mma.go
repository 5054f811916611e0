// Package mma is the arithmetic of MMAs: how matrices lie in the registers of a warp, and their product. Multiplications
// are exact, additions are in double precision, and the result is rounded once. PTX leaves the rounding to the hardware,
// which therefore differs in the last bits of results that are not small integers.
package mma

import (
	"math"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/ir"
)

// MMA is a compiled MMA: where the elements of each lane's registers belong, and their types.
type MMA struct {
	*ir.Matrix
	FragmentA, FragmentB, FragmentC *Fragment
	Saturating                      bool
}

// Fragment is how a matrix lies in registers.
type Fragment struct {
	Bits     int // of an element
	Elements int
	Place    [arch.WarpSize][]int
	Decode   func(uint64) float64
	Encode   func(float64) uint64
}

// FragmentOf is how a matrix of rows and columns lies in registers, as ir.Fragment says.
func FragmentOf(t ir.Type, rows, cols int) *Fragment {
	f := &Fragment{Bits: 8 * t.Size(), Elements: rows * cols}
	for l := range f.Place {
		for _, p := range ir.Fragment(t, rows, cols, l) {
			f.Place[l] = append(f.Place[l], p.Row*cols+p.Col)
		}
	}
	if f.Decode = alu.DecodeFloat(t, false); t == ir.TF32 {
		f.Decode = func(v uint64) float64 { return float64(alu.F32(uint32(v) &^ 0x1fff)) } // the bits beyond are not read
	} else if f.Decode == nil {
		signed := t.IsSigned()
		f.Decode = func(v uint64) float64 { return float64(int64(alu.Extend64(v, f.Bits, signed))) }
	}
	f.Encode = func(v float64) uint64 { return element.Encode(t, v) }
	return f
}

// Bounded is a sum as an integer that saturates or wraps; of other types itself.
func (m *MMA) Bounded(v float64) float64 {
	if m.D != ir.S32 {
		return v
	}
	if m.Saturating {
		return min(max(v, math.MinInt32), math.MaxInt32)
	}
	return float64(int32(int64(v)))
}

// GroupRows is the rows of a warp; groupCols is the most columns of B, groupDepth of A.
const (
	GroupRows  = 16
	groupCols  = 256
	groupDepth = 32
)

// WarpgroupMMA is a compiled warpgroup MMA.
type WarpgroupMMA struct {
	*ir.Matrix
	FragmentA, FragmentD *Fragment
	DecodeB              func(uint64) float64
	RegistersOfA         int // registers of A; 1: a descriptor
	Saturating           bool
}

// WarpgroupTiles are the matrices of one MMA: A and D row by row, B by columns.
type WarpgroupTiles struct {
	A [GroupRows * groupDepth]float64
	B [groupCols * groupDepth]float64
	D [GroupRows * groupCols]float64
}

// GroupWork is what a warp's part in a warpgroup MMA takes in Full mode, in executed warp
// instructions: about 3 ns of 300 for each multiplication (BenchmarkWgmma).
func GroupWork(m *ir.Matrix) int64 { return int64(GroupRows*m.N*m.K) / 100 }

// Multiply adds the product of A and B to D.
func (g *WarpgroupMMA) Multiply(t *WarpgroupTiles) {
	sign := 1.0
	if g.NegA != g.NegB {
		sign = -1
	}
	for i := range GroupRows {
		row := t.A[i*g.K : (i+1)*g.K]
		for k := range row {
			row[k] *= sign
		}
		for j := range g.N {
			sum := t.D[i*g.N+j]
			for k, b := range t.B[j*g.K : (j+1)*g.K] {
				sum += row[k] * b
			}
			t.D[i*g.N+j] = g.bounded(sum)
		}
	}
}

// bounded is a sum as an integer that saturates or wraps; of other types itself.
func (g *WarpgroupMMA) bounded(v float64) float64 {
	m := MMA{Matrix: g.Matrix, Saturating: g.Saturating}
	return m.Bounded(v)
}
