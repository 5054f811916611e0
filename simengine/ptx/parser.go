package ptx

import (
	"fmt"
	"strings"
)

// Parse reads one PTX text; file is its name in messages. On error the error
// is an ErrorList with every diagnostic found, up to MaxErrors, and the module
// holds what could be read. It never panics.
func Parse(file string, src []byte) (*Module, error) {
	p := &parser{file: file}
	if len(src) > MaxText {
		p.errorAt(Loc{Line: 1, Col: 1}, "%d bytes of PTX are more than %d MiB", len(src), MaxText>>20)
		return &Module{File: file}, p.errs
	}
	p.lex = lexer{src: string(src), line: 1, fail: p.errorAt}
	p.next()
	m := &Module{File: file}
	if !p.version() {
		return m, p.errs
	}
	for p.tok.kind != tEOF && !p.tooMany() {
		if n := p.item(); n != nil {
			m.Items = append(m.Items, n)
		}
	}
	if len(p.errs) > 0 {
		return m, p.errs
	}
	return m, nil
}

// parser is a recursive descent over one token of look-ahead.
type parser struct {
	file  string
	lex   lexer
	tok   token
	errs  ErrorList
	depth int // nesting of expressions and scopes, bounded by maxDepth

	stack  []Operand // operands of the lists being read
	ops    []Operand // slab that finished lists are cut from
	instrs []Instr   // slab of instructions
}

// MaxText is the most bytes of PTX that are read: some ten times the largest
// kernels in use.
const MaxText = 16 << 20

// maxDepth bounds recursion, so that hostile input cannot exhaust the stack.
const maxDepth = 200

func (p *parser) errorAt(at Loc, format string, args ...any) {
	if p.tooMany() {
		return
	}
	pos := Pos{File: p.file, Line: int(at.Line), Col: int(at.Col)}
	// A second report of the same place is an echo of the first.
	if n := len(p.errs); n > 0 && p.errs[n-1].Pos == pos {
		return
	}
	p.errs = append(p.errs, &Error{Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

func (p *parser) tooMany() bool { return len(p.errs) >= MaxErrors }

func (p *parser) next() { p.tok = p.lex.next() }

// text is the source of the current token.
func (p *parser) text() string { return p.lex.src[p.tok.start:p.tok.end] }

// describe names the current token for a message.
func (p *parser) describe() string {
	if p.tok.kind == tEOF {
		return "end of file"
	}
	s := p.text()
	if len(s) > 40 {
		s = s[:40] + "..."
	}
	return fmt.Sprintf("%q", s)
}

// unexpected reports the current token.
func (p *parser) unexpected(want string) {
	if p.tok.kind == tEOF {
		p.errorAt(p.tok.at, "unexpected end of file, expected %s: the file is truncated", want)
		return
	}
	p.errorAt(p.tok.at, "expected %s, found %s", want, p.describe())
}

// got passes the token k when it is the current one.
func (p *parser) got(k kind) bool {
	if p.tok.kind == k {
		p.next()
		return true
	}
	return false
}

// want passes the token k or reports that it is missing.
func (p *parser) want(k kind, what string) bool {
	if p.got(k) {
		return true
	}
	p.unexpected(what)
	return false
}

// ident passes a word and returns it.
func (p *parser) ident(what string) string {
	if p.tok.kind != tWord {
		p.unexpected(what)
		return ""
	}
	s := p.text()
	p.next()
	return s
}

// version checks that the text begins as every PTX file does, so that a file
// of another kind is called one at once.
func (p *parser) version() bool {
	switch {
	case p.tok.kind == tEOF:
		p.errorAt(p.tok.at, "empty file: no .version directive")
	case p.tok.kind != tDot || p.text() != ".version":
		p.errorAt(p.tok.at, "expected .version, found %s: this is not a PTX file", p.describe())
	}
	return len(p.errs) == 0
}

// resync passes tokens up to and including the next ';', or up to a brace, a
// directive at the start of a line, or a token on a later line that looks like
// the start of a statement.
func (p *parser) resync() {
	line := p.tok.at.Line
	for {
		switch p.tok.kind {
		case tEOF, '{', '}':
			return
		case ';':
			p.next()
			return
		case tDot, tWord, '@':
			if p.tok.at.Line != line {
				return
			}
		}
		p.next()
	}
}

// item reads one top-level item, or reports and returns nil.
func (p *parser) item() Node {
	at := p.tok.at
	if p.tok.kind != tDot {
		p.unexpected("a directive")
		if p.tok.kind == '{' || p.tok.kind == '}' {
			p.next()
		}
		p.resync()
		return nil
	}
	linkage := ""
	switch name := p.text(); name {
	case ".extern", ".visible", ".weak", ".common":
		linkage = name
		p.next()
	}
	switch name := p.text(); {
	case name == ".entry" || name == ".func":
		return p.function(at, linkage)
	case isSpace(name):
		return p.variable(at, linkage)
	case linkage != "" || p.tok.kind != tDot:
		p.unexpected(".entry, .func or a state space after " + linkage)
		p.resync()
		return nil
	}
	return p.directive()
}

func isSpace(s string) bool {
	switch s {
	case ".reg", ".param", ".shared", ".global", ".const", ".local", ".tex", ".sreg",
		".shared::cta":
		return true
	}
	return false
}

// directive reads a directive that is neither a function nor a variable.
func (p *parser) directive() *Directive {
	d := &Directive{At: p.tok.at, Name: p.text()}
	p.next()
	mark := len(p.stack)
	switch d.Name {
	case ".version", ".target", ".address_size", ".file", ".loc":
		// These end with their line.
		for p.tok.at.Line == d.At.Line && p.tok.kind != tEOF && p.tok.kind != '}' {
			p.pushRaw()
		}
	case ".section":
		if p.tok.kind == tDot || p.tok.kind == tWord {
			p.pushRaw()
		}
		d.Body, d.HasBody = p.verbatim('{', '}')
	case ".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".maxnreg", ".maxclusterrank",
		".reqnctapercluster", ".explicitcluster", ".blocksareclusters", ".noreturn",
		".abi_preserve", ".abi_preserve_control", ".local_maxnreg":
		for p.tok.kind == tInt || p.tok.kind == ',' {
			p.pushRaw()
		}
	case ".attribute":
		d.Body, d.HasBody = p.verbatim('(', ')')
	case ".pragma", ".branchtargets", ".calltargets", ".callprototype", ".alias":
		for p.tok.kind != ';' && p.tok.kind != tEOF && p.tok.kind != '{' && p.tok.kind != '}' {
			p.pushRaw()
		}
		p.want(';', "';' after "+d.Name)
	default:
		p.errorAt(d.At, "unknown directive %s", d.Name)
		p.resync()
	}
	d.Args = p.pop(mark)
	return d
}

// pushRaw pushes the current token as an operand; commas between them are
// dropped, other punctuation is kept.
func (p *parser) pushRaw() {
	o := Operand{At: p.tok.at, Kind: Raw, Text: p.text()}
	switch p.tok.kind {
	case ',':
		p.next()
		return
	case tInt:
		o.Kind = Int
		o.Bits, _ = parseInt(o.Text)
	case tWord, tDot:
		o.Kind = Name
	case tString:
		o.Kind = String
		o.Text = o.Text[1 : len(o.Text)-1]
	}
	p.push(o)
	p.next()
}

// verbatim returns the text between a bracket and its match.
func (p *parser) verbatim(open, end kind) (string, bool) {
	if p.tok.kind != open {
		p.unexpected(fmt.Sprintf("'%c'", open))
		return "", false
	}
	start, at := p.tok.end, p.tok.at
	for depth := 0; ; p.next() {
		switch p.tok.kind {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				s := p.lex.src[start:p.tok.start]
				p.next()
				return strings.TrimSpace(s), true
			}
		case tEOF:
			p.errorAt(at, "'%c' is not closed: the file is truncated", open)
			return "", false
		}
	}
}

// pop cuts the operands pushed since mark off the stack into the slab.
func (p *parser) pop(mark int) []Operand {
	n := len(p.stack) - mark
	if n == 0 {
		return nil
	}
	if cap(p.ops)-len(p.ops) < n {
		p.ops = make([]Operand, 0, max(256, n))
	}
	start := len(p.ops)
	p.ops = append(p.ops, p.stack[mark:]...)
	p.stack = p.stack[:mark]
	return p.ops[start : start+n : start+n]
}
