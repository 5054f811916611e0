package lower

import (
	"fmt"
	"strings"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// Textures and surfaces (PTX ISA, section on texture and surface instructions), by handle alone (.texmode_unified).
// Not modelled: mipmaps (.grad, .base), cubes, multi-sample arrays, offsets and depth comparison, packed halves,
// formatted stores (sust.p), reductions on surfaces, and textures named by .texref.
var textureSpecs = map[string]*spec{
	"tex":       {op: ir.Tex, form: formTexture},
	"tex.level": {op: ir.Tex, form: formTexture},
	"tld4":      {op: ir.Tex, form: formTexture},
	"txq":       {op: ir.Txq, form: formTexture},
	"suq":       {op: ir.Txq, form: formTexture},
	"suld.b":    {op: ir.Suld, form: formTexture},
	"sust.b":    {op: ir.Sust, form: formTexture},
}

var (
	texelTypes      = types(ir.U32, ir.S32, ir.F32)
	coordinateTypes = types(ir.S32, ir.F32)
	surfaceTypes    = types(ir.B8, ir.B16, ir.B32, ir.B64)
)

// texture decodes the modifiers after the base opcode.
func (s *shape) texture(opcode, rest string) {
	t := &ir.Texture{Level: strings.HasPrefix(opcode, "tex.level")}
	s.Texture, s.Space = t, ir.Global
	words := strings.Split(rest, ".")
	wrong := func() { s.problem = fmt.Sprintf("unknown instruction %q", opcode) }
	if s.Op == ir.Txq {
		s.Type = ir.B32
		t.Query = ir.QueryNamed(words[0])
		if s.unmodelled = t.Query == ir.QueryNone; !s.unmodelled && (len(words) != 2 || words[1] != "b32") {
			wrong()
		}
		return
	}
	if strings.HasPrefix(opcode, "tld4") {
		t.Gather, t.Channel = true, strings.Index("rgba", words[0])
		if t.Channel < 0 || len(words[0]) != 1 {
			wrong()
			return
		}
		words = words[1:]
	}
	if len(words) == 0 || !t.SetGeometry(words[0]) {
		s.unmodelled = len(words) > 0 && (words[0] == "cube" || words[0] == "acube" || words[0] == "2dms" || words[0] == "a2dms" || words[0] == "grad" || words[0] == "base")
		if !s.unmodelled {
			wrong()
		}
		return
	}
	if s.Op == ir.Tex {
		s.sample(opcode, words[1:])
		return
	}
	s.surface(opcode, words[1:])
}

// sample reads .v4.TYPE.COORDINATE.
func (s *shape) sample(opcode string, words []string) {
	if len(words) == 3 && words[0] == "v2" && words[1] == "f16x2" || len(words) == 3 && words[1] == "f16" {
		s.unmodelled = true
		return
	}
	if len(words) != 3 || words[0] != "v4" {
		s.problem = fmt.Sprintf("unknown instruction %q", opcode)
		return
	}
	s.Vec, s.Type, s.SrcType = 4, registerType(words[1]), registerType(words[2])
	switch {
	case texelTypes>>s.Type&1 == 0 || coordinateTypes>>s.SrcType&1 == 0:
		s.problem = fmt.Sprintf("%s does not take these types in %q", s.Op, opcode)
	case s.Texture.Gather && (s.SrcType != ir.F32 || s.Texture.Dims != 2):
		s.problem = fmt.Sprintf("tld4 takes two dimensions and coordinates of f32 in %q", opcode)
	}
}

// surface reads {.CACHE}{.VECTOR}.TYPE.OUTSIDE.
func (s *shape) surface(opcode string, words []string) {
	s.Vec = 1
	for _, word := range words {
		switch word {
		case "ca", "cg", "cs", "cv", "wb", "wt":
		case "v2":
			s.Vec = 2
		case "v4":
			s.Vec = 4
		default:
			if o := ir.OutsideNamed(word); o != ir.OutsideNone && s.Texture.Outside == ir.OutsideNone {
				s.Texture.Outside = o
			} else if t := registerType(word); surfaceTypes>>t&1 == 1 && s.Type == ir.TypeInvalid {
				s.Type = t
			} else {
				s.problem = fmt.Sprintf("unknown modifier .%s in %q", word, opcode)
				return
			}
		}
	}
	if s.Type == ir.TypeInvalid || s.Texture.Outside == ir.OutsideNone || s.Type.Size()*int(s.Vec) > 16 {
		s.problem = fmt.Sprintf("a type or what happens outside is missing in %q", opcode)
	}
}

// texture builds the instruction: {d, } [handle, {coordinates}] {, value or level}.
func (b *kernelBuilder) texture(s *site) bool {
	t := s.out.Texture
	switch s.out.Op {
	case ir.Txq:
		o, ok := b.next(s)
		if !ok || !b.dest(s, o, ir.B32, false) {
			return false
		}
	case ir.Tex, ir.Suld:
		o, ok := b.next(s)
		if !ok || !b.vector(s, o, true) {
			return false
		}
	}
	o, ok := b.next(s)
	if !ok || !b.handle(s, o) {
		return false
	}
	if s.out.Op != ir.Txq && !b.coordinates(s, &o.Elems[1]) {
		return false
	}
	if s.out.Op == ir.Sust {
		v, ok := b.next(s)
		return ok && b.vector(s, v, false) && b.done(s)
	}
	if t.Level && !b.sourceArg(s, s.shape.SrcType, false) {
		return false
	}
	if s.arg < len(s.in.Args) {
		b.refuse(s.in.At, s.in.Op+" with an offset, a depth comparison or a predicate")
		return false
	}
	return true
}

// handle reads the first part of [handle, {coordinates}].
func (b *kernelBuilder) handle(s *site, o *ptx.Operand) bool {
	want := 1 + b2i(s.out.Op != ir.Txq)
	if o.Kind == ptx.Address && len(o.Elems) == 3 {
		b.refuse(o.At, s.in.Op+" with a sampler of its own")
		return false
	}
	if o.Kind != ptx.Address || len(o.Elems) != want {
		b.errorf(o.At, "%s: a texture or surface and coordinates in brackets are wanted", s.what())
		return false
	}
	e := &o.Elems[0]
	if sym, ok := b.lookup(e.Text); e.Kind == ptx.Name && (ok && sym.kind != symReg || !ok && !strings.HasPrefix(e.Text, "%")) {
		b.refuse(e.At, s.in.Op+" of a texture or surface reference (pass a cudaTextureObject_t or cudaSurfaceObject_t instead)")
		return false
	}
	return b.source(s, e, ir.B64, true)
}

// coordinates reads {layer, x, y, z}, as many as the geometry has. Where there are three PTX has four, the last of
// which means nothing.
func (b *kernelBuilder) coordinates(s *site, o *ptx.Operand) bool {
	t := s.out.Texture
	n := t.Coordinates()
	elems := []ptx.Operand{*o}
	if o.Kind == ptx.Vector {
		elems = o.Elems
	}
	want := n
	if n == 3 {
		want = 4
	}
	if len(elems) != want {
		b.errorf(o.At, "%s: %d coordinates, want %d", s.what(), len(elems), want)
		return false
	}
	ct := s.shape.SrcType
	if s.out.Op != ir.Tex {
		ct = ir.B32
	}
	for i := range n {
		et := ct
		if t.Layered && i == 0 {
			et = ir.B32
		}
		if !b.source(s, &elems[i], et, true) {
			return false
		}
	}
	return true
}

func b2i(x bool) int {
	if x {
		return 1
	}
	return 0
}
