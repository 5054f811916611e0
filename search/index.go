package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/search/expr"
)

// cursor walks down all components at once, one parameter after another in
// declaration order.
type cursor struct {
	node []int32 // by component
	rest int64   // configurations below: product of the nodes' counts
}

func (s *Space) start() cursor {
	c := cursor{node: make([]int32, len(s.components)), rest: s.size}
	for k, d := range s.components {
		c.node[k] = d.root
	}
	return c
}

// others returns how many combinations the components other than k still have.
func (c *cursor) others(k int, d *diagram) int64 { return c.rest / d.count[c.node[k]] }

// take follows an edge and returns how many configurations come before it.
func (c *cursor) take(k int, d *diagram, e edge) (before int64) {
	others := c.others(k, d)
	c.node[k] = e.to
	c.rest = others * d.count[e.to]
	return e.before * others
}

// Digits appends to dst, for each parameter, the index of its value in
// configuration i. Like indexing a slice it panics unless 0 <= i < Size.
func (s *Space) Digits(i int64, dst []int) []int {
	if i < 0 || i >= s.size {
		panic(fmt.Sprintf("search: configuration %d of a space of %d", i, s.size))
	}
	c := s.start()
	for _, k := range s.component {
		d := s.components[k]
		e := d.at(c.node[k], i/c.others(k, d))
		i -= c.take(k, d, e)
		dst = append(dst, int(e.digit))
	}
	return dst
}

// IndexOfDigits returns the index of the configuration in which parameter p
// has value digits[p], false if it is not valid.
func (s *Space) IndexOfDigits(digits []int) (int64, bool) {
	if s.size == 0 || len(digits) != len(s.params) {
		return 0, false
	}
	c := s.start()
	var i int64
	for p, k := range s.component {
		d := s.components[k]
		e, ok := d.find(c.node[k], int32(digits[p]))
		if !ok {
			return 0, false
		}
		i += c.take(k, d, e)
	}
	return i, true
}

// At returns configuration i. Like indexing a slice it panics unless
// 0 <= i < Size.
func (s *Space) At(i int64) Config { return s.config(s.Digits(i, make([]int, 0, len(s.params)))) }

func (s *Space) config(digits []int) Config {
	c := Config{Names: s.names, Values: make([]Value, len(digits))}
	for p, d := range digits {
		c.Values[p] = s.params[p].Values[d]
	}
	return c
}

// IndexOf returns the index of a configuration with the space's parameters in
// any order, false if it is not valid.
func (s *Space) IndexOf(c Config) (int64, bool) {
	c, err := s.Conform(c)
	if err != nil {
		return 0, false
	}
	digits := make([]int, len(c.Values))
	for p, v := range c.Values {
		d, ok := s.digits[p][v]
		if !ok {
			return 0, false
		}
		digits[p] = int(d)
	}
	return s.IndexOfDigits(digits)
}

// Check says why a configuration is not in the space, nil if it is: a missing
// or unknown parameter, a value that is not the parameter's, or the first
// constraint that it breaks.
func (s *Space) Check(c Config) error {
	c, err := s.Conform(c)
	if err != nil {
		return err
	}
	env := expr.NewEnv(len(s.params))
	for p, v := range c.Values {
		if _, ok := s.digits[p][v]; !ok {
			return fmt.Errorf("parameter %s has no value %s; it has %s", s.names[p], v.Text(), texts(s.params[p].Values))
		}
		env.Set(p, v.Operand())
	}
	for _, k := range s.constraints {
		program, err := expr.Compile(k.Expr, Vars(s.params))
		if err != nil {
			return k.wrap(err)
		}
		holds, err := program.Truth(env)
		if err != nil {
			return k.wrap(err)
		}
		if !holds {
			return k.wrap(fmt.Errorf("%s does not meet %q", c, k.Expr.Text))
		}
	}
	if _, ok := s.IndexOf(c); s.listed && !ok {
		return fmt.Errorf("%s is not among the %d configurations listed", c, s.size)
	}
	return nil
}

// Conform returns the configuration with the space's order and kinds; it need
// not be valid. A missing or unknown parameter is an error.
func (s *Space) Conform(c Config) (Config, error) {
	if len(c.Names) != len(c.Values) {
		return Config{}, fmt.Errorf("configuration has %d names and %d values", len(c.Names), len(c.Values))
	}
	for _, n := range c.Names {
		if !slices.Contains(s.names, n) {
			return Config{}, fmt.Errorf("no parameter %s; there are %s", n, strings.Join(s.names, ", "))
		}
	}
	out := Config{Names: s.names, Values: make([]Value, len(s.names))}
	for p, n := range s.names {
		v, ok := c.Get(n)
		if !ok {
			return Config{}, fmt.Errorf("parameter %s has no value in %s; all of %s are needed", n, c, strings.Join(s.names, ", "))
		}
		kind := s.params[p].Kind()
		if out.Values[p], ok = v.As(kind); !ok {
			return Config{}, fmt.Errorf("parameter %s is of type %s and cannot be %s", n, kind, v.Text())
		}
	}
	return out, nil
}

// ParseConfig reads "NAME=V,NAME=V" into a configuration of the space's
// parameters (in any order, each exactly once); it need not be valid.
func (s *Space) ParseConfig(text string) (Config, error) {
	list, err := ParseAssignments(text)
	if err != nil {
		return Config{}, err
	}
	var c Config
	for _, a := range list {
		p := slices.Index(s.names, a.Name)
		if p < 0 {
			return Config{}, fmt.Errorf("no parameter %s; there are %s", a.Name, strings.Join(s.names, ", "))
		}
		if slices.Contains(c.Names, a.Name) {
			return Config{}, fmt.Errorf("%q gives %s twice", text, a.Name)
		}
		v, err := ParseValue(s.params[p].Kind(), a.Text)
		if err != nil {
			return Config{}, fmt.Errorf("parameter %s: %w", a.Name, err)
		}
		c.Names, c.Values = append(c.Names, a.Name), append(c.Values, v)
	}
	return s.Conform(c)
}
