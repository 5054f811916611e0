package gaussian

import "math/rand/v2"

// belief is a process with what it has been told and what it has said.
type belief struct {
	process *process
	lens    int // which of the model's maps it sees configurations by
	// walk drives the lengths and the noise through their posterior; nil: they
	// climb to where it is highest.
	walk      *rand.Rand
	views     map[int64]*view
	fitted    int     // answers when it was fitted last
	questions int     // conditioned for
	in        []int64 // the configurations that the process is conditioned on
}

func newBelief(dims int, walk *rand.Rand) *belief {
	return &belief{process: newProcess(dims), walk: walk, views: map[int64]*view{}}
}

// fit moves lengths and noise by some steps, after which nothing is known.
func (b *belief) fit(t *training, steps int) {
	b.process.fit(t, steps, b.walk)
	b.in = b.in[:0]
	clear(b.views)
}

// condition has the process know a list of configurations, of which the first
// have the values y.
func (b *belief) condition(in []int64, y []float64, unit func(int64) []float64) {
	for !b.bring(in, unit) {
		b.process.noise++ // ends at noise that drowns any likeness
		b.process.reset()
		b.in = b.in[:0]
	}
	b.process.set(y)
	b.questions++
}

// bring has the process know a list of configurations, keeping what it knows of
// the same beginning. False: they are too near one another for the noise that
// there is.
func (b *belief) bring(in []int64, unit func(int64) []float64) bool {
	same := 0
	for same < min(len(b.in), len(in)) && b.in[same] == in[same] {
		same++
	}
	b.process.cut(same)
	b.in = b.in[:same]
	for _, i := range in[same:] {
		if !b.process.add(unit(i)) {
			return false
		}
		b.in = append(b.in, i)
	}
	return true
}

// viewed is how many views are kept of one process at most, each of up to two
// numbers an answer: about as many as two questions look at.
const viewed = 1280

// view returns the process's view of a configuration.
func (b *belief) view(i int64, unit []float64) *view {
	v, ok := b.views[i]
	if !ok || v.epoch != b.process.epoch {
		if len(b.views) >= viewed {
			b.evict()
		}
		v = b.process.view(unit)
		b.views[i] = v
	}
	v.used = b.questions
	return v
}

// evict makes room: of what was not of use to this question nor the last, else
// everywhere.
func (b *belief) evict() {
	for i, v := range b.views {
		if v.used < b.questions-1 {
			delete(b.views, i)
		}
	}
	if len(b.views) >= viewed {
		clear(b.views)
	}
}
