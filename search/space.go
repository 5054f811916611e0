package search

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/search/expr"
)

// Space is a search space: the configurations of the parameters that meet all
// constraints, in the order of the Cartesian product with the first parameter
// slowest. It is immutable and safe for concurrent use.
//
// The valid configurations are not stored one by one. Parameters that no
// constraint connects form components; each has a decision diagram, and a
// configuration's index is computed from counts along its paths. Time and
// memory go with the situations the constraints can tell apart.
type Space struct {
	params      []Param
	constraints []Constraint
	names       []string
	digits      []map[Value]int32 // by parameter: the index of a value
	components  []*diagram
	component   []int      // of each parameter
	alive       [][]uint64 // by parameter: bit set of the digits that occur
	size        int64
	listed      bool // made by FromList
}

// New builds the space of the parameters under the constraints. A constraint
// that names an unknown parameter, or cannot be evaluated for some values, is
// an error; an empty space is not.
func New(params []Param, constraints []Constraint) (*Space, error) {
	return NewUntil(params, constraints, nil)
}

// NewUntil is New that calls stop every few thousand values tried, and ends with
// its error, unless it is nil. Constraints that tell very many partial
// configurations apart take minutes; the caller may not want to wait for them.
func NewUntil(params []Param, constraints []Constraint, stop func() error) (*Space, error) {
	return build(params, constraints, defaultLimits, stop)
}

func build(params []Param, constraints []Constraint, most limits, stop func() error) (*Space, error) {
	if err := validateParams(params); err != nil {
		return nil, err
	}
	s := newSpace(params, stop)
	if s == nil {
		return nil, stop()
	}
	s.constraints = slices.Clone(constraints)
	conditions, err := s.conditions()
	if err != nil {
		return nil, err
	}
	if err := s.build(conditions, most, stop); err != nil {
		return nil, err
	}
	s.findAlive()
	if s.size == math.MaxInt64 {
		return nil, fmt.Errorf("space has %d valid configurations or more: give some parameters fewer values", s.size)
	}
	return s, nil
}

// newSpace returns the space of parameters, with nothing known of what is valid; nil
// if stop, unless it is nil, has an error: a million values take a second.
func newSpace(params []Param, stop func() error) *Space {
	s := &Space{params: slices.Clone(params), component: make([]int, len(params)), size: 1}
	for _, p := range params {
		if stop != nil && stop() != nil {
			return nil
		}
		s.names = append(s.names, p.Name)
		digits := make(map[Value]int32, len(p.Values))
		for d, v := range p.Values {
			digits[v] = int32(d)
		}
		s.digits = append(s.digits, digits)
	}
	return s
}

// conditions compiles the constraints. One without parameters empties the
// space or says nothing.
func (s *Space) conditions() ([]condition, error) {
	c := newCompiler(s.params)
	var list []condition
	for _, from := range s.constraints {
		parts, err := c.conditions(from)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			if p.last >= 0 {
				list = append(list, p)
				continue
			}
			holds, err := p.test.Truth(expr.NewEnv(len(s.params)))
			if err != nil {
				return nil, from.wrap(err)
			}
			if !holds {
				s.size = 0
			}
		}
	}
	return list, nil
}

func (s *Space) build(conditions []condition, most limits, stop func() error) error {
	c := newCompiler(s.params)
	operands := make([][]expr.Value, len(s.params))
	for i, p := range s.params {
		for _, v := range p.Values {
			operands[i] = append(operands[i], v.Operand())
		}
	}
	for k, params := range components(len(s.params), conditions) {
		b := &builder{
			params: s.params, operands: operands, conditions: conditions,
			satisfied: make([]bool, len(conditions)),
			env:       expr.NewEnv(len(s.params)),
			intervals: slices.Clone(c.hull), hull: c.hull,
			unique: map[string]int32{}, left: &most, stop: stop,
		}
		b.plan(params)
		root, err := b.build(0)
		if err != nil {
			return err
		}
		b.out.root = root
		s.components = append(s.components, b.out)
		for _, p := range params {
			s.component[p] = k
		}
		s.size = mulSaturated(s.size, b.out.size())
	}
	return nil
}

// Params returns the parameters in order. Do not modify.
func (s *Space) Params() []Param { return s.params }

// Names returns the parameters' names in order. Do not modify.
func (s *Space) Names() []string { return s.names }

// Constraints returns the constraints. Do not modify.
func (s *Space) Constraints() []Constraint { return s.constraints }

// Size returns the number of valid configurations.
func (s *Space) Size() int64 { return s.size }

// Cartesian returns the number of configurations before constraints, at most
// math.MaxInt64.
func (s *Space) Cartesian() int64 {
	n := int64(1)
	for _, p := range s.params {
		n = mulSaturated(n, int64(len(p.Values)))
	}
	return n
}

// Nodes returns the number of nodes and edges that represent the space, which
// its memory is proportional to.
func (s *Space) Nodes() (nodes, edges int) {
	for _, d := range s.components {
		nodes += len(d.count)
		edges += len(d.edges)
	}
	return nodes, edges
}

// Restrict returns the space in which the named parameters keep only the
// values given, in the order of the parameter.
func (s *Space) Restrict(set map[string][]Value) (*Space, error) {
	params := slices.Clone(s.params)
	for name, values := range set {
		i := slices.Index(s.names, name)
		if i < 0 {
			return nil, fmt.Errorf("no parameter %s; there are %s", name, strings.Join(s.names, ", "))
		}
		keep := map[Value]bool{}
		for _, v := range values {
			w, ok := v.As(params[i].Kind())
			if _, known := s.digits[i][w]; !ok || !known {
				return nil, fmt.Errorf("parameter %s has no value %s; it has %s", name, v.Text(), texts(s.params[i].Values))
			}
			keep[w] = true
		}
		params[i].Values = slices.DeleteFunc(slices.Clone(s.params[i].Values), func(v Value) bool { return !keep[v] })
	}
	if s.listed {
		return s.restrictList(params)
	}
	return New(params, s.constraints)
}

func texts(vs []Value) string {
	var list []string
	for _, v := range vs {
		list = append(list, v.Text())
	}
	return strings.Join(list, ", ")
}
