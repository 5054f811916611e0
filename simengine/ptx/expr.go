package ptx

import (
	"math"
	"strconv"
)

// Binary operators of constant expressions and their precedence, as in C.
var precedence = map[kind]int{
	tOrOr: 1, tAndAnd: 2, '|': 3, '^': 4, '&': 5,
	tEQ: 6, tNE: 6, '<': 7, '>': 7, tLE: 7, tGE: 7,
	tShl: 8, tShr: 8, '+': precAdd, '-': precAdd, '*': 10, '/': 10, '%': 10,
}

const precAdd = 9

// expr reads a constant expression whose operators bind at least as tightly
// as minPrec; with 0 the conditional operator is read too.
func (p *parser) expr(minPrec int) Operand {
	if !p.enter() {
		return Operand{At: p.tok.at}
	}
	defer p.leave()
	x := p.unary()
	for {
		prec, ok := precedence[p.tok.kind]
		if !ok || prec < max(minPrec, 1) {
			break
		}
		op := p.text()
		p.next()
		y := p.expr(prec + 1)
		if prec == precAdd && isAddress(&x) {
			x = p.node(Sum, x.At, op, x, y)
		} else {
			x = p.node(Binary, x.At, op, x, y)
		}
	}
	if minPrec == 0 && p.got('?') {
		y := p.expr(0)
		p.want(':', "':'")
		z := p.expr(0)
		x = p.node(Cond, x.At, "", x, y, z)
	}
	return x
}

// isAddress reports whether o names a place in memory, so that o+4 is a Sum.
func isAddress(o *Operand) bool {
	return o.Kind == Name || o.Kind == Sum || o.Kind == Unary && charClass[o.Text[0]]&chLetter != 0
}

func (p *parser) unary() Operand {
	at := p.tok.at
	switch k := p.tok.kind; k {
	case '-', '+', '~', '!':
		op, end := p.text(), p.tok.end
		p.next()
		if k == '-' && p.tok.start == end && (p.tok.kind == tInt || p.tok.kind == tFloat) {
			return p.literal(at, end-1)
		}
		x := p.unaryOperand()
		if k == '!' {
			return p.not(at, x)
		}
		return p.node(Unary, at, op, x)
	case '(':
		return p.parenthesis()
	case tInt, tFloat:
		o := p.literal(at, p.tok.start)
		if o.Kind == Int && p.tok.kind == '(' { // 0xFF00(name): a part of an address
			return p.apply(o)
		}
		return o
	case tWord:
		o := p.name()
		if p.tok.kind == '(' {
			return p.apply(o)
		}
		return o
	}
	p.unexpected("an operand")
	return Operand{At: at}
}

// apply reads generic(name), 0xFF(name) and the like.
func (p *parser) apply(f Operand) Operand {
	p.next()
	x := p.node(Unary, f.At, f.Text, p.expr(0))
	p.want(')', "')'")
	return x
}

func (p *parser) unaryOperand() Operand {
	if !p.enter() {
		return Operand{At: p.tok.at}
	}
	defer p.leave()
	return p.unary()
}

// parenthesis reads (expr) or a cast (.u64)x.
func (p *parser) parenthesis() Operand {
	at := p.tok.at
	p.next()
	if p.tok.kind != tDot {
		x := p.expr(0)
		p.want(')', "')'")
		return x
	}
	cast := "(" + p.text() + ")"
	if t := p.text(); t != ".s64" && t != ".u64" {
		p.errorAt(p.tok.at, "unknown cast to %s", t)
	}
	p.next()
	p.want(')', "')'")
	return p.node(Unary, at, cast, p.unaryOperand())
}

// literal reads a number that starts at byte start (a sign included).
func (p *parser) literal(at Loc, start int) Operand {
	o := Operand{At: at, Kind: Int, Text: p.lex.src[start:p.tok.end]}
	digits := p.text()
	ok := true
	if p.tok.kind == tInt {
		o.Bits, ok = parseInt(digits)
		last := digits[len(digits)-1]
		o.Unsigned = last == 'U' || last == 'u' || o.Bits > math.MaxInt64
		if start < p.tok.start {
			o.Bits = -o.Bits
		}
	} else {
		o.Kind = Float
		o.Bits, o.Single, ok = parseFloat(digits)
		if start < p.tok.start {
			if o.Single {
				o.Bits ^= 1 << 31
			} else {
				o.Bits ^= 1 << 63
			}
		}
	}
	if !ok {
		p.errorAt(p.tok.at, "malformed number %q", digits)
	}
	p.next()
	return o
}

// parseInt reads an unsigned integer literal: decimal, 0x, 0b, 0 octal, with an
// optional U.
func parseInt(s string) (uint64, bool) {
	if n := len(s); n > 1 && (s[n-1] == 'U' || s[n-1] == 'u') {
		s = s[:n-1]
	}
	base := 10
	if len(s) > 1 && s[0] == '0' {
		switch s[1] {
		case 'x', 'X':
			s, base = s[2:], 16
		case 'b', 'B':
			s, base = s[2:], 2
		default:
			s, base = s[1:], 8
		}
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}

// parseFloat reads 0f and eight hexadecimal digits (single), 0d and sixteen,
// or a decimal number, which is a double.
func parseFloat(s string) (bits uint64, single, ok bool) {
	if len(s) > 1 && s[0] == '0' {
		switch s[1] {
		case 'f', 'F':
			n, err := strconv.ParseUint(s[2:], 16, 32)
			return n, true, err == nil && len(s) == 10
		case 'd', 'D':
			n, err := strconv.ParseUint(s[2:], 16, 64)
			return n, false, err == nil && len(s) == 18
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	return math.Float64bits(f), false, err == nil
}
