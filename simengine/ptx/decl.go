package ptx

import (
	"math"
	"strings"
)

// function reads an .entry or .func; the current token is that directive.
func (p *parser) function(at Loc, linkage string) Node {
	f := &Func{At: at, Linkage: linkage, Entry: p.text() == ".entry"}
	p.next()
	for p.tok.kind == tDot && p.text() == ".attribute" {
		f.Header = append(f.Header, p.directive())
	}
	if !f.Entry && p.tok.kind == '(' {
		f.Rets = p.params()
	}
	f.NameAt = p.tok.at
	f.Name = p.ident("the name of a function")
	if p.tok.kind == '(' {
		f.HasParams = true
		f.Params = p.params()
	}
	for p.tok.kind == tDot && !p.tooMany() {
		if isSpace(p.text()) || p.text() == ".entry" || p.text() == ".func" {
			break
		}
		f.Header = append(f.Header, p.directive())
	}
	switch p.tok.kind {
	case ';':
		p.next()
	case '{':
		f.Body = p.block("function " + f.Name)
	default:
		p.unexpected("'{' or ';' after function " + f.Name)
		p.resync()
	}
	return f
}

// params reads a parenthesised parameter list.
func (p *parser) params() []*VarDecl {
	var list []*VarDecl
	p.next() // (
	for p.tok.kind != ')' {
		if p.tok.kind != tDot || !isSpace(p.text()) {
			p.unexpected("a parameter")
			for p.tok.kind != ')' && p.tok.kind != '{' && p.tok.kind != ';' && p.tok.kind != tEOF {
				p.next()
			}
			break
		}
		v := p.typed(p.tok.at, "")
		v.Names = append(v.Names, p.declarator())
		list = append(list, v)
		if p.tok.kind != ')' && !p.want(',', "',' or ')' in the parameter list") {
			p.resync()
			return list
		}
	}
	p.want(')', "')'")
	return list
}

// variable reads a declaration up to its ';'.
func (p *parser) variable(at Loc, linkage string) Node {
	v := p.typed(at, linkage)
	for {
		v.Names = append(v.Names, p.declarator())
		if !p.got(',') {
			break
		}
	}
	if !p.want(';', "';' after the declaration") {
		p.resync()
	}
	return v
}

// typed reads the space, alignment, attributes and type of a declaration.
func (p *parser) typed(at Loc, linkage string) *VarDecl {
	v := &VarDecl{At: at, Linkage: linkage, Space: p.text()}
	p.next()
	for p.tok.kind == tDot {
		switch s := p.text(); {
		case s == ".align":
			p.next()
			v.Align = p.align()
		case s == ".attribute":
			v.Attr = p.directive().Body
		case s == ".ptr":
			p.pointer(v)
		case s == ".v2" || s == ".v4" || s == ".v8":
			v.Vector = s
			p.next()
		case v.Type == "":
			v.Type = s
			if !knownTypes[s] {
				p.errorAt(p.tok.at, "unknown type %s", s)
			}
			p.next()
		default:
			p.errorAt(p.tok.at, "unexpected %s in a declaration", s)
			p.next()
		}
	}
	if v.Type == "" {
		p.unexpected("a type")
	}
	return v
}

var knownTypes = func() map[string]bool {
	m := map[string]bool{}
	for _, t := range strings.Fields(`.pred .b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64
		.f16 .f16x2 .bf16 .bf16x2 .f32 .f64 .u16x2 .s16x2 .tf32 .e4m3 .e5m2 .e4m3x2 .e5m2x2
		.texref .samplerref .surfref`) {
		m[t] = true
	}
	return m
}()

// pointer reads `.ptr .space .align N` of a kernel parameter.
func (p *parser) pointer(v *VarDecl) {
	v.Ptr = append(v.Ptr, p.text())
	p.next()
	for p.tok.kind == tDot {
		switch s := p.text(); s {
		case ".global", ".shared", ".const", ".local", ".generic":
			v.Ptr = append(v.Ptr, s)
			p.next()
		case ".align":
			v.Ptr = append(v.Ptr, s)
			p.next()
			v.Ptr = append(v.Ptr, p.text())
			p.align()
		default:
			return
		}
	}
}

// align reads the operand of .align: a power of two.
func (p *parser) align() int {
	at := p.tok.at
	n, ok := p.intLiteral("an alignment")
	if ok && (n == 0 || n > 1<<20 || n&(n-1) != 0) {
		p.errorAt(at, "alignment %d is not a power of two", n)
		return 0
	}
	return int(n)
}

func (p *parser) intLiteral(what string) (uint64, bool) {
	if p.tok.kind != tInt {
		p.unexpected(what)
		return 0, false
	}
	n, ok := parseInt(p.text())
	if !ok {
		p.errorAt(p.tok.at, "malformed number %q", p.text())
	}
	p.next()
	return n, ok
}

// declarator reads name, name<N>, name[N] and an initialiser.
func (p *parser) declarator() Declarator {
	d := Declarator{At: p.tok.at, Count: -1, Name: p.ident("a name")}
	if p.got('<') {
		at := p.tok.at
		n, ok := p.intLiteral("the number of registers")
		if ok && n > 1<<24 {
			p.errorAt(at, "%d registers are too many", n)
			n = 0
		}
		d.Count = int(n)
		p.want('>', "'>'")
	}
	for p.tok.kind == '[' {
		p.next()
		dim := int64(-1)
		if p.tok.kind != ']' {
			at := p.tok.at
			n, ok := p.intLiteral("an array size")
			if ok && n > math.MaxInt32*4 {
				p.errorAt(at, "array size %d is too large", n)
				n = 0
			}
			dim = int64(n)
		}
		d.Dims = append(d.Dims, dim)
		if !p.want(']', "']'") {
			break
		}
	}
	if p.got('=') {
		mark := len(p.stack)
		p.push(p.initialiser())
		d.Init = p.pop(mark)
	}
	return d
}

// initialiser reads a constant, an address, or a braced list of them.
func (p *parser) initialiser() Operand {
	if p.tok.kind != '{' {
		return p.expr(0)
	}
	o := Operand{At: p.tok.at, Kind: Vector}
	p.next()
	if !p.enter() {
		return o
	}
	defer p.leave()
	mark := len(p.stack)
	for p.tok.kind != '}' && p.tok.kind != tEOF {
		p.push(p.initialiser())
		if p.tok.kind != '}' && !p.want(',', "',' or '}' in the initialiser") {
			break
		}
	}
	p.want('}', "'}'")
	o.Elems = p.pop(mark)
	return o
}

// enter counts a level of nesting and reports one too many.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.errorAt(p.tok.at, "nested too deeply")
		p.depth--
		p.lex.off = len(p.lex.src)
		p.tok = p.lex.next()
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }

func (p *parser) push(o Operand) { p.stack = append(p.stack, o) }
