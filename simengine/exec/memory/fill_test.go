package memory

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/ir"
)

// Random elements are in the range that is asked for, reach both of its ends, and from zero on are
// what they are without a lower bound.
func TestRandomFill(t *testing.T) {
	formats := map[ir.Type]*element.Format{ir.F16: &element.Half, ir.BF16: &element.Bfloat, ir.E4M3: &element.E4M3, ir.E5M2: &element.E5M2, ir.F32: &element.Single}
	value := func(typ ir.Type, bits uint64) float64 {
		if f, ok := formats[typ]; ok {
			return f.Unpack(uint32(bits))
		}
		unused := 64 - 8*element.Size(typ)
		return float64(int64(bits<<unused) >> unused)
	}
	for _, tt := range []struct {
		least, most float64
		types       []ir.Type
	}{
		{0, 8, []ir.Type{ir.S8, ir.S32, ir.S64, ir.F32, ir.F16, ir.BF16, ir.E4M3, ir.E5M2}},
		{-3, 5, []ir.Type{ir.S8, ir.S32, ir.S64, ir.F32, ir.F16, ir.BF16, ir.E4M3, ir.E5M2}},
		{100, 101, []ir.Type{ir.S8, ir.S32, ir.S64}},
		{-8, -2, []ir.Type{ir.S16, ir.F32}},
	} {
		for _, typ := range tt.types {
			f := RandomFrom(7, tt.least, tt.most)
			if err := f.validate(typ); err != nil {
				t.Fatal(err)
			}
			lo, hi := math.Inf(1), math.Inf(-1)
			for i := range int64(2000) {
				v := value(typ, f.Element(typ, i))
				lo, hi = min(lo, v), max(hi, v)
				if plain := Random(7, tt.most); tt.least == 0 && plain.Element(typ, i) != f.Element(typ, i) {
					t.Errorf("%v: element %d differs", typ, i)
				}
			}
			last := tt.most
			if !typ.IsFloat() {
				last--
			}
			near := 0.2 * (tt.most - tt.least)
			if !typ.IsFloat() {
				near = 0
			}
			if lo < tt.least || hi > last || lo > tt.least+near || hi < last-near {
				t.Errorf("%v: %v to %v, want %v to %v", typ, lo, hi, tt.least, last)
			}
		}
	}
	// Rounding reaches no bound that is excluded, whatever its sign. Few of the elements are so near.
	for _, tt := range []struct{ least, most float64 }{{-2, -1}, {-1, 0}, {-1, 1}, {1, 2}, {-0.5, 2.5}, {-1.5, 0}} {
		for _, typ := range []ir.Type{ir.F16, ir.BF16, ir.E4M3, ir.E5M2, ir.F32, ir.S32} {
			f := RandomFrom(7, tt.least, tt.most)
			for i := range int64(20000) {
				if v := value(typ, f.Element(typ, i)); v < tt.least || v >= tt.most {
					t.Errorf("%v: element %d is %v, want %v to below %v", typ, i, v, tt.least, tt.most)
					break
				}
			}
		}
	}
	for _, bad := range []Fill{RandomFrom(0, 1, 0), RandomFrom(0, math.Inf(-1), 0), Random(0, math.NaN()), Random(0, math.Inf(1)), Random(0, -1)} {
		if bad.validate(ir.S32) == nil {
			t.Errorf("random from %v to %v is valid", bad.least, bad.value)
		}
	}
}
