package ptx

import "strings"

// block reads { statements }; owner names it for the message when it is not
// closed.
func (p *parser) block(owner string) *Block {
	b := &Block{At: p.tok.at}
	p.next() // {
	if !p.enter() {
		return b
	}
	defer p.leave()
	for p.tok.kind != '}' && !p.tooMany() {
		if p.tok.kind == tEOF {
			p.errorAt(p.tok.at, "unexpected end of file: %s, opened at line %d, is not closed: the file is truncated", owner, b.At.Line)
			return b
		}
		if n := p.statement(); n != nil {
			b.Stmts = append(b.Stmts, n)
		}
	}
	b.End = p.tok.at
	p.next()
	return b
}

func (p *parser) statement() Node {
	switch p.tok.kind {
	case '{':
		return p.block("this scope")
	case '@':
		return p.instruction(p.guard())
	case tWord:
		return p.labelOrInstr()
	case tDot:
		return p.bodyDirective()
	case ';':
		p.next()
		return nil
	}
	p.unexpected("an instruction")
	if p.tok.kind == ')' || p.tok.kind == ']' {
		p.next()
	}
	p.resyncStatement()
	return nil
}

// resyncStatement is resync that always makes progress.
func (p *parser) resyncStatement() {
	start := p.tok.start
	p.resync()
	if p.tok.start == start && p.tok.kind != tEOF && p.tok.kind != '}' && p.tok.kind != '{' {
		p.next()
	}
}

func (p *parser) bodyDirective() Node {
	at, linkage := p.tok.at, ""
	switch s := p.text(); s {
	case ".extern", ".visible", ".weak", ".common":
		linkage = s
		p.next()
	case ".entry", ".func":
		p.errorAt(at, "%s inside a function: a '}' is missing before it", s)
		p.next()
		p.resync()
		return nil
	}
	if isSpace(p.text()) {
		return p.variable(at, linkage)
	}
	if linkage != "" {
		p.unexpected("a state space after " + linkage)
		p.resyncStatement()
		return nil
	}
	return p.directive()
}

// guard reads @p or @!p.
func (p *parser) guard() *Instr {
	in := p.newInstr()
	in.At = p.tok.at
	p.next() // @
	in.GuardNot = p.got('!')
	in.Guard = p.ident("a predicate register")
	return in
}

func (p *parser) newInstr() *Instr {
	if len(p.instrs) == cap(p.instrs) {
		p.instrs = make([]Instr, 0, 256)
	}
	p.instrs = append(p.instrs, Instr{})
	return &p.instrs[len(p.instrs)-1]
}

func (p *parser) labelOrInstr() Node {
	at, word := p.tok.at, p.text()
	p.next()
	if p.tok.kind != ':' {
		in := p.newInstr()
		in.At, in.Op = at, word
		return p.operands(in)
	}
	p.next()
	l := &Label{At: at, Name: word}
	if p.tok.kind == tDot {
		switch p.text() {
		case ".branchtargets", ".calltargets", ".callprototype":
			l.Decl = p.directive()
		}
	}
	return l
}

// instruction reads the opcode and operands after a guard.
func (p *parser) instruction(in *Instr) Node {
	if p.tok.kind != tWord {
		p.unexpected("an instruction")
		p.resyncStatement()
		return nil
	}
	in.Op = p.text()
	p.next()
	return p.operands(in)
}

// operands reads the operand list of in and its ';'.
func (p *parser) operands(in *Instr) Node {
	for p.tok.kind == tDot { // "add .f32" is one opcode
		in.Op += p.text()
		p.next()
	}
	mark := len(p.stack)
	call := in.Op == "call" || strings.HasPrefix(in.Op, "call.")
	nerr := len(p.errs)
	for p.tok.kind != ';' {
		p.push(p.operand(call))
		if len(p.errs) > nerr || !p.got(',') {
			break
		}
	}
	in.Args = p.pop(mark)
	switch {
	case len(p.errs) > nerr:
		p.resyncStatement()
	case p.tok.kind == ';':
		p.next()
	default:
		p.unexpected("',' or ';' after an operand of " + in.Op)
		p.resyncStatement()
	}
	return in
}

// operand reads one operand of an instruction; at the top of a call a
// parenthesis is a list and not an expression.
func (p *parser) operand(call bool) Operand {
	o := Operand{At: p.tok.at}
	switch p.tok.kind {
	case tWord:
		o = p.name()
		if p.tok.kind == '|' {
			return p.pair(o)
		}
		if p.tok.kind == '(' && !call {
			return p.apply(o)
		}
		for p.tok.kind == '+' || p.tok.kind == '-' || p.tok.kind == '[' {
			o = p.offset(o)
		}
		return o
	case '[':
		return p.list(Address, ']')
	case '{':
		return p.list(Vector, '}')
	case '(':
		if call {
			return p.list(Group, ')')
		}
	case '!':
		p.next()
		if p.tok.kind == tWord {
			o = p.name()
			o.Not = true
			return o
		}
		return p.not(o.At, p.unaryOperand())
	}
	return p.expr(0)
}

// not is !x: a flag of a name, an operator elsewhere.
func (p *parser) not(at Loc, x Operand) Operand {
	if x.Kind == Name && !x.Not {
		x.At, x.Not = at, true
		return x
	}
	return p.node(Unary, at, "!", x)
}

func (p *parser) name() Operand {
	o := Operand{At: p.tok.at, Kind: Name, Text: p.text()}
	p.next()
	return o
}

// pair reads the q of p|q.
func (p *parser) pair(first Operand) Operand {
	p.next() // |
	second := Operand{At: p.tok.at}
	if p.tok.kind != tWord {
		p.unexpected("a register after '|'")
	} else {
		second = p.name()
	}
	return p.node(Pair, first.At, "", first, second)
}

// offset reads base+offset, base-offset and base[index].
func (p *parser) offset(base Operand) Operand {
	switch k := p.tok.kind; k {
	case '+', '-':
		op := p.text()
		p.next()
		if k == '+' && p.tok.kind == '-' { // [%rd1+-8], as compilers write it
			return p.node(Sum, base.At, op, base, p.unary())
		}
		return p.node(Sum, base.At, op, base, p.expr(precAdd+1))
	case '[':
		p.next()
		x := p.node(Index, base.At, "", base, p.expr(0))
		p.want(']', "']'")
		return x
	}
	return base
}

// list reads a bracketed list; p.tok is the opening bracket.
func (p *parser) list(k OperandKind, end kind) Operand {
	o := Operand{At: p.tok.at, Kind: k}
	p.next()
	if !p.enter() {
		return o
	}
	defer p.leave()
	mark, nerr := len(p.stack), len(p.errs)
	for p.tok.kind != end {
		p.push(p.operand(false))
		if len(p.errs) > nerr || !p.got(',') {
			break
		}
	}
	o.Elems = p.pop(mark)
	if len(p.errs) == nerr {
		p.want(end, "'"+string(rune(end))+"'")
	}
	return o
}

// node makes an operand of others.
func (p *parser) node(k OperandKind, at Loc, text string, elems ...Operand) Operand {
	mark := len(p.stack)
	p.stack = append(p.stack, elems...)
	return Operand{At: at, Kind: k, Text: text, Elems: p.pop(mark)}
}
