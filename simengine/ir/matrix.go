package ir

import "fmt"

// Matrix is the shape and types of an MMA: D = A*B + C with A of M by K elements, B of K by N, C and
// D of M by N. The 32 lanes of a warp hold each of them together (see Fragment).
type Matrix struct {
	M, N, K    int
	D, A, B, C Type // of an element
	// Group is set for the warpgroup MMA (Wgmma): M is 64, each of four warps has 16 rows.
	Group          bool
	FromShared     bool // Wgmma: A is in shared memory, described by a word of 64 bits, as B always is
	NegA, NegB     bool // Wgmma: imm-scale of -1
	TransA, TransB bool // Wgmma: the matrix in shared memory is not K-major
}

// registers is the registers of a lane that so many elements of a matrix take: 32 bits each,
// or a double.
func (m *Matrix) registers(t Type, elements int) int {
	if t == F64 {
		return elements / 32
	}
	if m.Group {
		return elements * t.Size() / 512
	}
	return elements * t.Size() / 128
}

// Results is the registers of a lane that D takes.
func (m *Matrix) Results() int { return m.registers(m.D, m.M*m.N) }

// Registers is the registers of a lane that A, B and C take; a descriptor counts as one.
func (m *Matrix) Registers() (a, b, c int) {
	if m.Group {
		if a = 1; !m.FromShared {
			a = m.registers(m.A, m.M*m.K)
		}
		return a, 1, m.registers(m.C, m.M*m.N)
	}
	return m.registers(m.A, m.M*m.K), m.registers(m.B, m.K*m.N), m.registers(m.C, m.M*m.N)
}

// Sources is how many source operands the instruction has.
func (m *Matrix) Sources() int {
	a, b, c := m.Registers()
	return a + b + c + b2i(m.Group) // a warpgroup's has scale-d
}

// RegisterOf is the type of a register that holds elements of type t.
func RegisterOf(t Type) Type {
	switch t {
	case F32, F64, S32:
		return t
	}
	return B32
}

// Place is an element's row and column.
type Place struct{ Row, Col int }

// Fragment returns where in a matrix of that type and size the elements are that a lane's registers
// hold, in their order, the lowest bits of a register first (PTX ISA, matrix fragments for mma).
// Lane l has row l/4 of each block of 8 rows, and columns from l%4 times the elements of a register
// on. For B that is the transposed matrix.
func Fragment(t Type, rows, cols, lane int) []Place {
	per := max(1, 4/t.Size()) // elements of a register
	if t == F32 || t == S32 || t == F64 && cols == 8 {
		per = 2 // of C and D two registers follow each other in a row
	}
	var list []Place
	for c := 0; c < cols; c += 4 * per {
		for r := 0; r < rows; r += 8 {
			for e := range per {
				list = append(list, Place{r + lane/4, c + lane%4*per + e})
			}
		}
	}
	return list
}

// opcode spells an MMA.
func (m *Matrix) opcode(mod Mod) string {
	sat := ""
	if mod&ModSat != 0 {
		sat = ".satfinite"
	}
	return fmt.Sprintf("mma.sync.aligned.m%dn%dk%d.row.col%s.%s.%s.%s.%s", m.M, m.N, m.K, sat, m.D, m.A, m.B, m.C)
}

// fragments writes the fragments of A, B and C.
func (w *operandWriter) fragments() {
	a, b, c := w.in.Matrix.Registers()
	from := 0
	for _, n := range [...]int{a, b, c} {
		w.braces(from, n)
		from += n
	}
}

// braces writes n sources from number i on as a vector.
func (w *operandWriter) braces(i, n int) {
	w.sep()
	w.b.WriteByte('{')
	for j := range n {
		if j > 0 {
			w.b.WriteString(", ")
		}
		w.source(i + j)
	}
	w.b.WriteByte('}')
}
