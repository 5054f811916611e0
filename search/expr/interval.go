package expr

// Interval is a set of integers, both ends included.
type Interval struct{ Lo, Hi int64 }

// Verdict is what can be said of a condition when its variables are only known
// to lie in intervals. The zero value says nothing.
type Verdict uint8

// Verdicts. Fails and Holds also promise that the evaluation has no error.
const (
	Unsure   Verdict = iota // nothing can be said, there may even be an error
	Possible                // may hold or fail, but has no error
	Fails                   // fails for all values
	Holds                   // holds for all values
)

// String returns the verdict in words.
func (v Verdict) String() string {
	return [...]string{"unsure", "possible", "fails", "holds"}[v&3]
}

// Decider judges a condition by interval arithmetic. It is safe for concurrent
// use.
type Decider struct{ truth judge }

// judge is a compiled condition, span a compiled integer; ok is false when
// nothing can be said or there may be an error.
type (
	judge func(iv []Interval) Verdict
	span  func(iv []Interval) (r Interval, ok bool)
)

// NewDecider compiles an expression over integer and truth variables; other
// names make it unsure.
func NewDecider(e *Expr, vars []Var) *Decider {
	return &Decider{(&bounder{vars}).judge(e.Root)}
}

// Decide judges the condition for variable k in iv[k].
func (d *Decider) Decide(iv []Interval) Verdict { return d.truth(iv) }

// Bound returns an interval that holds all values of an integer expression, or
// false when that is not certain.
func Bound(n Node, vars []Var, iv []Interval) (Interval, bool) {
	return (&bounder{vars}).span(n)(iv)
}

type bounder struct{ vars []Var }

func unknownSpan([]Interval) (Interval, bool) { return Interval{}, false }
func unknownJudge([]Interval) Verdict         { return Unsure }

// judge compiles the truth of n.
func (b *bounder) judge(n Node) judge {
	switch n := n.(type) {
	case *Compare:
		return b.compare(n)
	case *Logic:
		return b.logic(n)
	case *Unary:
		if n.Op == "not" {
			x := b.judge(n.X)
			return func(iv []Interval) Verdict { return opposite(x(iv)) }
		}
	}
	x := b.span(n)
	return func(iv []Interval) Verdict {
		r, ok := x(iv)
		switch {
		case !ok:
			return Unsure
		case r.Lo > 0 || r.Hi < 0:
			return Holds
		case r.Lo == 0 && r.Hi == 0:
			return Fails
		}
		return Possible
	}
}

func opposite(v Verdict) Verdict {
	switch v {
	case Fails:
		return Holds
	case Holds:
		return Fails
	}
	return v
}

// logic stops at a term that decides, as the evaluation does; a term that may
// have an error before it leaves nothing to be said.
func (b *bounder) logic(n *Logic) judge {
	terms := make([]judge, len(n.Terms))
	for i, t := range n.Terms {
		terms[i] = b.judge(t)
	}
	ends, rest := Fails, Holds
	if n.Op == "or" {
		ends, rest = Holds, Fails
	}
	return func(iv []Interval) Verdict {
		result := rest
		for _, t := range terms {
			switch v := t(iv); v {
			case Unsure, ends:
				return v
			case Possible:
				result = Possible
			}
		}
		return result
	}
}

func (b *bounder) compare(n *Compare) judge {
	if len(n.Ops) == 1 && (n.Ops[0] == "in" || n.Ops[0] == "not in") {
		return b.member(n)
	}
	terms := make([]span, len(n.Terms))
	for i, t := range n.Terms {
		terms[i] = b.span(t)
	}
	return func(iv []Interval) Verdict {
		x, ok := terms[0](iv)
		if !ok {
			return Unsure
		}
		result := Holds
		for i, op := range n.Ops {
			y, ok := terms[i+1](iv)
			if !ok {
				return Unsure
			}
			switch v := compareIntervals(op, x, y); v {
			case Unsure, Fails:
				return v
			case Possible:
				result = Possible
			}
			x = y
		}
		return result
	}
}

func compareIntervals(op string, x, y Interval) Verdict {
	always := func(holds, fails bool) Verdict {
		switch {
		case holds:
			return Holds
		case fails:
			return Fails
		}
		return Possible
	}
	single := x.Lo == x.Hi && y.Lo == y.Hi && x.Lo == y.Lo
	apart := x.Hi < y.Lo || y.Hi < x.Lo
	switch op {
	case "<":
		return always(x.Hi < y.Lo, x.Lo >= y.Hi)
	case "<=":
		return always(x.Hi <= y.Lo, x.Lo > y.Hi)
	case ">":
		return always(x.Lo > y.Hi, x.Hi <= y.Lo)
	case ">=":
		return always(x.Lo >= y.Hi, x.Hi < y.Lo)
	case "==":
		return always(single, apart)
	case "!=":
		return always(apart, single)
	}
	return Unsure
}

// member judges "x in (1, 2, 3)" with integer literals.
func (b *bounder) member(n *Compare) judge {
	s, ok := n.Terms[1].(*Sequence)
	if !ok {
		return unknownJudge
	}
	var items []int64
	for _, it := range s.Items {
		l, ok := it.(*Literal)
		if !ok || !l.Value.isInt() {
			return unknownJudge
		}
		items = append(items, l.Value.n)
	}
	x, negated := b.span(n.Terms[0]), n.Ops[0] == "not in"
	return func(iv []Interval) Verdict {
		r, ok := x(iv)
		if !ok {
			return Unsure
		}
		v := Fails
		for _, it := range items {
			if r.Lo <= it && it <= r.Hi {
				v = Possible
				if r.Lo == r.Hi {
					v = Holds
				}
			}
		}
		if negated {
			return opposite(v)
		}
		return v
	}
}
