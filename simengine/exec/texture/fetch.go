package texture

import (
	"math"

	"github.com/warptune/warptune/simengine/trace"
)

// Texel is a texel that a fetch reads.
type Texel struct {
	X, Y, Z int
	Weight  float32
	Outside bool // in the border: zero, and nothing is read
}

// Fetch is the texels that a fetch reads, the first dimension's neighbours first.
type Fetch struct {
	Texels [trace.MostTexels]Texel
	N      int
	Layer  int
}

// axis is what a coordinate reads in one dimension: one texel or two.
type axis struct {
	at      [2]int
	outside [2]bool
	weight  [2]float32
	n       int
}

// weightSteps is the steps of a weight: 8 bits of fraction, and 1 itself (CUDA C++ Programming Guide, linear filtering).
const weightSteps = 256

// Sample is what a fetch at floating-point coordinates reads. gather asks for the four texels of two dimensions that
// would be filtered, whatever the filter.
func (o *Object) Sample(f *Fetch, at *[3]float32, layer int, gather bool) {
	var axes [3]axis
	for d := range o.Dims {
		axes[d] = o.axis(d, at[d], o.Filter || gather)
	}
	o.combine(f, &axes, layer)
	if o.Dims == 1 && o.Filter && o.Modes[1] == Border {
		f.blendBorder(axes[0].weight[1] * weightSteps)
	}
}

// blendBorder blends the texels of one dimension with the border of the second as the upper row, half of each, given the
// steps towards the right: the row of texels is one of an image of one row, fetched at its upper edge
// (H100, h100-texture-fetches.jsonl.gz).
func (f *Fetch) blendBorder(right float32) {
	const below = weightSteps / 2
	both := float32(math.Floor(float64(right*below/weightSteps) + 0.5))
	f.Texels[0].Weight, f.Texels[1].Weight = (below-both)/weightSteps, both/weightSteps
}

// Integer is what a fetch at integer coordinates reads: a texel, never filtered. Outside linear memory is zero.
func (o *Object) Integer(f *Fetch, at *[3]int32, layer int) {
	var axes [3]axis
	for d := range o.Dims {
		mode := o.Modes[d]
		if o.Linear && o.Dims == 1 {
			mode = Border
		} else if mode != Border {
			mode = Clamp
		}
		axes[d].n = 1
		axes[d].weight[0] = 1
		axes[d].at[0], axes[d].outside[0] = inside(int64(at[d]), o.Size[d], mode)
	}
	o.combine(f, &axes, layer)
}

func (o *Object) axis(d int, x float32, pair bool) (a axis) {
	n := o.Size[d]
	mode := o.Modes[d]
	v := float64(x)
	if o.Normalized {
		v *= float64(n)
	} else if mode == Wrap || mode == Mirror {
		mode = Clamp // CUDA's rule: they are for normalised coordinates
	}
	if v != v {
		v = 0
	}
	v = math.Max(math.Min(v, 1<<40), -1<<40)
	if !pair {
		a.n, a.weight[0] = 1, 1
		a.at[0], a.outside[0] = inside(int64(math.Floor(v)), n, mode)
		return a
	}
	v -= 0.5
	low := math.Floor(v)
	alpha := float32(math.Floor((v-low)*weightSteps+0.5)) / weightSteps
	a.n, a.weight = 2, [2]float32{1 - alpha, alpha}
	a.at[0], a.outside[0] = inside(int64(low), n, mode)
	a.at[1], a.outside[1] = inside(int64(low)+1, n, mode)
	return a
}

// inside is the texel that an index means.
func inside(i int64, n int, mode Mode) (at int, outside bool) {
	size := int64(n)
	switch {
	case i >= 0 && i < size:
		return int(i), false
	case mode == Border:
		return 0, true
	case mode == Wrap:
		return int((i%size + size) % size), false
	case mode == Mirror:
		i = (i%(2*size) + 2*size) % (2 * size)
		if i >= size {
			i = 2*size - 1 - i
		}
		return int(i), false
	}
	return int(max(0, min(i, size-1))), false
}

// combine makes texels of all combinations of the dimensions' neighbours.
func (o *Object) combine(f *Fetch, axes *[3]axis, layer int) {
	f.N, f.Layer = 0, max(0, min(layer, o.Layers-1))
	for z := range max(axes[2].n, 1) {
		for y := range max(axes[1].n, 1) {
			for x := range max(axes[0].n, 1) {
				t := Texel{X: axes[0].at[x], Y: axes[1].at[y], Z: axes[2].at[z], Weight: axes[0].weight[x]}
				t.Outside = axes[0].outside[x] || axes[1].outside[y] || axes[2].outside[z]
				if o.Dims > 1 {
					t.Weight *= axes[1].weight[y]
				}
				if o.Dims > 2 {
					t.Weight *= axes[2].weight[z]
				}
				f.Texels[f.N] = t
				f.N++
			}
		}
	}
	if o.Dims == 2 && f.N == 4 {
		f.roundSquare(axes[0].weight[1]*weightSteps, axes[1].weight[1]*weightSteps)
	}
}

// roundSquare makes the weights of a square of texels whole steps that add up to one, given the steps towards the right and
// towards the row below. The product of both is rounded, and the other three follow (H100, h100-texture-fetches.jsonl.gz).
func (f *Fetch) roundSquare(right, below float32) {
	both := float32(math.Floor(float64(right*below/weightSteps) + 0.5))
	for i, steps := range [4]float32{weightSteps - right - below + both, right - both, below - both, both} {
		f.Texels[i].Weight = steps / weightSteps
	}
}
