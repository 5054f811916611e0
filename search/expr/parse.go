package expr

import "slices"

// Parse reads one expression. Errors are *Error.
func Parse(text string) (*Expr, error) {
	toks, err := scan(text)
	if err != nil {
		return nil, err
	}
	p := &parser{scanner: scanner{text: text}, toks: toks}
	n := p.top()
	if p.err != nil {
		return nil, p.err
	}
	return &Expr{text, n}, nil
}

// parser is a recursive descent parser. After the first error p.err is set,
// every method returns at once and what it returns is meaningless.
type parser struct {
	scanner
	toks  []token
	i     int
	depth int
	err   *Error
}

func (p *parser) fail(at int, format string, args ...any) Node {
	if p.err == nil {
		p.err = p.errorf(at, format, args...)
		p.i = len(p.toks) - 1 // only the end is left: every loop stops
	}
	return &Literal{At: at, Value: Int(0)}
}

func (p *parser) peek() token { return p.toks[p.i] }

func (p *parser) at(op string) bool {
	t := p.toks[p.i]
	return t.kind == tokOp && t.text == op
}

// accept consumes an operator if it is next.
func (p *parser) accept(op string) bool {
	if !p.at(op) {
		return false
	}
	p.i++
	return true
}

func (p *parser) expect(op, what string) {
	if !p.accept(op) && p.err == nil {
		p.fail(p.peek().at, "%s expected %s, found %s", op, what, p.found())
	}
}

func (p *parser) found() string {
	switch t := p.peek(); t.kind {
	case tokEnd:
		return "the end"
	case tokLiteral:
		return t.value.String()
	default:
		return t.text
	}
}

// enter counts nesting; the caller must leave when it is true.
func (p *parser) enter() bool {
	if p.depth >= MaxDepth {
		p.fail(p.peek().at, "expression is nested deeper than %d levels", MaxDepth)
		return false
	}
	p.depth++
	return true
}

func (p *parser) leave() { p.depth-- }

// top reads the whole text: an expression, or a tuple without parentheses.
func (p *parser) top() Node {
	if p.peek().kind == tokEnd {
		return p.fail(p.peek().at, "expression is empty")
	}
	n := p.expression()
	if p.at(",") {
		at := n.Pos()
		n = &Sequence{At: at, Open: '(', Items: p.rest(n, "")}
	}
	if p.err == nil && p.peek().kind != tokEnd {
		return p.fail(p.peek().at, "unexpected %s after the expression", p.found())
	}
	return n
}

// rest reads ", x, y" after a first item up to the closing bracket, which it
// leaves; a trailing comma is allowed.
func (p *parser) rest(first Node, closing string) []Node {
	items := []Node{first}
	for p.accept(",") {
		if p.peek().kind == tokEnd || closing != "" && p.at(closing) {
			break
		}
		items = append(items, p.expression())
	}
	return items
}

// expression reads "or-expression [if or-expression else expression]".
func (p *parser) expression() Node {
	if !p.enter() {
		return p.fail(0, "")
	}
	defer p.leave()
	n := p.logic("or")
	if at := p.peek().at; p.accept("if") {
		test := p.logic("or")
		p.expect("else", "after if")
		return &Cond{At: at, Then: n, Test: test, Else: p.expression()}
	}
	return n
}

// logic reads terms joined by or, whose terms are joined by and.
func (p *parser) logic(op string) Node {
	term := func() Node {
		if op == "or" {
			return p.logic("and")
		}
		return p.negation()
	}
	n := term()
	if !p.at(op) {
		return n
	}
	l := &Logic{At: p.peek().at, Op: op, Terms: []Node{n}}
	for p.accept(op) {
		l.Terms = append(l.Terms, term())
	}
	return l
}

func (p *parser) negation() Node {
	at := p.peek().at
	if !p.accept("not") {
		return p.comparison()
	}
	if !p.enter() {
		return p.fail(at, "")
	}
	defer p.leave()
	return &Unary{At: at, Op: "not", X: p.negation()}
}

func (p *parser) comparison() Node {
	n := p.binary(0)
	at := p.peek().at
	var c *Compare
	for {
		op, ok := p.comparisonOp()
		if !ok {
			break
		}
		if c == nil {
			c = &Compare{At: at, Terms: []Node{n}}
		}
		c.Ops = append(c.Ops, op)
		c.Terms = append(c.Terms, p.binary(0))
	}
	if c == nil {
		return n
	}
	return c
}

func (p *parser) comparisonOp() (string, bool) {
	for _, op := range []string{"<", "<=", ">", ">=", "==", "!=", "in"} {
		if p.accept(op) {
			return op, true
		}
	}
	if p.accept("not") {
		p.expect("in", "after not")
		return "not in", true
	}
	return "", false
}

// levels are the binary operators by growing precedence, all left-associative.
var levels = [][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%"}}

func (p *parser) binary(level int) Node {
	if level == len(levels) {
		return p.unary()
	}
	n := p.binary(level + 1)
	for {
		t := p.peek()
		if t.kind != tokOp || !slices.Contains(levels[level], t.text) {
			return n
		}
		p.i++
		n = &Binary{At: t.at, Op: t.text, X: n, Y: p.binary(level + 1)}
	}
}

// unary reads -x, +x and ~x, which bind looser than ** on their right: -2**2 is
// -(2**2).
func (p *parser) unary() Node {
	t := p.peek()
	if !p.at("-") && !p.at("+") && !p.at("~") {
		return p.power()
	}
	if !p.enter() {
		return p.fail(t.at, "")
	}
	defer p.leave()
	p.i++
	return &Unary{At: t.at, Op: t.text, X: p.unary()}
}

func (p *parser) power() Node {
	n := p.postfix()
	t := p.peek()
	if !p.accept("**") {
		return n
	}
	if !p.enter() {
		return p.fail(t.at, "")
	}
	defer p.leave()
	return &Binary{At: t.at, Op: "**", X: n, Y: p.unary()}
}

func (p *parser) postfix() Node {
	n := p.atom()
	for depth := 0; p.at("["); depth++ {
		at := p.peek().at
		if depth == MaxDepth {
			return p.fail(at, "expression is nested deeper than %d levels", MaxDepth)
		}
		p.i++
		i := p.expression()
		if p.at(":") {
			return p.fail(p.peek().at, "slices are not supported")
		}
		p.expect("]", "after the index")
		n = &Index{At: at, X: n, I: i}
	}
	if p.at("(") {
		return p.fail(p.peek().at, "only a builtin's name can be called")
	}
	return n
}

func (p *parser) atom() Node {
	t := p.peek()
	switch {
	case t.kind == tokLiteral:
		p.i++
		return &Literal{At: t.at, Value: t.value}
	case t.kind == tokName:
		p.i++
		if p.at("(") {
			return p.call(t)
		}
		return &Name{At: t.at, Name: t.text}
	case p.accept("("):
		return p.bracketed(t.at, '(', ")")
	case p.accept("["):
		return p.bracketed(t.at, '[', "]")
	case p.accept("{"):
		return p.bracketed(t.at, '{', "}")
	}
	return p.fail(t.at, "a value is expected, found %s", p.found())
}

// call reads the arguments of a builtin; a lone generator expression needs no
// parentheses of its own.
func (p *parser) call(name token) Node {
	if _, ok := builtins[name.text]; !ok {
		return p.fail(name.at, "unknown function %s; known are %s", name.text, builtinNames())
	}
	p.expect("(", "")
	c := &Call{At: name.at, Func: name.text}
	if p.accept(")") {
		return c
	}
	first := p.expression()
	if p.at("for") {
		first = p.comprehension(first.Pos(), '(', first)
		c.Args = []Node{first}
	} else {
		c.Args = p.rest(first, ")")
	}
	p.expect(")", "after the arguments of "+name.text)
	return c
}

// bracketed reads what follows an opening bracket: a parenthesised expression,
// tuple, list, set or comprehension.
func (p *parser) bracketed(at int, open byte, closing string) Node {
	if p.accept(closing) {
		if open == '{' {
			return p.fail(at, "dictionaries are not supported")
		}
		return &Sequence{At: at, Open: open}
	}
	first := p.expression()
	if p.at("for") {
		n := p.comprehension(at, open, first)
		p.expect(closing, "after the comprehension")
		return n
	}
	if p.at(":") && open == '{' {
		return p.fail(p.peek().at, "dictionaries are not supported")
	}
	tuple := p.at(",")
	items := p.rest(first, closing)
	p.expect(closing, "or a comma")
	if open == '(' && !tuple {
		return first
	}
	return &Sequence{At: at, Open: open, Items: items}
}

func (p *parser) comprehension(at int, open byte, item Node) Node {
	n := &Comprehension{At: at, Open: open, Item: item}
	for p.at("for") {
		c := Clause{At: p.peek().at}
		p.i++
		t := p.peek()
		if t.kind != tokName {
			return p.fail(t.at, "the name of a loop variable is expected, found %s", p.found())
		}
		p.i++
		c.Name = t.text
		p.expect("in", "after the loop variable")
		c.Iter = p.logic("or")
		for p.accept("if") {
			c.Ifs = append(c.Ifs, p.logic("or"))
		}
		n.Clauses = append(n.Clauses, c)
	}
	return n
}
