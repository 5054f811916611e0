package lower

import (
	"fmt"
	"strings"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// matrixShapes is the MMAs modelled, by the shape and type of A; the PTX ISA lists them ("Matrix
// shape", warp-level matrix instructions). The others of PTX are refused by name: integers of four
// bits and one, floating point of eight, Volta's m8n8k4 and Hopper's larger shapes of doubles.
var matrixShapes = map[string]typeSet{
	"m8n8k4":   types(ir.F64),
	"m8n8k16":  types(ir.S8, ir.U8),
	"m16n8k4":  types(ir.TF32),
	"m16n8k8":  types(ir.F16, ir.BF16, ir.TF32),
	"m16n8k16": types(ir.F16, ir.BF16, ir.S8, ir.U8),
	"m16n8k32": types(ir.S8, ir.U8),
}

// results are the types of C and D by the type of A.
var results = map[ir.Type]typeSet{
	ir.F16: types(ir.F16, ir.F32), ir.BF16: types(ir.F32), ir.TF32: types(ir.F32), ir.F64: types(ir.F64), ir.S8: types(ir.S32), ir.U8: types(ir.S32),
}

// matrix decodes an opcode on matrices.
func (s *shape) matrix(opcode, rest string) {
	words := strings.Split(rest, ".")
	switch s.spec.form {
	case formMovmatrix:
		s.Type = ir.B32
		s.unmodelled = rest != "sync.aligned.m8n8.trans.b16"
	case formWgmma:
		s.wgmma(words)
	case formLdmatrix, formStmatrix:
		s.Type, s.Space = ir.B32, ir.Shared
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
			s.Mod |= ir.ModTrans
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
	m := &ir.Matrix{}
	s.unmodelled = true
	if len(words) < 9 || words[3] != "row" || words[4] != "col" {
		return
	}
	last := words[5:]
	if last[0] == "satfinite" {
		s.Mod |= ir.ModSat
		last = last[1:]
	}
	if len(last) != 4 {
		return
	}
	m.D, m.A, m.B, m.C = registerType(last[0]), registerType(last[1]), registerType(last[2]), registerType(last[3])
	if n, err := fmt.Sscanf(words[2], "m%dn%dk%d", &m.M, &m.N, &m.K); n != 3 || err != nil {
		return
	}
	bytes := types(ir.S8, ir.U8)
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
	if b.fragment(s, m.Results(), ir.RegisterOf(m.D), true) && b.fragment(s, na, ir.RegisterOf(m.A), false) &&
		b.fragment(s, nb, ir.RegisterOf(m.B), false) && b.fragment(s, nc, ir.RegisterOf(m.C), false) {
		b.finish(s)
	}
}

// fragment reads the next operand: so many registers, or one without braces.
func (b *kernelBuilder) fragment(s *site, n int, t ir.Type, dest bool) bool {
	o := &s.in.Args[s.arg]
	s.arg++
	return b.eachOf(s, o, n, func(e *ptx.Operand) bool {
		if dest {
			return b.dest(s, e, t, false)
		}
		return b.source(s, e, t, false)
	})
}
