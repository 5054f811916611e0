package feature

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/warptune/warptune/search"
)

const (
	sample = 8192 // configurations that correlations are taken of
	// tied is the least correlation of the logarithms of two sizes that
	// constraints tie; that of a sample of independent ones is a ninth of it.
	tied = 0.1
)

// Closer returns the map of a space with coordinates besides for what kernels
// do with parameters.
//
// Two sizes of which among the valid configurations one tells something of the
// other are tied by constraints: the sides of a block whose threads are bounded,
// a tile and what divides it. Where one is large when the other is small the
// kernel goes by their product, which becomes a coordinate, and where they are
// large together by their quotient.
//
// Three to five integers from 0 up are codes, of methods say, and no sizes: each
// has a coordinate of its own, so that two of them are as far apart as others.
func Closer(space *search.Space) *Map { return closer(space, false) }

// Stepped returns the closer map in which a size that is not always a power of
// two counts by its place among the values. Authors list 1, 2, 4, 6, … 20 where
// they expect a step to matter as much at the end as at the beginning; by their
// logarithms the last three are all but the same, by their places not. Which is
// right the kernel decides.
func Stepped(space *search.Space) *Map { return closer(space, true) }

func closer(space *search.Space, places bool) *Map {
	m := &Map{space: space, places: places}
	for p, param := range space.Params() {
		switch {
		case space.Occurring(p) < 2:
		case codes(param.Values):
			for d := range param.Values {
				is := make([]float32, len(param.Values))
				is[d] = 1
				m.cols = append(m.cols, column{param: p, value: is})
			}
		default:
			m.add(p, param.Values)
		}
	}
	m.tie()
	return m
}

// codes reports whether values are integers from 0 up, too few to count with.
func codes(values []search.Value) bool {
	for k, v := range values {
		if v.Kind != search.Int || v.I != int64(k) {
			return false
		}
	}
	return len(values) >= 3 && len(values) <= 5
}

// tie appends the coordinates of pairs of sizes that constraints tie.
func (m *Map) tie() {
	var sizes []column
	for p, param := range m.space.Params() {
		if m.space.Occurring(p) > 2 && positive(param.Values) {
			sizes = append(sizes, column{param: p, value: size(param.Values)})
		}
	}
	logs := m.draw(sizes)
	for a := range sizes {
		for b := range a {
			r := correlation(logs[a], logs[b])
			if !(math.Abs(r) >= tied) {
				continue
			}
			c := sizes[a]
			c.other, c.more = sizes[b].param, slices.Clone(sizes[b].value)
			for k := range c.more {
				if r > 0 {
					c.more[k] = -c.more[k]
				}
			}
			m.cols = append(m.cols, c)
		}
	}
}

// draw returns the coordinates of a sample of the space, the
// same whenever it is asked.
func (m *Map) draw(cols []column) [][]float64 {
	out := make([][]float64, len(cols))
	if len(cols) < 2 {
		return out
	}
	for _, i := range m.space.Sample(rand.New(rand.NewPCG(0, 0)), sample) {
		m.buf = m.space.Digits(i, m.buf[:0])
		for k, c := range cols {
			out[k] = append(out[k], float64(c.value[m.buf[c.param]]))
		}
	}
	return out
}

// correlation returns that of two samples; NaN: one of them does not vary.
func correlation(a, b []float64) float64 {
	n := float64(len(a))
	var x, y, xx, yy, xy float64
	for k := range a {
		x += a[k] / n
		y += b[k] / n
	}
	for k := range a {
		u, v := a[k]-x, b[k]-y
		xx, yy, xy = xx+u*u, yy+v*v, xy+u*v
	}
	return xy / math.Sqrt(xx*yy)
}

func positive(values []search.Value) bool {
	return !slices.ContainsFunc(values, func(v search.Value) bool { return v.Kind != search.Int || v.I <= 0 })
}
