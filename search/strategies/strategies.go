// Package strategies knows the search strategies by name. Each is in a package
// of its own.
package strategies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/annealing"
	"github.com/warptune/warptune/search/evolution"
	"github.com/warptune/warptune/search/exhaustive"
	"github.com/warptune/warptune/search/gaussian"
	"github.com/warptune/warptune/search/genetic"
	"github.com/warptune/warptune/search/localsearch"
	"github.com/warptune/warptune/search/portfolio"
	"github.com/warptune/warptune/search/quasirandom"
	"github.com/warptune/warptune/search/random"
	"github.com/warptune/warptune/search/surrogate"
	"github.com/warptune/warptune/search/swarm"
	"github.com/warptune/warptune/search/tabu"
)

// strategy is an entry of the registry.
type strategy struct {
	name string
	// oblivious: the questions do not depend on the answers.
	oblivious bool
	// believes: it says what it believes is left to gain (search.Estimator).
	believes bool
	make     func(space *search.Space, seed uint64) search.Strategy
}

var all = []strategy{
	{"exhaustive", true, false, func(s *search.Space, _ uint64) search.Strategy { return exhaustive.New(s) }},
	{"random", true, false, func(s *search.Space, seed uint64) search.Strategy { return random.New(s, seed) }},
	{"quasi-random", true, false, quasirandom.New},
	{"multi-start", false, false, localsearch.NewMultiStart},
	{"iterated", false, false, localsearch.NewIterated},
	{"annealing", false, false, annealing.New},
	{"genetic", false, false, genetic.New},
	{"differential-evolution", false, false, evolution.New},
	{"particle-swarm", false, false, swarm.New},
	{"tabu", false, false, tabu.New},
	{"surrogate", false, true, surrogate.New},
	{"gaussian-process", false, true, gaussian.New},
	{"portfolio", false, true, portfolio.New},
}

// Default is the name of the strategy that "" means.
const Default = "exhaustive"

// Recommended is the name of the strategy for spaces that are too large to
// evaluate all of.
const Recommended = "portfolio"

// Small is the size up to which all of a space is evaluated if nothing is said:
// minutes of simulation.
const Small = 1000

// Choose returns the name of the strategy for a space of a size when at most
// budget configurations are to be evaluated, 0: any number. What can be
// evaluated whole is, which leaves nothing to chance.
func Choose(size, budget int64) string {
	if budget > 0 && size <= budget || budget == 0 && size <= Small {
		return "exhaustive"
	}
	return Recommended
}

// Names returns the names of all strategies.
func Names() []string {
	var names []string
	for _, s := range all {
		names = append(names, s.name)
	}
	return names
}

func find(name string) (strategy, error) {
	if name == "" {
		name = Default
	}
	if i := slices.IndexFunc(all, func(s strategy) bool { return s.name == name }); i >= 0 {
		return all[i], nil
	}
	return strategy{}, fmt.Errorf("unknown strategy %q: use one of %s", name, strings.Join(Names(), ", "))
}

// Check returns an error that lists the strategies when there is none of the
// name.
func Check(name string) error {
	_, err := find(name)
	return err
}

// New returns the strategy of the name for a space. The space, the seed and
// the observations told determine its questions.
func New(name string, space *search.Space, seed uint64) (search.Strategy, error) {
	s, err := find(name)
	if err != nil {
		return nil, err
	}
	return s.make(space, seed), nil
}

// From returns the strategy of the name for a space of which objectives were predicted. The
// recommended one begins with predictions; others take none.
func From(predicted search.Prior, name string, space *search.Space, seed uint64) (search.Strategy, error) {
	if predicted == nil {
		return New(name, space, seed)
	}
	if name != Recommended {
		return nil, fmt.Errorf("strategy %q takes no predictions: use %s", name, Recommended)
	}
	return portfolio.From(predicted, space, seed), nil
}

// Believing returns the names of the strategies that say what they believe is left to
// gain: the others a rule of package stopping that goes by it never ends.
func Believing() []string {
	var names []string
	for _, s := range all {
		if s.believes {
			names = append(names, s.name)
		}
	}
	return names
}

// Oblivious reports whether a strategy's questions are the same whatever the
// answers, so that nobody has to wait for them; false for an unknown name.
func Oblivious(name string) bool {
	s, err := find(name)
	return err == nil && s.oblivious
}
