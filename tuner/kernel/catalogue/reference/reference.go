// Package reference says in plain Go what each built-in kernel computes: for a
// configuration, a problem size and the buffers' contents before the launch, the
// contents of its output buffers after it. It is what functional execution of the
// kernels' PTX is tested against.
//
// It knows nothing of threads, blocks or PTX, and is not meant to be fast.
package reference

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Launch is one launch of a built-in kernel over its whole grid.
type Launch struct {
	Kernel  string
	Problem []int64
	Params  map[string]int64  // the configuration
	Buffers map[string][]byte // little-endian contents before the launch, by argument; not modified
}

// Output is what an output buffer holds after the launch.
type Output struct {
	values []float64 // exact for every element type the kernels use
	slack  []float64 // allowed absolute difference of each element; nil: none
	bytes  int       // of an element
	float  bool
}

// Problem is a small problem size for a configuration of a built-in kernel: some
// blocks, and where the kernel guards its tail, a partial one.
func Problem(kernel string, params map[string]int64) ([]int64, error) {
	k, ok := kernels[kernel]
	if !ok {
		return nil, fmt.Errorf("no reference for kernel %q", kernel)
	}
	return k.problem(params), nil
}

// Expect computes the launch's outputs by argument name.
func Expect(l Launch) (map[string]Output, error) {
	k, ok := kernels[l.Kernel]
	if !ok {
		return nil, fmt.Errorf("no reference for kernel %q", l.Kernel)
	}
	c := &call{Launch: l, out: map[string]Output{}}
	k.expect(c)
	return c.out, c.err
}

// Compare reports the first element that differs by more than allowed. A NaN
// equals nothing.
func (o Output) Compare(got []byte) error {
	if len(got) != len(o.values)*o.bytes {
		return fmt.Errorf("%d bytes, want %d", len(got), len(o.values)*o.bytes)
	}
	for i, want := range o.values {
		g := element(got, i, o.bytes, o.float)
		allowed := 0.0
		if o.slack != nil {
			allowed = o.slack[i]
		}
		if !(math.Abs(g-want) <= allowed) {
			return fmt.Errorf("element %d is %v, want %v within %v", i, g, want, allowed)
		}
	}
	return nil
}

// call is one Expect in progress.
type call struct {
	Launch
	out map[string]Output
	err error
}

// p is a tuning parameter, n a problem dimension.
func (c *call) p(name string) int {
	v, ok := c.Params[name]
	if !ok && c.err == nil {
		c.err = fmt.Errorf("%s: no parameter %s", c.Kernel, name)
	}
	return int(v)
}

func (c *call) n(dim int) int { return int(c.Problem[dim]) }

// f32, i32 and u8 are a buffer's elements before the launch.
func (c *call) f32(name string) []float32 { return decode[float32](c, name, 4, true) }
func (c *call) i32(name string) []int32   { return decode[int32](c, name, 4, false) }
func (c *call) u8(name string) []uint8    { return decode[uint8](c, name, 1, false) }

func decode[T float32 | int32 | uint8](c *call, name string, size int, float bool) []T {
	b, ok := c.Buffers[name]
	if !ok && c.err == nil {
		c.err = fmt.Errorf("%s: no buffer %s", c.Kernel, name)
	}
	out := make([]T, len(b)/size)
	for i := range out {
		out[i] = T(element(b, i, size, float))
	}
	return out
}

// element reads one element; every value of the types used fits a float64.
// Four-byte integers are signed: the kernels' unsigned results stay below 2^31.
func element(b []byte, i, size int, float bool) float64 {
	if size == 1 {
		return float64(b[i])
	}
	u := binary.LittleEndian.Uint32(b[4*i:])
	if float {
		return float64(math.Float32frombits(u))
	}
	return float64(int32(u))
}

// exact and near record an output.
func exact[T float32 | int32 | uint8](c *call, name string, values []T) {
	o := Output{bytes: 4}
	switch any(values).(type) {
	case []float32:
		o.float = true
	case []uint8:
		o.bytes = 1
	}
	for _, v := range values {
		o.values = append(o.values, float64(v))
	}
	c.out[name] = o
}

// near records floats computed in double precision and how far a float result,
// rounded and contracted in any order, may lie from each.
func near(c *call, name string, values, slack []float64) {
	c.out[name] = Output{values: values, slack: slack, bytes: 4, float: true}
}

// sum accumulates in double precision; a float sum of the same terms in any order
// is within its slack.
type sum struct{ value, magnitude float64 }

func (s *sum) add(v float64) { s.value += v; s.magnitude += math.Abs(v) }

// slack allows 64 roundings of 2^-24 of the terms' magnitude.
func (s *sum) slack() float64 { return s.magnitude * 64 * 0x1p-24 }
