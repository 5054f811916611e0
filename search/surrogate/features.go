package surrogate

import (
	"math"

	"github.com/warptune/warptune/search"
)

// features turns configurations into points: a coordinate for each parameter
// that varies. Where all values are positive numbers it is their logarithm to
// base 2, else their index.
type features struct {
	space *search.Space
	of    []int       // parameter of a coordinate
	value [][]float32 // by coordinate and digit
	buf   []int
}

func newFeatures(space *search.Space) *features {
	f := &features{space: space}
	for p, param := range space.Params() {
		if space.Occurring(p) < 2 {
			continue
		}
		f.of = append(f.of, p)
		f.value = append(f.value, coordinates(param.Values))
	}
	return f
}

func coordinates(values []search.Value) []float32 {
	out := make([]float32, len(values))
	for d, v := range values {
		out[d] = float32(d)
		if x := number(v); x > 0 {
			out[d] = float32(math.Log2(x))
			continue
		}
		for d := range values {
			out[d] = float32(d)
		}
		return out
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

// append appends the point of a configuration.
func (f *features) append(dst []float32, i int64) []float32 {
	f.buf = f.space.Digits(i, f.buf[:0])
	for k, p := range f.of {
		dst = append(dst, f.value[k][f.buf[p]])
	}
	return dst
}
