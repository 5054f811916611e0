package stages

import "github.com/warptune/warptune/tuner/kernel/compile/asnvcc"

// MaxHeld is how many numbers of 64 bits, two registers each, a loop of nvcc's brings along from before it or from
// iteration to iteration. It is 8 or fewer in 1,429 of 1,452 innermost loops with accesses to global memory, of up
// to 8 PTX files of each of the validation kernels (the PTX of deploy/calibrate/datasets). The strength reduction
// of clang has up to 21, one pointer for each copy of an unrolled body (stencil_3d with UNROLL=4, 56 registers for
// nvcc's 32).
const MaxHeld = 8

// Assemble makes PTX as nvcc would of an optimised program: without strength reduction where that makes
// loops hold more than nvcc's. Addresses then are computed from each other where they can be.
func Assemble(assemble func(further ...string) ([]byte, error)) ([]byte, error) {
	ptx, err := assemble()
	if err != nil || asnvcc.MostHeld(ptx) <= MaxHeld {
		return ptx, err
	}
	return assemble("-mllvm", "-disable-lsr")
}
