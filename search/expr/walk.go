package expr

import "iter"

// Free yields the occurrences of free variables in order of appearance.
func (e *Expr) Free() iter.Seq[*Name] {
	return func(yield func(*Name) bool) { free(e.Root, nil, yield) }
}

// free visits n where the names of bound are not free; false stops.
func free(n Node, bound []string, yield func(*Name) bool) bool {
	switch n := n.(type) {
	case *Name:
		for _, b := range bound {
			if b == n.Name {
				return true
			}
		}
		return yield(n)
	case *Comprehension:
		inner := bound[:len(bound):len(bound)]
		for _, c := range n.Clauses {
			inner = append(inner, c.Name)
		}
		scope := bound // of what the first clause goes over
		for _, c := range n.Clauses {
			if !free(c.Iter, scope, yield) {
				return false
			}
			scope = inner
			for _, t := range c.Ifs {
				if !free(t, inner, yield) {
					return false
				}
			}
		}
		return free(n.Item, inner, yield)
	}
	for _, c := range children(n) {
		if !free(c, bound, yield) {
			return false
		}
	}
	return true
}

// children returns the direct parts of a node in order of evaluation.
func children(n Node) []Node {
	switch n := n.(type) {
	case *Unary:
		return []Node{n.X}
	case *Binary:
		return []Node{n.X, n.Y}
	case *Compare:
		return n.Terms
	case *Logic:
		return n.Terms
	case *Cond:
		return []Node{n.Test, n.Then, n.Else}
	case *Call:
		return n.Args
	case *Index:
		return []Node{n.X, n.I}
	case *Sequence:
		return n.Items
	case *Comprehension:
		var cs []Node
		for _, c := range n.Clauses {
			cs = append(append(cs, c.Iter), c.Ifs...)
		}
		return append(cs, n.Item)
	}
	return nil
}

// Rewrite returns the expression with every node replaced by what f gives for
// it, innermost first. f returns its argument to keep it. Positions stay.
func (e *Expr) Rewrite(f func(Node) Node) *Expr {
	return &Expr{e.Text, rewrite(e.Root, f)}
}

func rewrite(n Node, f func(Node) Node) Node {
	switch m := n.(type) {
	case *Unary:
		n = &Unary{m.At, m.Op, rewrite(m.X, f)}
	case *Binary:
		n = &Binary{m.At, m.Op, rewrite(m.X, f), rewrite(m.Y, f)}
	case *Compare:
		n = &Compare{m.At, m.Ops, rewriteAll(m.Terms, f)}
	case *Logic:
		n = &Logic{m.At, m.Op, rewriteAll(m.Terms, f)}
	case *Cond:
		n = &Cond{m.At, rewrite(m.Then, f), rewrite(m.Test, f), rewrite(m.Else, f)}
	case *Call:
		n = &Call{m.At, m.Func, rewriteAll(m.Args, f)}
	case *Index:
		n = &Index{m.At, rewrite(m.X, f), rewrite(m.I, f)}
	case *Sequence:
		n = &Sequence{m.At, m.Open, rewriteAll(m.Items, f)}
	case *Comprehension:
		clauses := make([]Clause, len(m.Clauses))
		for i, c := range m.Clauses {
			clauses[i] = Clause{c.At, c.Name, rewrite(c.Iter, f), rewriteAll(c.Ifs, f)}
		}
		n = &Comprehension{m.At, m.Open, rewrite(m.Item, f), clauses}
	}
	return f(n)
}

func rewriteAll(ns []Node, f func(Node) Node) []Node {
	out := make([]Node, len(ns))
	for i, n := range ns {
		out[i] = rewrite(n, f)
	}
	return out
}

// BoundParts returns the largest parts of a tree whose free variables, at least
// one, are all bound, in order of appearance.
func BoundParts(n Node, bound func(name string) bool) []Node {
	any, all := false, true
	for v := range (&Expr{Root: n}).Free() {
		any, all = any || bound(v.Name), all && bound(v.Name)
	}
	switch {
	case !any:
		return nil
	case all:
		return []Node{n}
	}
	if c, ok := n.(*Comprehension); ok { // its parts depend on its own variables
		var names []Node
		for v := range (&Expr{Root: c}).Free() {
			if bound(v.Name) {
				names = append(names, v)
			}
		}
		return names
	}
	var parts []Node
	for _, c := range children(n) {
		parts = append(parts, BoundParts(c, bound)...)
	}
	return parts
}

// Binds reports whether the expression has a comprehension, in which names may
// mean other things than outside.
func (e *Expr) Binds() bool {
	found := false
	e.Rewrite(func(n Node) Node {
		if _, ok := n.(*Comprehension); ok {
			found = true
		}
		return n
	})
	return found
}
