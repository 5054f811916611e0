package ptx

import "strconv"

// Print gives the module as PTX text: one statement a line, comments dropped.
// Parsing it gives the same tree (see Equal).
func Print(m *Module) []byte {
	p := &printer{}
	for _, n := range m.Items {
		p.node(n)
	}
	return p.out
}

type printer struct {
	out    []byte
	indent int
}

func (p *printer) str(s ...string) {
	for _, x := range s {
		p.out = append(p.out, x...)
	}
}

// line starts a line.
func (p *printer) line() {
	for range p.indent {
		p.out = append(p.out, '\t')
	}
}

func (p *printer) node(n Node) {
	switch n := n.(type) {
	case *Directive:
		p.line()
		p.directive(n)
		p.str("\n")
	case *VarDecl:
		p.line()
		p.variable(n)
		p.str(";\n")
	case *Func:
		p.function(n)
	case *Block:
		p.line()
		p.block(n)
	case *Label:
		p.str(n.Name, ":")
		if n.Decl != nil {
			p.str(" ")
			p.directive(n.Decl)
		}
		p.str("\n")
	case *Instr:
		p.line()
		p.instr(n)
	}
}

func (p *printer) block(b *Block) {
	p.str("{\n")
	p.indent++
	for _, n := range b.Stmts {
		p.node(n)
	}
	p.indent--
	p.line()
	p.str("}\n")
}

// directive prints a directive; the commas the parser dropped come back where
// the assembler wants them.
func (p *printer) directive(d *Directive) {
	p.str(d.Name)
	for i := range d.Args {
		o := &d.Args[i]
		if i > 0 && separate(d.Name, &d.Args[i-1], o) {
			p.str(",")
		}
		p.str(" ")
		p.operand(o)
	}
	if d.HasBody {
		open, end := " {", "}"
		if d.Name == ".attribute" {
			open, end = "(", ")"
		}
		p.str(open, d.Body)
		if d.Name != ".attribute" {
			p.str("\n")
		}
		p.str(end)
	}
	switch d.Name {
	case ".pragma", ".branchtargets", ".calltargets", ".callprototype", ".alias":
		p.str(";")
	}
}

// separate reports whether a comma stands between two arguments.
func separate(directive string, a, b *Operand) bool {
	switch directive {
	case ".section", ".version", ".callprototype":
		return false
	case ".loc":
		return b.Kind == Name && (b.Text == "function_name" || b.Text == "inlined_at")
	case ".file":
		return a.Kind == String || b.Kind == Int
	}
	return a.Kind != Raw && b.Kind != Raw
}

func (p *printer) function(f *Func) {
	if f.Linkage != "" {
		p.str(f.Linkage, " ")
	}
	if f.Entry {
		p.str(".entry ")
	} else {
		p.str(".func ")
	}
	header := f.Header
	for len(header) > 0 && header[0].Name == ".attribute" {
		p.directive(header[0])
		p.str(" ")
		header = header[1:]
	}
	if len(f.Rets) > 0 {
		p.params(f.Rets)
		p.str(" ")
	}
	p.str(f.Name)
	if f.HasParams {
		p.params(f.Params)
	}
	for _, d := range header {
		p.str("\n")
		p.directive(d)
	}
	if f.Body == nil {
		p.str(";\n")
		return
	}
	p.str("\n")
	p.block(f.Body)
}

func (p *printer) params(list []*VarDecl) {
	p.str("(")
	for i, v := range list {
		if i > 0 {
			p.str(",")
		}
		p.str("\n\t")
		p.variable(v)
	}
	if len(list) > 0 {
		p.str("\n")
	}
	p.str(")")
}

func (p *printer) variable(v *VarDecl) {
	if v.Linkage != "" {
		p.str(v.Linkage, " ")
	}
	p.str(v.Space)
	if v.Attr != "" {
		p.str(" .attribute(", v.Attr, ")")
	}
	if v.Align != 0 {
		p.str(" .align ", strconv.Itoa(v.Align))
	}
	if v.Vector != "" {
		p.str(" ", v.Vector)
	}
	p.str(" ", v.Type)
	for _, s := range v.Ptr {
		p.str(" ", s)
	}
	for i := range v.Names {
		d := &v.Names[i]
		if i > 0 {
			p.str(",")
		}
		p.str(" ", d.Name)
		if d.Count >= 0 {
			p.str("<", strconv.Itoa(d.Count), ">")
		}
		for _, n := range d.Dims {
			p.str("[")
			if n >= 0 {
				p.str(strconv.FormatInt(n, 10))
			}
			p.str("]")
		}
		if len(d.Init) > 0 {
			p.str(" = ")
			p.operand(&d.Init[0])
		}
	}
}

func (p *printer) instr(in *Instr) {
	if in.Guard != "" {
		p.str("@")
		if in.GuardNot {
			p.str("!")
		}
		p.str(in.Guard, " ")
	}
	p.str(in.Op)
	for i := range in.Args {
		if i == 0 {
			p.str(" \t")
		} else {
			p.str(", ")
		}
		p.operand(&in.Args[i])
	}
	p.str(";\n")
}

func (p *printer) list(open, end string, elems []Operand) {
	p.str(open)
	for i := range elems {
		if i > 0 {
			p.str(", ")
		}
		p.operand(&elems[i])
	}
	p.str(end)
}

func (p *printer) operand(o *Operand) {
	if o.Not {
		p.str("!")
	}
	switch o.Kind {
	case Name, Int, Float, Raw:
		p.str(o.Text)
	case String:
		p.str(`"`, o.Text, `"`)
	case Vector:
		p.list("{", "}", o.Elems)
	case Address:
		p.list("[", "]", o.Elems)
	case Group:
		p.list("(", ")", o.Elems)
	case Pair:
		p.operand(&o.Elems[0])
		p.str("|")
		p.operand(&o.Elems[1])
	case Index:
		p.operand(&o.Elems[0])
		p.list("[", "]", o.Elems[1:])
	case Binary, Cond:
		p.str("(")
		p.expr(o)
		p.str(")")
	default:
		p.expr(o)
	}
}

// expr prints an operator.
func (p *printer) expr(o *Operand) {
	switch o.Kind {
	case Sum:
		p.operand(&o.Elems[0])
		p.str(o.Text)
		p.inner(&o.Elems[1])
	case Unary:
		if charClass[o.Text[0]]&chLetter != 0 {
			p.list(o.Text+"(", ")", o.Elems)
			return
		}
		p.str(o.Text)
		if k := o.Elems[0].Kind; k == Int || k == Float {
			p.str(" ") // "-1" would be one literal
		}
		p.inner(&o.Elems[0])
	case Binary:
		p.operand(&o.Elems[0])
		p.str(" ", o.Text, " ")
		p.operand(&o.Elems[1])
	case Cond:
		p.operand(&o.Elems[0])
		p.str(" ? ")
		p.operand(&o.Elems[1])
		p.str(" : ")
		p.operand(&o.Elems[2])
	}
}

// inner prints an operand that binds less tightly than what is before it.
func (p *printer) inner(o *Operand) {
	if o.Kind == Sum {
		p.list("(", ")", []Operand{*o})
		return
	}
	p.operand(o)
}
