package target

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
)

// TensorError says that a generation has no tensor cores for a type, or none that are
// modelled: Turing's are the first that are.
type TensorError struct {
	Type ir.Type // of the elements of A
	CC   [2]int
}

func (e *TensorError) Error() string {
	return fmt.Sprintf("products of matrices of %v on compute capability %d.%d are not modelled: halves and bytes are from 7.5 on, bfloats, tf32 and doubles from 8.0 on", e.Type, e.CC[0], e.CC[1])
}

// MMAShape is the shape that the tensor cores multiply at once: HMMA.1688, IMMA.8816 on Turing,
// HMMA.16816, IMMA.16832, DMMA.884 and so on since Ampere (ptxas 13.0.88).
func (t *Target) MMAShape(m *ir.Matrix) (ir.Matrix, error) {
	step := *m
	switch {
	case t.Cc[0] >= 8:
		return step, nil
	case t.Cc[0] == 7 && t.Cc[1] == 5 && m.A == ir.F16:
		step.K = 8
		return step, nil
	case t.Cc[0] == 7 && t.Cc[1] == 5 && (m.A == ir.S8 || m.A == ir.U8):
		step.M, step.K = 8, 16
		return step, nil
	}
	return step, &TensorError{Type: m.A, CC: t.Cc}
}
