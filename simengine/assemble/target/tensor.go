package target

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
)

// TensorError says that tensor cores of a compute capability have no MMA for a type, or none that
// is modelled (Turing's are the first that are).
type TensorError struct {
	Type ir.Type // of the elements of A
	CC   [2]int
}

func (e *TensorError) Error() string {
	return fmt.Sprintf("MMA of %v on compute capability %d.%d is not modelled: halves and bytes are from 7.5 on, bfloats, tf32 and doubles from 8.0 on", e.Type, e.CC[0], e.CC[1])
}

// MMAShape is the shape that one MMA instruction computes of m: HMMA.1688 and IMMA.8816 on Turing,
// from Ampere on all shapes of the PTX ISA whole (ptxas 13.0.88).
func (t *Target) MMAShape(m *ir.Matrix) (ir.Matrix, error) {
	step := *m
	switch {
	case t.CC[0] >= 8:
		return step, nil
	case t.CC[0] == 7 && t.CC[1] == 5 && m.A == ir.F16:
		step.K = 8
		return step, nil
	case t.CC[0] == 7 && t.CC[1] == 5 && (m.A == ir.S8 || m.A == ir.U8):
		step.M, step.K = 8, 16
		return step, nil
	}
	return step, &TensorError{Type: m.A, CC: t.CC}
}
