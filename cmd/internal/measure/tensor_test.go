package measure

import (
	"testing"

	"github.com/warptune/warptune/simengine/exec/tensormap"
)

// The driver's numbers of types are those of cuda.h (CUtensorMapDataType), which are not the PTX
// instruction's: a bfloat16 that is told by the latter is a float to the driver, and its map is
// refused or wrong.
func TestTensorMapElements(t *testing.T) {
	header := []tensormap.Elem{ // in the order of cuda.h
		tensormap.U8, tensormap.U16, tensormap.U32, tensormap.S32, tensormap.U64, tensormap.S64, tensormap.F16, tensormap.F32,
		tensormap.F64, tensormap.BF16, tensormap.F32Ftz, tensormap.TF32, tensormap.TF32Ftz,
	}
	for number, elem := range header {
		m := tensor(&tensormap.Map{Elem: elem, Rank: 1})
		if m.Elem != number {
			t.Errorf("element type %d is told the driver as %d, want %d", elem, m.Elem, number)
		}
	}
	for e := tensormap.Elem(0); e.Bytes() > 0; e++ {
		if _, ok := mapElements[e]; !ok {
			t.Errorf("element type %d has no number of the driver's", e)
		}
	}
}
