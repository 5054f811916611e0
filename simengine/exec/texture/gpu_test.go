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
			if p := g.Params; p.Op == "1d" && p.Filter == 1 && p.Mode == 3 {
				continue // whose second dimension has a border as well, with which the GPU blends: not modelled
			}
			for c := range got {
				values++
				if math.Abs(float64(got[c]-want[c])) > 1e-6*math.Max(1, math.Abs(float64(want[c]))) {
					differ++
					t.Logf("%+v lane %d at %v channel %d: %v, the GPU %v", g.Params, g.Lanes[i], g.X[i], c, got[c], want[c])
				}
			}
		}
	}
	if values < 5000 || differ > 0 {
		t.Errorf("%d of %d values differ", differ, values)
	}
}
