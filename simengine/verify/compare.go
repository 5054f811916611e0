package verify

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/ir"
)

// Tolerance is by how much two configurations' values of a type may differ, relative to the values
// and to the mean magnitude of the argument's elements; 0: not at all.
//
// Configurations add in different orders. For n terms that may change the result by (n-1) u times
// the sum of their magnitudes, where u is the type's unit roundoff, and typically changes it by the
// square root of n times u (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
// 4.2 and 4.3). The tolerance is 1,600 u, the typical change of 2.6 million terms, in float and
// double. It is 16 u, that of 256 terms, in the short types, in which sums are seldom accumulated.
func Tolerance(t ir.Type) float64 {
	switch t {
	case ir.F64:
		return 1600 * 0x1p-53
	case ir.F32, ir.TF32:
		return 1600 * 0x1p-24
	case ir.F16:
		return 16 * 0x1p-11
	case ir.BF16:
		return 16 * 0x1p-8
	case ir.E4M3, ir.E5M2:
		return 2 * 0x1p-3
	}
	return 0
}

// Difference is an element for which two configurations have different values.
type Difference struct {
	Name      string // of the argument
	Index     int64
	Got, Want string // values
}

// Compare compares an output with that of another configuration, or with what is expected, on the
// elements that both have. It returns how many these are, and the first that differs by more than
// the tolerance or the type's own tolerance, whichever is larger; nil if none does.
func (o *Output) Compare(with *Output, tolerance float64) (n int64, first *Difference) {
	size := o.Elem.Size()
	least := math.Max(tolerance, Tolerance(o.Elem))
	scale := least * with.magnitude()
	for i, j := 0, 0; i < len(o.Runs) && j < len(with.Runs); {
		a, b := &o.Runs[i], &with.Runs[j]
		from, aEnd, bEnd := max(a.First, b.First), a.end(size), b.end(size)
		for e := from; e < min(aEnd, bEnd); e++ {
			n++
			x, y := a.at(e, size), b.at(e, size)
			if first == nil && x != y && differ(element.Value(o.Elem, x), element.Value(o.Elem, y), least, scale) {
				first = &Difference{o.Name, e, text(o.Elem, x), text(o.Elem, y)}
			}
		}
		if aEnd <= bEnd {
			i++
		} else {
			j++
		}
	}
	return n, first
}

func (r *Run) end(size int) int64 { return r.First + int64(len(r.Bytes)/size) }

// at is the bits of an element.
func (r *Run) at(index int64, size int) uint64 {
	var room [8]byte
	copy(room[:size], r.Bytes[(index-r.First)*int64(size):])
	return binary.LittleEndian.Uint64(room[:])
}

// differ reports whether two values differ by more than a share of the larger, and by more than
// cancellation in a sum of magnitude scale explains. A NaN is equal to anything.
func differ(x, y, share, scale float64) bool {
	if share == 0 {
		return true // their bits do
	}
	if x != x || y != y {
		return (x != x) != (y != y)
	}
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		return x != y
	}
	return math.Abs(x-y) > share*math.Max(math.Abs(x), math.Abs(y))+scale
}

// magnitude is the mean magnitude of the finite elements; 0 for integers.
func (o *Output) magnitude() float64 {
	if !o.Elem.IsFloat() {
		return 0
	}
	size, n, mean := o.Elem.Size(), 0.0, 0.0
	for i := range o.Runs {
		r := &o.Runs[i]
		for e := r.First; e < r.end(size); e++ {
			if v := element.Value(o.Elem, r.at(e, size)); !math.IsNaN(v) && !math.IsInf(v, 0) {
				n++
				mean += (math.Abs(v) - mean) / n
			}
		}
	}
	return mean
}

func text(t ir.Type, bits uint64) string {
	switch {
	case t.IsFloat():
		return fmt.Sprintf("%.9g", element.Value(t, bits))
	case t.IsSigned():
		shift := 64 - 8*t.Size()
		return fmt.Sprint(int64(bits<<shift) >> shift)
	}
	return fmt.Sprint(bits)
}
