package search

import (
	"errors"
	"iter"
	"math/rand/v2"

	"github.com/warptune/warptune/search/expr"
)

// Param is a tunable with its values in enumeration order.
type Param struct {
	Name   string
	Values []Value
}

// Constraint is a condition that valid configurations meet.
type Constraint struct {
	Expr  *expr.Expr
	Where string // what errors call it, e.g. "ConfigurationSpace.Conditions[2].Expression"; may be empty
}

// Space is a search space: the configurations of the parameters that meet all
// constraints, in the order of the Cartesian product with the first parameter
// slowest. It is immutable and safe for concurrent use.
type Space struct {
	params []Param
}

// New builds the space of the parameters under the constraints.
func New(params []Param, constraints []Constraint) (*Space, error) {
	return nil, errors.New("not built yet")
}

// Params returns the parameters in order. Do not modify.
func (s *Space) Params() []Param { return s.params }

// Size returns the number of valid configurations.
func (s *Space) Size() int64 { return 0 }

// Cartesian returns the number of configurations before constraints, at most
// math.MaxInt64.
func (s *Space) Cartesian() int64 { return 0 }

// At returns configuration i, 0 <= i < Size; like indexing a slice it panics
// outside that range.
func (s *Space) At(i int64) Config { panic("not built yet") }

// IndexOf returns the index of a configuration, false if it is not valid.
func (s *Space) IndexOf(c Config) (int64, bool) { return 0, false }

// Check says why a configuration is not in the space, nil if it is.
func (s *Space) Check(c Config) error { return nil }

// All yields every valid configuration with its index, in order. The Config's
// Values are reused: Clone what is to be kept.
func (s *Space) All() iter.Seq2[int64, Config] { return nil }

// Sample returns n distinct indices (all of them when n >= Size) drawn
// uniformly, in random order.
func (s *Space) Sample(rng *rand.Rand, n int) []int64 { return nil }

// Restrict returns the space in which the named parameters keep only the
// values given, in the order of the parameter.
func (s *Space) Restrict(set map[string][]Value) (*Space, error) { return nil, nil }

// Neighbourhood says which configurations are near one another. The zero value
// is invalid.
type Neighbourhood uint8

// Neighbourhoods, as Kernel Tuner defines them.
const (
	NeighbourhoodInvalid Neighbourhood = iota
	Hamming                            // exactly one parameter differs, by any value
	Adjacent                           // every parameter at most one step away among the values that occur in the space
	StrictlyAdjacent                   // every parameter at most one step away among its values
)

// Neighbours yields the indices of the configurations near configuration i.
func (s *Space) Neighbours(i int64, n Neighbourhood) iter.Seq[int64] { return nil }

// ParseConfig reads "NAME=V,NAME=V" into a configuration of the space's
// parameters (in any order, each exactly once); it need not be valid.
func (s *Space) ParseConfig(text string) (Config, error) { return Config{}, nil }

// Conform returns the configuration with the space's order and kinds; it need
// not be valid. A missing or unknown parameter is an error.
func (s *Space) Conform(c Config) (Config, error) { return Config{}, nil }
