package ptx

import "slices"

// Equal reports whether two modules are the same tree, wherever their parts
// stand: positions and the file name do not count.
func Equal(a, b *Module) bool { return slices.EqualFunc(a.Items, b.Items, equalNode) }

func equalNode(a, b Node) bool {
	switch a := a.(type) {
	case *Directive:
		b, ok := b.(*Directive)
		return ok && equalDirective(a, b)
	case *VarDecl:
		b, ok := b.(*VarDecl)
		return ok && equalVar(a, b)
	case *Func:
		b, ok := b.(*Func)
		return ok && equalFunc(a, b)
	case *Block:
		b, ok := b.(*Block)
		return ok && slices.EqualFunc(a.Stmts, b.Stmts, equalNode)
	case *Label:
		b, ok := b.(*Label)
		if !ok || a.Name != b.Name || (a.Decl == nil) != (b.Decl == nil) {
			return false
		}
		return a.Decl == nil || equalDirective(a.Decl, b.Decl)
	case *Instr:
		b, ok := b.(*Instr)
		return ok && a.Guard == b.Guard && a.GuardNot == b.GuardNot && a.Op == b.Op && equalOperands(a.Args, b.Args)
	}
	return false
}

func equalDirective(a, b *Directive) bool {
	return a.Name == b.Name && a.HasBody == b.HasBody && a.Body == b.Body && equalOperands(a.Args, b.Args)
}

func equalVar(a, b *VarDecl) bool {
	return a.Linkage == b.Linkage && a.Space == b.Space && a.Align == b.Align && a.Vector == b.Vector &&
		a.Type == b.Type && a.Attr == b.Attr && slices.Equal(a.Ptr, b.Ptr) &&
		slices.EqualFunc(a.Names, b.Names, func(x, y Declarator) bool {
			return x.Name == y.Name && x.Count == y.Count && slices.Equal(x.Dims, y.Dims) && equalOperands(x.Init, y.Init)
		})
}

func equalFunc(a, b *Func) bool {
	if a.Linkage != b.Linkage || a.Entry != b.Entry || a.Name != b.Name || a.HasParams != b.HasParams ||
		(a.Body == nil) != (b.Body == nil) {
		return false
	}
	return slices.EqualFunc(a.Rets, b.Rets, equalVar) && slices.EqualFunc(a.Params, b.Params, equalVar) &&
		slices.EqualFunc(a.Header, b.Header, equalDirective) &&
		(a.Body == nil || slices.EqualFunc(a.Body.Stmts, b.Body.Stmts, equalNode))
}

func equalOperands(a, b []Operand) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.Kind != y.Kind || x.Not != y.Not || x.Single != y.Single || x.Unsigned != y.Unsigned ||
			x.Bits != y.Bits || x.Text != y.Text || !equalOperands(x.Elems, y.Elems) {
			return false
		}
	}
	return true
}
