// Package feature turns configurations into points for models to learn from. It
// learns nothing itself.
//
// A parameter that varies gives a coordinate: where all values are positive numbers their logarithm to base 2, so
// that sums and differences of coordinates are products and quotients of parameters, else their index. Where the
// values are integers that are not all powers of two, how many times two divides them is a coordinate of its own.
// Whether a block is whole warps, or a row whole sectors and banks, decides more than how large it is.
//
// One or two integers that are not positive beside others that are stand for
// something else than a size: no cap, no padding, the driver's choice. Whether a
// parameter has such a value is a coordinate of its own, and the others are as
// far from it as from one another.
//
// A closer map has coordinates besides for what parameters are together: the
// product or the quotient of two sizes that constraints tie. Of a closer map
// there are two kinds, which differ in sizes that are not all powers of two.
package feature

import (
	"math"
	"math/bits"
	"slices"

	"github.com/warptune/warptune/search"
)

// Map maps the configurations of a space to points. It is not safe for
// concurrent use.
type Map struct {
	space  *search.Space
	cols   []column
	places bool // sizes that are not all powers of two count by their place
	buf    []int
}

// column is a coordinate: what a parameter contributes, and where tied another.
type column struct {
	param int
	value []float32 // by digit
	other int
	more  []float32 // by digit of other; nil: there is none
}

// New returns the map of a space.
func New(space *search.Space) *Map {
	m := &Map{space: space}
	for p, param := range space.Params() {
		if space.Occurring(p) > 1 {
			m.add(p, param.Values)
		}
	}
	return m
}

// add appends the coordinates of a parameter.
func (m *Map) add(p int, values []search.Value) {
	if off := apart(values); off != nil {
		for _, v := range off {
			m.cols = append(m.cols, column{param: p, value: v})
		}
		return
	}
	halvings := twos(values)
	if m.places && halvings != nil {
		m.cols = append(m.cols, column{param: p, value: places(values)})
	} else {
		m.cols = append(m.cols, column{param: p, value: size(values)})
	}
	if halvings != nil {
		m.cols = append(m.cols, column{param: p, value: halvings})
	}
}

// Dims returns the number of coordinates.
func (m *Map) Dims() int { return len(m.cols) }

// Param returns the parameter that a coordinate is of, of two the latter.
func (m *Map) Param(dim int) int { return m.cols[dim].param }

// Range returns the difference of the greatest and the least value of a
// coordinate, which is positive; of two parameters the sum of both's.
func (m *Map) Range(dim int) float32 {
	c := m.cols[dim]
	r := slices.Max(c.value) - slices.Min(c.value)
	if c.more != nil {
		r += slices.Max(c.more) - slices.Min(c.more)
	}
	return r
}

// Append appends the point of a configuration.
func (m *Map) Append(dst []float32, i int64) []float32 {
	m.buf = m.space.Digits(i, m.buf[:0])
	for _, c := range m.cols {
		v := c.value[m.buf[c.param]]
		if c.more != nil {
			v += c.more[m.buf[c.other]]
		}
		dst = append(dst, v)
	}
	return dst
}

// apart returns, where one or two of at least three integers are not positive,
// for each of these whether a value is that, and the logarithms of the positive
// ones, for the others their mean; else nil.
func apart(values []search.Value) [][]float32 {
	var out [][]float32
	logs := make([]float32, len(values))
	sizes, mean := 0, float32(0)
	for d, v := range values {
		switch {
		case v.Kind != search.Int:
			return nil
		case v.I > 0:
			logs[d] = float32(math.Log2(float64(v.I)))
			mean += logs[d]
			sizes++
		default:
			is := make([]float32, len(values))
			is[d] = 1
			out = append(out, is)
		}
	}
	if len(out) == 0 || len(out) > 2 || sizes == 0 || len(values) < 3 {
		return nil
	}
	if sizes == 1 {
		return out
	}
	for d, v := range values {
		if v.I <= 0 {
			logs[d] = mean / float32(sizes)
		}
	}
	return append(out, logs)
}

// size returns the logarithms of values, or their indices.
func size(values []search.Value) []float32 {
	logs := make([]float32, len(values))
	numbers := true
	for d, v := range values {
		x := number(v)
		numbers = numbers && x > 0 && !math.IsInf(x, 1)
		logs[d] = float32(math.Log2(x))
	}
	if numbers && slices.Max(logs) > slices.Min(logs) {
		return logs
	}
	return places(values)
}

// places returns the indices of values.
func places(values []search.Value) []float32 {
	out := make([]float32, len(values))
	for d := range out {
		out[d] = float32(d)
	}
	return out
}

// twos returns how many times two divides each value; nil where that is always
// the same, or says no more than the logarithm does.
func twos(values []search.Value) []float32 {
	out := make([]float32, len(values))
	powers := true
	for d, v := range values {
		if v.Kind != search.Int || v.I <= 0 {
			return nil
		}
		out[d] = float32(bits.TrailingZeros64(uint64(v.I)))
		powers = powers && v.I&(v.I-1) == 0
	}
	if powers || slices.Max(out) == slices.Min(out) {
		return nil
	}
	return out
}

// number returns a numeric value, 0 for others.
func number(v search.Value) float64 {
	switch v.Kind {
	case search.Int:
		return float64(v.I)
	case search.Float:
		return v.F
	}
	return 0
}

// Target is what models learn of an objective: its logarithm, as times are
// compared by ratio. Objectives that are not positive stay in order, below all
// that are.
func Target(objective float64) float64 {
	if objective >= 1e-300 {
		return math.Log(objective)
	}
	return objective - 691
}
