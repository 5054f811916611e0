package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/search/expr"
)

// limits bound the memory and time that building a space takes, whatever its
// constraints.
type limits struct {
	// states are the distinct situations that prefixes of configurations are
	// in, summed over components and levels: some hundred bytes each.
	states int
	// trials are the values tried in them, each with the conditions that it
	// touches: some ten nanoseconds each.
	trials int
}

var defaultLimits = limits{states: 2 << 20, trials: 128 << 20}

// components groups parameters that conditions connect, directly or not, each
// ascending, in order of their first parameter.
func components(n int, conditions []condition) [][]int {
	leader := make([]int, n)
	for i := range leader {
		leader[i] = i
	}
	find := func(i int) int {
		for leader[i] != i {
			leader[i] = leader[leader[i]]
			i = leader[i]
		}
		return i
	}
	for _, c := range conditions {
		for _, p := range slices.Concat(c.params, c.shield) {
			leader[find(p)] = find(c.last)
		}
	}
	groups := make([][]int, 0, n)
	where := map[int]int{}
	for p := range n {
		l := find(p)
		if _, ok := where[l]; !ok {
			where[l] = len(groups)
			groups = append(groups, nil)
		}
		groups[where[l]] = append(groups[where[l]], p)
	}
	return groups
}

// level is what the builder does for one parameter of a component.
type level struct {
	param int
	// pending conditions have some parameters bound before this level and are
	// not complete: with what is left of them they tell prefixes apart.
	pending []pending
	tests   []int // conditions that this level completes, in order
	narrow  []int // conditions that this level touches without completing
	memo    map[string]int32
	digit   int    // of the value being followed
	key     []byte // scratch
	edges   []edge // scratch
	undo    []int  // scratch: conditions that a value of this level satisfied
}

type pending struct {
	condition int
	residue   []*expr.Program
}

// builder builds the diagram of one component, depth first. Prefixes that
// leave the same rest of every pending condition share their node, and so do
// nodes with the same edges.
type builder struct {
	params     []Param
	operands   [][]expr.Value // by parameter and digit
	conditions []condition
	levels     []level
	satisfied  []bool // by condition: holds whatever follows
	env        *expr.Env
	intervals  []expr.Interval
	hull       []expr.Interval
	unique     map[string]int32
	left       *limits // what all components together may still use
	out        *diagram
	stop       func() error // see NewUntil; nil: nothing stops it
	tried      int          // values tried since stop was called
}

// stopEvery is how many values are tried between two calls of builder.stop: about a
// millisecond where conditions are simple.
const stopEvery = 8192

// stopped returns the error with which building is to end.
func (b *builder) stopped() error {
	if b.tried++; b.tried < stopEvery || b.stop == nil {
		return nil
	}
	b.tried = 0
	return b.stop()
}

// plan lays out the levels of a component.
func (b *builder) plan(params []int) {
	b.out = &diagram{params: params}
	for _, p := range params {
		l := level{param: p, memo: map[string]int32{}}
		for ci, c := range b.conditions {
			if c.last < 0 || !slices.Contains(params, c.last) {
				continue
			}
			bound, _ := slices.BinarySearch(c.params, p)
			switch {
			case c.last == p:
				l.tests = append(l.tests, ci)
			case c.last > p && slices.Contains(c.params, p):
				l.narrow = append(l.narrow, ci)
			}
			if bound > 0 && c.last >= p {
				l.pending = append(l.pending, pending{ci, c.residue[bound]})
			}
		}
		b.levels = append(b.levels, l)
	}
}

// build returns the node for the rest of the levels after the values that env
// and intervals hold, -1 when nothing valid follows.
func (b *builder) build(t int) (int32, error) {
	if t == len(b.levels) {
		return 0, nil
	}
	l := &b.levels[t]
	l.key = b.situation(l, l.key[:0])
	if node, ok := l.memo[string(l.key)]; ok {
		return node, nil
	}
	b.left.states--
	if b.left.trials -= len(b.operands[l.param]); b.left.states < 0 || b.left.trials < 0 {
		return -1, errors.New("constraints tell too many partial configurations apart: give some parameters fewer values, or declare those that occur in the same constraints next to one another")
	}
	key := string(l.key)
	l.edges = l.edges[:0]
	for digit, v := range b.operands[l.param] {
		if err := b.stopped(); err != nil {
			return -1, err
		}
		b.env.Set(l.param, v)
		to, err := b.follow(t, digit)
		if err != nil {
			return -1, err
		}
		if to >= 0 {
			l.edges = append(l.edges, edge{digit: int32(digit), to: to})
		}
	}
	b.intervals[l.param] = b.hull[l.param]
	node := b.node(l)
	l.memo[key] = node
	return node, nil
}

// follow returns the node after the level's parameter took the digit's value.
func (b *builder) follow(t, digit int) (int32, error) {
	l := &b.levels[t]
	l.digit = digit
	i := b.params[l.param].Values[digit].I
	b.intervals[l.param] = expr.Interval{Lo: i, Hi: i}
	l.undo = l.undo[:0]
	ok, err := b.admits(l)
	if err != nil {
		return -1, b.explain(t, err)
	}
	to := int32(-1)
	if ok {
		to, err = b.build(t + 1)
	}
	for _, ci := range l.undo {
		b.satisfied[ci] = false
	}
	return to, err
}

// admits applies the conditions that the level's parameter completes, and cuts
// by those that can no longer hold.
func (b *builder) admits(l *level) (bool, error) {
	for _, ci := range l.tests {
		if b.satisfied[ci] {
			continue
		}
		c := &b.conditions[ci]
		holds, err := c.test.Truth(b.env)
		if err != nil {
			return false, c.from.wrap(err)
		}
		if !holds {
			return false, nil
		}
	}
	for _, ci := range l.narrow {
		if b.satisfied[ci] {
			continue
		}
		switch b.conditions[ci].decider.Decide(b.intervals) {
		case expr.Fails:
			return false, nil
		case expr.Holds:
			b.satisfied[ci] = true
			l.undo = append(l.undo, ci)
		}
	}
	return true, nil
}

// explain adds the values that an error of a condition happened with.
func (b *builder) explain(t int, err error) error {
	var at []string
	for _, l := range b.levels[:t+1] {
		p := b.params[l.param]
		at = append(at, p.Name+"="+p.Values[l.digit].Text())
	}
	return fmt.Errorf("%w, with %s", err, strings.Join(at, ","))
}

// situation appends what the pending conditions still depend on: equal
// situations have equal continuations.
func (b *builder) situation(l *level, key []byte) []byte {
	for _, p := range l.pending {
		if b.satisfied[p.condition] {
			key = append(key, 's')
			continue
		}
		for _, r := range p.residue {
			v, err := r.Eval(b.env)
			key = appendOperand(key, v, err)
		}
	}
	return key
}

// appendOperand appends a value so that different values give different bytes,
// none a prefix of another.
func appendOperand(key []byte, v expr.Value, err error) []byte {
	if err != nil { // all errors end the evaluation alike
		return append(key, 'e')
	}
	switch v.Kind() {
	case expr.KindInt, expr.KindBool:
		i, _ := v.Int()
		return binary.LittleEndian.AppendUint64(append(key, byte(v.Kind())), uint64(i))
	case expr.KindFloat:
		f, _ := v.Float()
		return binary.LittleEndian.AppendUint64(append(key, byte(v.Kind())), math.Float64bits(f))
	}
	s := v.String()
	return append(binary.LittleEndian.AppendUint64(append(key, byte(v.Kind())), uint64(len(s))), s...)
}

// node returns the node with the level's edges, -1 when there are none.
func (b *builder) node(l *level) int32 {
	if len(l.edges) == 0 {
		return -1
	}
	l.key = l.key[:0]
	for _, e := range l.edges {
		l.key = binary.LittleEndian.AppendUint32(l.key, uint32(e.digit))
		l.key = binary.LittleEndian.AppendUint32(l.key, uint32(e.to))
	}
	if node, ok := b.unique[string(l.key)]; ok {
		return node
	}
	node := b.out.add(l.edges)
	b.unique[string(l.key)] = node
	return node
}
