package ptx

// Loc is a line and column in a Module's file; Module.Pos makes a Pos of it.
type Loc struct{ Line, Col int32 }

// Module is one PTX file: its top-level items in order.
type Module struct {
	File  string
	Items []Node
}

// Node is an item of a module or a statement of a body: *Directive, *VarDecl,
// *Func, *Block, *Label or *Instr.
type Node interface {
	// Where is the place of the node's first token.
	Where() Loc
}

// Directive is a directive that declares nothing: .version, .target, .pragma,
// .loc, .file, .section, .maxntid, .branchtargets and so on.
type Directive struct {
	At   Loc
	Name string // with its dot, e.g. ".maxntid"
	Args []Operand
	// Body is the text between the braces of a .section, verbatim, and of the
	// parenthesis of an .attribute; HasBody tells an empty one from none.
	Body    string
	HasBody bool
}

// VarDecl is one variable declaration or one parameter of a list.
type VarDecl struct {
	At      Loc
	Linkage string // "", ".extern", ".visible", ".weak" or ".common"
	Space   string // ".reg", ".param", ".shared", ".global", ".const", ".local", ".tex"
	// Align is the operand of .align, 0 when absent.
	Align int
	// Vector is "", ".v2", ".v4" or ".v8".
	Vector string
	Type   string // ".b32", ".pred" ...
	// Ptr holds ".ptr" and the attributes after it, as written, for a kernel
	// parameter that is a pointer: ".ptr", ".global", ".align" and a number.
	Ptr []string
	// Attr is the text inside .attribute( ), "" when absent.
	Attr  string
	Names []Declarator
}

// Declarator is one name of a VarDecl.
type Declarator struct {
	At   Loc
	Name string
	// Count is N of the range form %r<N>, which declares %r0 to %r(N-1);
	// -1 when the name stands for itself.
	Count int
	// Dims are the array dimensions; -1 is an empty pair of brackets.
	Dims []int64
	// Init is the initialiser: at most one operand, a Vector for { }.
	Init []Operand
}

// Func is an .entry or a .func, with a body or without (a prototype).
type Func struct {
	At      Loc
	Linkage string
	Entry   bool
	Name    string
	NameAt  Loc
	Rets    []*VarDecl
	Params  []*VarDecl
	// HasParams tells `name()` from a bare `name`.
	HasParams bool
	Header    []*Directive // .maxntid and others between the list and the body
	Body      *Block       // nil for a prototype
}

// Block is a scope: { statements }.
type Block struct {
	At, End Loc
	Stmts   []Node
}

// Label is `name:`. Decl is the directive it names, for
// `name: .branchtargets ...` and `name: .callprototype ...`.
type Label struct {
	At   Loc
	Name string
	Decl *Directive
}

// Instr is one instruction.
type Instr struct {
	At       Loc
	Guard    string // predicate register of @p or @!p, "" when none
	GuardNot bool
	Op       string // opcode with its modifiers, e.g. "ld.global.nc.v4.f32"
	Args     []Operand
}

// OperandKind is the form of an operand.
type OperandKind uint8

// Forms of operand. The zero value is invalid.
const (
	OperandNone OperandKind = iota
	// Name is an identifier in Text: a register, label, variable, function or
	// the sink "_".
	Name
	// Int is an integer literal: Bits, with Text as written (sign included).
	Int
	// Float is a floating literal: Bits is a float64's, or a float32's when
	// Single is set (the 0f form).
	Float
	// String is a quoted string; Text is what stands between the quotes.
	String
	// Vector is {a, b, ...}.
	Vector
	// Address is [a] or [a, b]: the parts in Elems.
	Address
	// Pair is p|q.
	Pair
	// Group is (a, b): the lists of a call.
	Group
	// Index is a[i].
	Index
	// Sum is a+i or a-i of an address: Elems[0] the base, Elems[1] the offset,
	// Text the operator.
	Sum
	// Unary is a constant expression; Text is "-", "+", "~", "!", or a cast
	// such as "(.u64)" or a function such as "generic".
	Unary
	// Binary is a constant expression of two operands; Text is the operator.
	Binary
	// Cond is a ? b : c.
	Cond
	// Raw is a token of a directive the parser does not look into.
	Raw
)

// Operand is an operand of an instruction or directive, or a part of one.
type Operand struct {
	At   Loc
	Kind OperandKind
	// Not is the ! of a predicate operand.
	Not bool
	// Single marks a Float written as 0f, Unsigned an Int written with U.
	Single, Unsigned bool
	Bits             uint64
	Text             string
	Elems            []Operand
}

// Where implements Node.
func (n *Directive) Where() Loc { return n.At }

// Where implements Node.
func (n *VarDecl) Where() Loc { return n.At }

// Where implements Node.
func (n *Func) Where() Loc { return n.At }

// Where implements Node.
func (n *Block) Where() Loc { return n.At }

// Where implements Node.
func (n *Label) Where() Loc { return n.At }

// Where implements Node.
func (n *Instr) Where() Loc { return n.At }

// Pos places l in the module's file.
func (m *Module) Pos(l Loc) Pos {
	return Pos{File: m.File, Line: int(l.Line), Col: int(l.Col)}
}

// Version is the operand of .version, e.g. "9.0", "" when absent.
func (m *Module) Version() string { return m.directive(".version") }

// Target is the first operand of .target, e.g. "sm_90", "" when absent.
func (m *Module) Target() string { return m.directive(".target") }

func (m *Module) directive(name string) string {
	for _, it := range m.Items {
		if d, ok := it.(*Directive); ok && d.Name == name && len(d.Args) > 0 {
			return d.Args[0].Text
		}
	}
	return ""
}
