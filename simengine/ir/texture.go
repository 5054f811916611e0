package ir

import "strings"

// Texture describes a Tex, Txq, Suld or Sust. Their operands in Instr.Src are the object's handle, of 64 bits; for a
// layered array its layer; the coordinates, Dims of them; of a Sust the values stored; of a Tex with Level the level of
// detail. A Txq has the handle only. Dst of a Tex are four channels, or the four texels of a gather.
type Texture struct {
	Dims    int // 1 to 3
	Layered bool
	Level   bool // a level of detail is given, which arrays without mipmaps ignore
	Gather  bool // tld4
	Channel int  // of a gather: 0 to 3
	Outside Outside
	Query   Query
}

// Outside is what a surface access does that lies outside. The zero value is none: of textures the object says it.
type Outside uint8

// What surface accesses do outside.
const (
	OutsideNone Outside = iota
	OutsideTrap
	OutsideClamp
	OutsideZero
)

// Query is what a Txq asks for.
type Query uint8

// Queries.
const (
	QueryNone Query = iota
	QueryWidth
	QueryHeight
	QueryDepth
	QueryNormalized
)

var outsideNames = [...]string{OutsideTrap: "trap", OutsideClamp: "clamp", OutsideZero: "zero"}

var queryNames = [...]string{QueryWidth: "width", QueryHeight: "height", QueryDepth: "depth", QueryNormalized: "normalized_coords"}

func (o Outside) String() string { return name(outsideNames[:], int(o), "outside") }

func (q Query) String() string { return name(queryNames[:], int(q), "query") }

// OutsideNamed is the value of a spelling; none: there is none.
func OutsideNamed(word string) Outside { return Outside(indexOf(outsideNames[:], word)) }

// QueryNamed is the value of a spelling; none: there is none.
func QueryNamed(word string) Query { return Query(indexOf(queryNames[:], word)) }

func indexOf(table []string, word string) int {
	for i, n := range table {
		if n == word && n != "" {
			return i
		}
	}
	return 0
}

// Coordinates is how many operands place an access: the layer, too.
func (t *Texture) Coordinates() int { return t.Dims + b2i(t.Layered) }

// Geometry is the spelling: 1d, 2d, 3d, a1d or a2d.
func (t *Texture) Geometry() string {
	return [...]string{"", "a"}[b2i(t.Layered)] + [...]string{"", "1d", "2d", "3d"}[t.Dims]
}

// SetGeometry sets the dimensions by their spelling, and reports whether it is one.
func (t *Texture) SetGeometry(word string) bool {
	digits, layered := strings.CutPrefix(word, "a")
	t.Layered, t.Dims = layered, 0
	if len(digits) == 2 && digits[1] == 'd' && digits[0] >= '1' && digits[0] <= '3' && !(layered && digits[0] == '3') {
		t.Dims = int(digits[0] - '0')
	}
	return t.Dims > 0
}

// IsTexture reports whether an operation goes through the texture unit.
func (o Op) IsTexture() bool { return o == Tex || o == Suld || o == Sust }

// texture spells an instruction on a texture or surface.
func (s *spelling) texture() {
	in, t := s.in, s.in.Texture
	switch in.Op {
	case Txq:
		s.str("txq."+t.Query.String()+".b32", true)
		return
	case Tex:
		s.str("tex", !t.Gather)
		s.str(".level", t.Level)
		s.str("tld4."+[...]string{"r", "g", "b", "a"}[t.Channel&3], t.Gather)
		s.str("."+t.Geometry()+".v4", true)
		s.types()
		return
	}
	s.str(in.Op.String()+"."+t.Geometry(), true)
	s.str(".v"+string('0'+rune(in.Vec)), in.Vec > 1)
	s.types()
	s.dot(true, t.Outside)
}

// texture writes the operands: the place with its coordinates, which PTX pads to four where there are three.
func (w *operandWriter) texture() {
	in, t := w.in, w.in.Texture
	w.sep()
	w.b.WriteByte('[')
	w.source(0)
	n := t.Coordinates()
	if in.Op == Txq {
		n = 0
	}
	for c := range n {
		w.b.WriteString([...]string{", ", ", {"}[b2i(c == 0)])
		w.source(1 + c)
	}
	if n == 3 {
		w.b.WriteString(", ")
		w.source(n)
	}
	if n > 0 {
		w.b.WriteByte('}')
	}
	w.b.WriteByte(']')
	if in.Op == Sust {
		w.braces(1+n, len(in.Src)-1-n)
		return
	}
	w.list(1+n, false)
}
