package element

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"pgregory.net/rapid"
)

// Rounding to nearest by itself comes to what rounding in general comes to.
func TestNearestIsPack(t *testing.T) {
	formats := []Format{Single, Half, Bfloat, TF32, E4M3, E5M2}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(formats).Draw(t, "format")
		v := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if rapid.Bool().Draw(t, "near a number of the format") {
			number := rapid.Uint32Range(0, f.finite).Draw(t, "number")
			v = f.Unpack(number)
			v += (f.Unpack(number+1) - v) * float64(rapid.IntRange(-4, 4).Draw(t, "eighths of a step")) / 8
			if rapid.Bool().Draw(t, "negative") {
				v = -v
			}
		}
		saturate := rapid.Bool().Draw(t, "saturate")
		if got, want := f.Pack(v, ir.RN, saturate), f.pack(v, ir.RN, saturate); got != want {
			t.Fatalf("%v is %#x, in general %#x, in %+v", v, got, want, f)
		}
	})
}
