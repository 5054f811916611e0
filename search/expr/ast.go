package expr

// Node is a node of the syntax tree. Nodes are immutable.
type Node interface {
	Pos() int // byte offset of what an error about the node points at
}

type (
	// Literal is a number, text or truth value.
	Literal struct {
		At    int
		Value Value
	}
	// Name is a variable.
	Name struct {
		At   int
		Name string
	}
	// Unary is -X, +X, ~X or not X.
	Unary struct {
		At int
		Op string
		X  Node
	}
	// Binary is X Op Y with + - * / // % ** & | ^ << >>.
	Binary struct {
		At   int
		Op   string
		X, Y Node
	}
	// Compare is a chain Terms[0] Ops[0] Terms[1] Ops[1] …, with < <= > >= ==
	// != in, "not in".
	Compare struct {
		At    int
		Ops   []string
		Terms []Node
	}
	// Logic is two or more terms joined by and, or by or.
	Logic struct {
		At    int
		Op    string
		Terms []Node
	}
	// Cond is Then if Test else Else.
	Cond struct {
		At               int
		Then, Test, Else Node
	}
	// Call is a builtin applied to arguments.
	Call struct {
		At   int
		Func string
		Args []Node
	}
	// Index is X[I].
	Index struct {
		At   int
		X, I Node
	}
	// Sequence is a list [a, b], a tuple (a, b) or a set {a, b}, told apart by
	// Open. A set is a tuple without repeated elements.
	Sequence struct {
		At    int
		Open  byte
		Items []Node
	}
	// Comprehension is [Item for … in … if …]; Open '(' is a generator
	// expression.
	Comprehension struct {
		At      int
		Open    byte
		Item    Node
		Clauses []Clause
	}
)

// Clause is one "for Name in Iter if … if …" of a comprehension.
type Clause struct {
	At   int
	Name string
	Iter Node
	Ifs  []Node
}

// Pos implements Node.
func (n *Literal) Pos() int { return n.At }

// Pos implements Node.
func (n *Name) Pos() int { return n.At }

// Pos implements Node.
func (n *Unary) Pos() int { return n.At }

// Pos implements Node.
func (n *Binary) Pos() int { return n.At }

// Pos implements Node.
func (n *Compare) Pos() int { return n.At }

// Pos implements Node.
func (n *Logic) Pos() int { return n.At }

// Pos implements Node.
func (n *Cond) Pos() int { return n.At }

// Pos implements Node.
func (n *Call) Pos() int { return n.At }

// Pos implements Node.
func (n *Index) Pos() int { return n.At }

// Pos implements Node.
func (n *Sequence) Pos() int { return n.At }

// Pos implements Node.
func (n *Comprehension) Pos() int { return n.At }

// Expr is a parsed expression. It is immutable and safe for concurrent use.
type Expr struct {
	Text string // as it was written: positions are offsets into it
	Root Node
}

// Errorf returns an error at a node.
func (e *Expr) Errorf(n Node, format string, args ...any) *Error {
	s := scanner{text: e.Text}
	return s.errorf(n.Pos(), format, args...)
}

// Names returns the free variables in order of appearance, each once. Names
// that a comprehension binds and names of builtins that are called are not
// among them.
func (e *Expr) Names() []string {
	var names []string
	seen := map[string]bool{}
	for n := range e.Free() {
		if !seen[n.Name] {
			seen[n.Name] = true
			names = append(names, n.Name)
		}
	}
	return names
}

// Conjuncts splits the expression at its top-level ands: all of them hold
// when the expression does.
func (e *Expr) Conjuncts() []*Expr {
	l, ok := e.Root.(*Logic)
	if !ok || l.Op != "and" {
		return []*Expr{e}
	}
	var parts []*Expr
	for _, t := range l.Terms {
		parts = append(parts, (&Expr{e.Text, t}).Conjuncts()...)
	}
	return parts
}
