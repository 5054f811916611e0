package ir

import (
	"fmt"
	"strings"

	"github.com/warptune/warptune/simengine/ptx"
)

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

// matrixShapes is the MMAs modelled, by the shape and type of A; the PTX ISA lists them ("Matrix
// shape", warp-level matrix instructions). The others of PTX are refused by name: integers of four
// bits and one, floating point of eight, Volta's m8n8k4 and Hopper's larger shapes of doubles.
var matrixShapes = map[string]typeSet{
	"m8n8k4":   types(F64),
	"m8n8k16":  types(S8, U8),
	"m16n8k4":  types(TF32),
	"m16n8k8":  types(F16, BF16, TF32),
	"m16n8k16": types(F16, BF16, S8, U8),
	"m16n8k32": types(S8, U8),
}

// results are the types of C and D by the type of A.
var results = map[Type]typeSet{
	F16: types(F16, F32), BF16: types(F32), TF32: types(F32), F64: types(F64), S8: types(S32), U8: types(S32),
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

func (m *Matrix) sources() int {
	a, b, c := m.Registers()
	return a + b + c + b2i(m.Group) // a warpgroup's has scale-d
}

// registerOf is the type of a register that holds elements of type t.
func registerOf(t Type) Type {
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

// matrix decodes an opcode on matrices.
func (s *shape) matrix(opcode, rest string) {
	words := strings.Split(rest, ".")
	switch s.spec.form {
	case formMovmatrix:
		s.Type = B32
		s.unmodelled = rest != "sync.aligned.m8n8.trans.b16"
	case formWgmma:
		s.wgmma(words)
	case formLdmatrix, formStmatrix:
		s.Type, s.Space = B32, Shared
		s.ldmatrix(words)
	case formMma:
		s.mma(words)
	case formWmma:
		base := strings.TrimSuffix(opcode, "."+rest)
		what := base[len(base)-1] // of load.a, load.b, load.c and store.d
		if strings.HasSuffix(base, "mma") {
			what = 'm'
		}
		s.wmma(what, words)
	}
	if len(words) < 3 || words[0] != "sync" || words[1] != "aligned" {
		s.unmodelled, s.problem = false, fmt.Sprintf("%q lacks .sync.aligned", opcode)
	}
}

// ldmatrix reads .sync.aligned.m8n8.xN{.trans}.shared.b16, of stmatrix too; the shapes that Blackwell has
// beside it are not modelled.
func (s *shape) ldmatrix(words []string) {
	var rest []string
	for i, w := range words {
		switch {
		case i < 2:
		case w == "trans":
			s.Mod |= ModTrans
		case w == "x1" || w == "x2" || w == "x4":
			s.Vec = w[1] - '0'
		case w == "shared" || w == "shared::cta":
		default:
			rest = append(rest, w)
		}
	}
	s.unmodelled = s.Vec == 0 || strings.Join(rest, ".") != "m8n8.b16"
}

// mma builds an MMA: vectors of D, A, B and C.
func (s *shape) mma(words []string) {
	m := &Matrix{}
	s.unmodelled = true
	if len(words) < 9 || words[3] != "row" || words[4] != "col" {
		return
	}
	last := words[5:]
	if last[0] == "satfinite" {
		s.Mod |= ModSat
		last = last[1:]
	}
	if len(last) != 4 {
		return
	}
	m.D, m.A, m.B, m.C = typeByName[last[0]], typeByName[last[1]], typeByName[last[2]], typeByName[last[3]]
	if n, err := fmt.Sscanf(words[2], "m%dn%dk%d", &m.M, &m.N, &m.K); n != 3 || err != nil {
		return
	}
	bytes := types(S8, U8)
	switch {
	case matrixShapes[words[2]]&types(m.A) == 0, results[m.A]&types(m.D) == 0, m.C != m.D:
	case m.A != m.B && bytes&types(m.A) != 0 != (bytes&types(m.B) != 0), m.A != m.B && bytes&types(m.A) == 0:
	default:
		s.unmodelled, s.Matrix, s.Type, s.SrcType = false, m, m.D, m.A
	}
}

// mma builds an MMA: vectors of D, A, B and C.
func (b *kernelBuilder) mma(s *site) {
	if !b.count(s, 4, 4) {
		return
	}
	m := s.out.Matrix
	na, nb, nc := m.Registers()
	if b.fragment(s, m.registers(m.D, m.M*m.N), registerOf(m.D), true) && b.fragment(s, na, registerOf(m.A), false) &&
		b.fragment(s, nb, registerOf(m.B), false) && b.fragment(s, nc, registerOf(m.C), false) {
		b.finish(s)
	}
}

// fragment reads the next operand: so many registers, or one without braces.
func (b *kernelBuilder) fragment(s *site, n int, t Type, dest bool) bool {
	o := &s.in.Args[s.arg]
	s.arg++
	return b.eachOf(s, o, n, func(e *ptx.Operand) bool {
		if dest {
			return b.dest(s, e, t, false)
		}
		return b.source(s, e, t, false)
	})
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
