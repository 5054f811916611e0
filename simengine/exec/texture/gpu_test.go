package texture

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/ir"
)

// fetches is what a warp of an H100 fetched with one object (deploy/calibrate/microbench/textures.cu, values).
type fetches struct {
	Params struct {
		Op, Format               string
		Mode, Filter, Normalized int
	}
	Lanes  []int
	X      []float32
	Values [][4]float32
}

// object is the image that the fetches are from, and its texels' bytes.
func (g *fetches) object() (Object, []byte) {
	// CUDA's numbers of address modes
	mode := [...]Mode{Wrap, Clamp, Mirror, Border}[g.Params.Mode]
	o := Object{Elem: ir.F32, Channels: 1, Dims: 2, Size: [3]int{5, 4, 1}, Modes: [3]Mode{mode, mode, mode},
		Filter: g.Params.Filter == 1, Normalized: g.Params.Normalized == 1}
	switch g.Params.Op {
	case "1d":
		o.Dims, o.Size[1] = 1, 1
	case "fetch":
		o.Dims, o.Linear, o.Size = 1, true, [3]int{20, 1, 1}
	}
	var image []byte
	if g.Params.Format == "uchar4" {
		o.Elem, o.Channels, o.ReadNormalized = ir.U8, 4, true
		for i := range 20 {
			image = append(image, byte(i*12), byte(255-i*12), byte(i*i/2), 128)
		}
		return o, image
	}
	for i := range 20 {
		image = binary.LittleEndian.AppendUint32(image, math.Float32bits(float32(i*i+1)))
	}
	return o, image
}

// fetch is what we fetch at lane i's coordinates.
func (g *fetches) fetch(i int) (v [4]float32) {
	o, image := g.object()
	texel := func(t *Texel) []byte { return image[(t.Y*o.Size[0]+t.X)*o.Texel():] }
	var f Fetch
	var bits [4]uint32
	x := g.X[i]
	switch g.Params.Op {
	case "fetch":
		o.Integer(&f, &[3]int32{int32(g.Lanes[i] - 8)}, 0)
		bits = o.Value(&f, texel)
	case "gather":
		o.Sample(&f, &[3]float32{x, x * 0.75}, 0, true)
		bits = o.Gather(&f, 0, texel)
	default:
		o.Sample(&f, &[3]float32{x, x * 0.75}, 0, false)
		bits = o.Value(&f, texel)
	}
	for c := range v {
		v[c] = math.Float32frombits(bits[c])
	}
	return v
}

// Fetches give what an H100 gave: all operations, address modes and filters, of floats and of normalised bytes, with
// coordinates inside and outside.
func TestFetchesAreTheGPUs(t *testing.T) {
	values, differ := 0, 0
	for _, g := range measured.Records[fetches](t, "../../../deploy/calibrate/results/h100-texture-fetches.jsonl.gz") {
		for i, want := range g.Values {
			got := g.fetch(i)
			for c := range got {
				values++
				if math.Abs(float64(got[c]-want[c])) > 1e-6*math.Max(1, math.Abs(float64(want[c]))) {
					differ++
					t.Logf("%+v lane %d at %v channel %d: %v, the GPU %v", g.Params, g.Lanes[i], g.X[i], c, got[c], want[c])
				}
			}
		}
	}
	if values != 10368 || differ > 0 {
		t.Errorf("%d of %d values differ", differ, values)
	}
}

// weighed is what an H100 says of the weights of 2048 places from one texel to the next (deploy/calibrate/microbench/textures.cu).
type weighed struct {
	Name   string
	Params struct {
		Rounding string
		Position float64
	}
	Value float64
}

// Weights are rounded as an H100 rounds them: to the nearest of 256 steps, halves up, at all places.
func TestWeightsAreTheGPUs(t *testing.T) {
	o := Object{Elem: ir.F32, Channels: 1, Dims: 1, Size: [3]int{2, 1, 1}, Modes: [3]Mode{Clamp, Clamp, Clamp}, Filter: true}
	image := binary.LittleEndian.AppendUint32(make([]byte, 4), math.Float32bits(1))
	weight := func(position float64) float64 {
		var f Fetch
		o.Sample(&f, &[3]float32{0.5 + float32(position)}, 0, false)
		bits := o.Value(&f, func(t *Texel) []byte { return image[t.X*4:] })
		return float64(math.Float32frombits(bits[0])) * 256
	}
	const places = 2048
	counts := map[string]float64{}
	for i := range places {
		w := weight(float64(i) / places)
		for rounding, is := range map[string]bool{"nearest": w == float64((i+4)/8), "down": w == float64(i/8), "steps of 1/256": w == math.Trunc(w)} {
			if is {
				counts[rounding]++
			}
		}
	}
	compared := 0
	for _, r := range measured.Records[weighed](t, "../../../deploy/calibrate/results/h100-textures.jsonl.gz") {
		got := 0.0
		switch r.Name {
		case "texture.weights":
			got = counts[r.Params.Rounding]
		case "texture.weight":
			got = weight(math.Round(r.Params.Position*places) / places)
		default:
			continue
		}
		compared++
		if got != r.Value {
			t.Errorf("%s %+v: %v, the GPU %v", r.Name, r.Params, got, r.Value)
		}
	}
	if compared != 12 {
		t.Errorf("%d figures were compared", compared)
	}
}
