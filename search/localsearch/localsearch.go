// Package localsearch descends to local optima: from a start it asks for
// Hamming neighbours in random order and moves to the first better one; where
// none is better it starts again. Multi-start draws the next start at random;
// iterated local search perturbs the best local optimum of late (Lourenço,
// Martin and Stützle, "Iterated Local Search", Handbook of Metaheuristics,
// 2003).
package localsearch

import (
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/trail"
)

// NewMultiStart returns multi-start local search for a space.
func NewMultiStart(space *search.Space, seed uint64) search.Strategy {
	return trail.Run(space, seed, func(t *trail.Trail) trail.Member { return MultiStart(t) })
}

// NewIterated returns iterated local search for a space.
func NewIterated(space *search.Space, seed uint64) search.Strategy {
	return trail.Run(space, seed, func(t *trail.Trail) trail.Member { return Iterated(t) })
}

// Descent is a local search.
type Descent struct {
	t       *trail.Trail
	restart func(*Descent) (int64, bool) // where to start next; may be seen
	at      search.Observation           // where it stands, if standing
	start   int64                        // asked, its answer is what at will be
	state   state
	queue   []int64 // neighbours of at to ask for
	out     map[int64]bool
	home    search.Observation // iterated: the optimum that is perturbed
	stale   int                // perturbations of home without success
	begun   bool               // iterated: at the best known
}

type state uint8

const (
	nowhere  state = iota // a start is to be chosen
	starting              // a start was asked for
	standing              // neighbours are being asked for
)

// starts is how many configurations are drawn at random before the first
// descent, which begins at the best of them.
const starts = 10

// MultiStart returns the member that starts at random.
func MultiStart(t *trail.Trail) *Descent {
	return &Descent{t: t, out: map[int64]bool{}, restart: func(d *Descent) (int64, bool) { return d.t.Random() }}
}

// Iterated returns the member that perturbs its best optimum.
func Iterated(t *trail.Trail) *Descent {
	return &Descent{t: t, out: map[int64]bool{}, restart: (*Descent).perturb}
}

// perturbed parameters of an optimum; patience is the number of perturbations
// that may fail before the search starts at random.
const (
	perturbed = 3
	patience  = 12
)

func (d *Descent) perturb() (int64, bool) {
	if d.at.Valid && (!d.home.Valid || trail.Better(d.at, d.home)) {
		d.home, d.stale = d.at, 0
	} else if d.stale++; d.stale > patience {
		d.home, d.stale = search.Observation{}, 0
	}
	if best, ok := d.t.Best(); !d.home.Valid && ok && !d.begun {
		d.home, d.begun = best, true
		return best.Index, true
	}
	if !d.home.Valid {
		return d.t.Random()
	}
	return d.t.Move(d.home.Index, perturbed), true
}

// Propose implements trail.Member.
func (d *Descent) Propose() (int64, bool) {
	if len(d.t.History())+len(d.t.Pending()) < starts {
		return d.t.Random()
	}
	const moves = 64 // through places already told, before giving up
	for range moves {
		if d.state == standing {
			if i, ok := d.neighbour(); ok {
				return i, true
			}
			if len(d.out) > 0 { // an answer may be better: nothing to go on until then
				return 0, false
			}
			d.state = nowhere
		}
		if d.state == starting {
			return 0, false
		}
		i, ok := d.restart(d)
		if !ok {
			return 0, false
		}
		d.at = search.Observation{}
		if o, told := d.t.Told(i); told {
			d.stand(o)
			continue
		}
		if d.start = i; !d.t.Seen(i) {
			d.state = starting
			return i, true
		}
	}
	return 0, false
}

// stand moves to a configuration.
func (d *Descent) stand(o search.Observation) {
	d.at, d.state = o, standing
	clear(d.out)
	d.queue = d.t.Neighbourhood(o.Index)
	for _, k := range d.queue { // known places cost nothing
		if known, ok := d.t.Told(k); ok && trail.Better(known, d.at) {
			d.at = known
		}
	}
	if d.at != o {
		d.stand(d.at)
	}
}

// neighbour takes a neighbour that was not seen from the queue.
func (d *Descent) neighbour() (int64, bool) {
	for len(d.queue) > 0 {
		i := d.queue[0]
		d.queue = d.queue[1:]
		if !d.t.Seen(i) {
			d.out[i] = true
			return i, true
		}
	}
	return 0, false
}

// Observe implements trail.Member.
func (d *Descent) Observe(o search.Observation) {
	switch {
	case d.state == starting && o.Index == d.start:
		d.stand(o)
	case d.state == standing && d.out[o.Index]:
		delete(d.out, o.Index)
		if trail.Better(o, d.at) {
			d.stand(o)
		}
	}
}
