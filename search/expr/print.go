package expr

import "strings"

// Precedences of the grammar, loosest first. A node is put in parentheses
// where a tighter one is expected.
const (
	precCond = iota
	precOr
	precAnd
	precNot
	precCompare
	precBitOr
	precBitXor
	precBitAnd
	precShift
	precSum
	precProduct
	precUnary
	precPower
	precAtom
)

// String returns the canonical text: one space around binary operators and
// after commas, parentheses only where needed. It parses to the same tree.
func (e *Expr) String() string {
	var p printer
	p.node(e.Root, precCond)
	return p.String()
}

type printer struct{ strings.Builder }

func precedence(n Node) int {
	switch n := n.(type) {
	case *Cond:
		return precCond
	case *Logic:
		if n.Op == "or" {
			return precOr
		}
		return precAnd
	case *Compare:
		return precCompare
	case *Unary:
		if n.Op == "not" {
			return precNot
		}
		return precUnary
	case *Binary:
		return binaryPrecedence(n.Op)
	case *Literal:
		if strings.HasPrefix(n.Value.String(), "-") {
			return precUnary
		}
	}
	return precAtom
}

func binaryPrecedence(op string) int {
	switch op {
	case "|":
		return precBitOr
	case "^":
		return precBitXor
	case "&":
		return precBitAnd
	case "<<", ">>":
		return precShift
	case "+", "-":
		return precSum
	case "**":
		return precPower
	}
	return precProduct
}

func (p *printer) node(n Node, want int) {
	if precedence(n) < want {
		p.WriteByte('(')
		defer p.WriteByte(')')
	}
	switch n := n.(type) {
	case *Literal:
		n.Value.write(&p.Builder)
	case *Name:
		p.WriteString(n.Name)
	case *Unary:
		p.unary(n)
	case *Binary:
		p.binary(n)
	case *Compare:
		p.compare(n)
	case *Logic:
		for i, t := range n.Terms {
			if i > 0 {
				p.WriteString(" " + n.Op + " ")
			}
			p.node(t, precedence(n)+1)
		}
	case *Cond:
		p.node(n.Then, precOr)
		p.WriteString(" if ")
		p.node(n.Test, precOr)
		p.WriteString(" else ")
		p.node(n.Else, precCond)
	case *Call:
		p.call(n)
	case *Index:
		p.node(n.X, precAtom)
		p.WriteByte('[')
		p.node(n.I, precCond)
		p.WriteByte(']')
	case *Sequence:
		p.sequence(n)
	case *Comprehension:
		p.WriteByte(n.Open)
		p.comprehension(n)
		p.WriteByte(closing(n.Open))
	}
}

func closing(open byte) byte {
	switch open {
	case '[':
		return ']'
	case '{':
		return '}'
	}
	return ')'
}

func (p *printer) unary(n *Unary) {
	p.WriteString(n.Op)
	if n.Op == "not" {
		p.WriteByte(' ')
		p.node(n.X, precNot)
		return
	}
	p.node(n.X, precUnary)
}

func (p *printer) binary(n *Binary) {
	prec := binaryPrecedence(n.Op)
	left, right := prec, prec+1
	if n.Op == "**" { // right-associative; a sign may stand on the right only
		left, right = precAtom, precUnary
	}
	p.node(n.X, left)
	p.WriteString(" " + n.Op + " ")
	p.node(n.Y, right)
}

func (p *printer) compare(n *Compare) {
	for i, t := range n.Terms {
		if i > 0 {
			p.WriteString(" " + n.Ops[i-1] + " ")
		}
		p.node(t, precBitOr)
	}
}

func (p *printer) call(n *Call) {
	p.WriteString(n.Func + "(")
	if len(n.Args) == 1 {
		if c, ok := n.Args[0].(*Comprehension); ok && c.Open == '(' {
			p.comprehension(c)
			p.WriteByte(')')
			return
		}
	}
	p.items(n.Args)
	p.WriteByte(')')
}

func (p *printer) sequence(n *Sequence) {
	p.WriteByte(n.Open)
	p.items(n.Items)
	if n.Open == '(' && len(n.Items) == 1 {
		p.WriteByte(',')
	}
	p.WriteByte(closing(n.Open))
}

func (p *printer) items(ns []Node) {
	for i, n := range ns {
		if i > 0 {
			p.WriteString(", ")
		}
		p.node(n, precCond)
	}
}

func (p *printer) comprehension(n *Comprehension) {
	p.node(n.Item, precCond)
	for _, c := range n.Clauses {
		p.WriteString(" for " + c.Name + " in ")
		p.node(c.Iter, precOr)
		for _, t := range c.Ifs {
			p.WriteString(" if ")
			p.node(t, precOr)
		}
	}
}
