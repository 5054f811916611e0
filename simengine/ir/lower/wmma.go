package lower

import (
	"fmt"
	"github.com/warptune/warptune/simengine/ir"
	"strings"
)

// wmma is a decoded wmma instruction. PTX leaves open which elements each lane of a warp has in
// its fragments. Here they are those of mma.sync, as ptxas has it since Turing (machine code of
// all shapes by ptxas 13.0.88 for sm_80 and sm_90): each wmma.mma is two Mma, of tf32 four and of
// doubles one.
//
// Of A (M by K) and B (K by N) one is split into blocks of 16 rows, the tall ones. The other is split into blocks
// of 8, rows of B being its columns. Where M is 8 the product is done transposed.
type wmma struct {
	what       byte // a, b, c: a load; d: the store; m: the product
	m, n, k    int
	row, brow  bool    // rows are contiguous in memory; of a product, A's and B's
	d, a, b, c ir.Type // of the elements; of loads and the store all are the same
	space      ir.Space
}

// side is a matrix of fragments: A or B, rows by k elements.
type side struct {
	rows, k int
	tall    bool // blocks of 16 rows
	along   bool // k is contiguous in memory
}

// tallA reports whether A is the side of 16 rows a block; of doubles both have 8.
func (w *wmma) tallA() bool { return w.m > 8 || w.a == ir.F64 }

// side is A or B.
func (w *wmma) side(what byte) side {
	if what == 'a' {
		return side{w.m, w.k, w.tallA(), w.row}
	}
	return side{w.n, w.k, !w.tallA(), !w.brow}
}

// registers is how many registers PTX gives a fragment of A, B, C or D. Halves of A and B it has
// twice or four times.
func (w *wmma) registers(what byte) int {
	switch {
	case what == 'c' || what == 'd':
		return w.m * w.n / 32 * min(w.c.Size(), 4) / 4
	case w.a == ir.F16:
		return 8
	case w.a == ir.F64:
		return 1
	}
	return w.used(what)
}

// used is how many of them hold something of their own.
func (w *wmma) used(what byte) int {
	d := w.side(what)
	return d.rows * d.k * w.a.Size() / 128
}

// matrix is the product of a tall block and a flat one.
func (w *wmma) matrix() *ir.Matrix {
	m := &ir.Matrix{M: 16, N: 8, K: w.k, D: w.d, A: w.a, B: w.b, C: w.c}
	switch w.a {
	case ir.F64:
		m.M = 8
	case ir.TF32: // two of half the depth
		m.K = 4
	}
	if !w.tallA() {
		m.A, m.B = w.b, w.a
	}
	return m
}

// blocks is how many tall and flat blocks there are.
func (w *wmma) blocks() (tall, flat int) {
	tall, flat = w.m, w.n
	if !w.tallA() {
		tall, flat = flat, tall
	}
	return max(1, tall/16), flat / 8
}

// wmmaShapes are the shapes of wmma by the type of A and B.
var wmmaShapes = map[ir.Type]string{
	ir.F16: "m16n16k16 m32n8k16 m8n32k16", ir.BF16: "m16n16k16 m32n8k16 m8n32k16", ir.S8: "m16n16k16 m32n8k16 m8n32k16",
	ir.U8: "m16n16k16 m32n8k16 m8n32k16", ir.TF32: "m16n16k8", ir.F64: "m8n8k4",
}

// wmma is a decoded wmma instruction. PTX leaves open which elements of a matrix each lane holds.
// Here lanes hold those of mma.sync, as with ptxas since Turing (machine code of all shapes by ptxas
// 13.0.88 for sm_80 and sm_90). A wmma.mma is two Mma instructions; four for tf32, one for doubles.
//
// A is M by K, B is K by N. One of them is split into tall blocks of 16 rows, the other into flat
// blocks of 8; the rows of B are its columns. Where M is 8 the MMA computes the transpose.
func (s *shape) wmma(what byte, words []string) {
	w := &wmma{what: what}
	var layouts []bool
	var ts []ir.Type
	shape := ""
	s.unmodelled = true
	for _, word := range words {
		t := registerType(word)
		switch {
		case word == "sync" || word == "aligned" || word == "rn":
		case word == "row" || word == "col":
			layouts = append(layouts, word == "row")
		case word == "global" || word == "shared" || word == "shared::cta":
			w.space = modifierSpace[word]
		case word == "satfinite":
			s.Mod |= ir.ModSat
		case t != ir.TypeInvalid:
			ts = append(ts, t)
		case shape == "" && strings.HasPrefix(word, "m"):
			shape = word
		default:
			return
		}
	}
	if n, err := fmt.Sscanf(shape, "m%dn%dk%d", &w.m, &w.n, &w.k); n != 3 || err != nil {
		return
	}
	if w.layout(layouts) && w.types(ts) && w.modelled(shape) {
		s.unmodelled, s.wm, s.Type = false, w, w.d
	}
}

var modifierSpace = map[string]ir.Space{"global": ir.Global, "shared": ir.Shared, "shared::cta": ir.Shared}

func (w *wmma) layout(rows []bool) bool {
	want := 1
	if w.what == 'm' {
		want = 2
	}
	if len(rows) != want {
		return false
	}
	w.row, w.brow = rows[0], rows[want-1]
	return true
}

// types takes the types as written: one of a load or the store, D and C of a product of
// halves, else those of D, A, B and C.
func (w *wmma) types(ts []ir.Type) bool {
	switch {
	case w.what != 'm' && len(ts) == 1:
		w.d, w.a, w.b, w.c = ts[0], ts[0], ts[0], ts[0]
	case w.what == 'm' && len(ts) == 2:
		w.d, w.a, w.b, w.c = ts[0], ir.F16, ir.F16, ts[1]
	case w.what == 'm' && len(ts) == 4:
		w.d, w.a, w.b, w.c = ts[0], ts[1], ts[2], ts[3]
	default:
		return false
	}
	return w.a == w.b && w.c == w.d
}

// modelled reports whether there is such an instruction, and it is not one of those that the
// simulator refuses: bytes that are not contiguous along k, elements of four bits and of one.
func (w *wmma) modelled(shape string) bool {
	in := func(t ir.Type) bool { return strings.Contains(" "+wmmaShapes[t]+" ", " "+shape+" ") }
	switch w.what {
	case 'a', 'b':
		bytes := w.a == ir.S8 || w.a == ir.U8
		return in(w.a) && (!bytes || w.side(w.what).along)
	case 'c', 'd':
		for a, rs := range results {
			if rs&types(w.c) != 0 && in(a) {
				return true
			}
		}
		return false
	}
	return in(w.a) && results[w.a]&types(w.d) != 0
}
