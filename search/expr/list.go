package expr

// sequence makes a list, tuple or set.
func (c *compiler) sequence(n *Sequence) code {
	items := make([]code, len(n.Items))
	for i, it := range n.Items {
		items[i] = c.node(it)
	}
	return code{kind: kindOf(n.Open), v: func(e *Env) Value {
		if !sized(e, n, len(items)) {
			return Value{}
		}
		vs := make([]Value, len(items))
		for i, it := range items {
			vs[i] = it.v(e)
		}
		return collect(e, n, n.Open, vs)
	}}
}

func kindOf(open byte) Kind {
	if open == '[' {
		return KindList
	}
	return KindTuple
}

// collect makes the value of brackets; a set keeps the first of equal
// elements.
func collect(e *Env, n Node, open byte, vs []Value) Value {
	if open == '{' {
		kept := vs[:0]
		for _, v := range vs {
			if !e.step(n, len(kept)) {
				return Value{}
			}
			if !contains(e, n, kept, v) {
				kept = append(kept, v)
			}
		}
		vs = kept
	}
	return Value{kind: kindOf(open), p: vs}
}

func (c *compiler) index(n *Index) code {
	x, i := c.node(n.X), c.node(n.I)
	return code{v: func(e *Env) Value {
		v := x.v(e)
		items, ok := v.Items()
		if v.kind == KindString {
			items, ok = e.elements(n, v)
		}
		k := i.v(e)
		switch {
		case e.err != nil:
			return Value{}
		case !ok:
			e.fail(n, "only a list or a text can be indexed")
			return Value{}
		case !k.isInt():
			e.fail(n, "an index must be an integer, not %s", brief(k))
			return Value{}
		}
		at := k.n
		if at < 0 {
			at += int64(len(items))
		}
		if at < 0 || at >= int64(len(items)) {
			e.fail(n, "index %d is outside a list of %d", k.n, len(items))
			return Value{}
		}
		return items[at]
	}}
}

// loop is a compiled Clause.
type loop struct {
	slot int
	iter code
	ifs  []func(*Env) bool
	cost int // steps of an iteration
}

func (c *compiler) comprehension(n *Comprehension) code {
	outer := len(c.scopes)
	loops := make([]loop, len(n.Clauses))
	loops[0].iter = c.node(n.Clauses[0].Iter) // outside the comprehension
	for i, cl := range n.Clauses {
		loops[i].slot, loops[i].cost = c.declare(cl.Name, outer), iterationSteps
	}
	for i, cl := range n.Clauses {
		if i > 0 {
			loops[i].iter = c.node(cl.Iter)
		}
		c.enter(loops[i].slot, outer)
		for _, t := range cl.Ifs {
			loops[i].ifs = append(loops[i].ifs, c.truth(t))
			loops[i].cost += size(t)
		}
	}
	item := c.node(n.Item)
	loops[len(loops)-1].cost += size(n.Item)
	c.scopes = c.scopes[:outer]
	open := n.Open
	if open == '(' { // a generator expression is a list here
		open = '['
	}
	return code{kind: kindOf(open), v: func(e *Env) Value {
		vs := []Value{}
		for i := range loops {
			e.locals[loops[i].slot] = Value{}
		}
		run(e, n, loops, item, &vs)
		if e.err != nil {
			return Value{}
		}
		return collect(e, n, open, vs)
	}}
}

// iterationSteps is what an iteration of a comprehension counts for, besides a step for each
// node that it evaluates: 2^21 steps then take less than 100 ms.
const iterationSteps = 6

// size is the number of nodes of a tree.
func size(n Node) int {
	count := 1
	for _, c := range children(n) {
		count += size(c)
	}
	return count
}

// enter marks a loop variable as set in the code that follows.
func (c *compiler) enter(slot, outer int) {
	for k := range c.scopes[outer:] {
		if s := &c.scopes[outer+k]; s.slot == slot {
			s.set = true
		}
	}
}

// declare gives a loop variable a slot; the same name in one comprehension is
// the same variable. As in Python it is one in the whole comprehension but for
// what the first "for" goes over.
func (c *compiler) declare(name string, outer int) int {
	for _, s := range c.scopes[outer:] {
		if s.name == name {
			return s.slot
		}
	}
	slot := c.locals
	c.locals++
	c.scopes = append(c.scopes, scope{name: name, slot: slot})
	return slot
}

// run executes the loops from the outermost and appends the items to out.
func run(e *Env, n *Comprehension, loops []loop, item code, out *[]Value) {
	if len(loops) == 0 {
		if len(*out) == MaxList {
			e.fail(n, "list would be longer than %d elements", MaxList)
			return
		}
		*out = append(*out, item.v(e))
		return
	}
	l := loops[0]
	from := l.iter.v(e)
	items, ok := from.Items()
	if from.kind == KindString {
		items, ok = e.elements(n, from)
	}
	if !ok {
		e.fail(n.Clauses[len(n.Clauses)-len(loops)].Iter, "for needs a list, not %s", brief(from))
		return
	}
next:
	for _, v := range items {
		if !e.step(n, l.cost) {
			return
		}
		e.locals[l.slot] = v
		for _, t := range l.ifs {
			if !t(e) {
				continue next
			}
		}
		run(e, n, loops[1:], item, out)
	}
}
