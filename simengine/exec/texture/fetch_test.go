package texture

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/warptune/warptune/simengine/ir"
)

// image is texels as numbers, by channel, and as bytes.
type image struct {
	o      *Object
	number [][4]float64 // what a read that gives floats returns of each texel
	raw    [][4]uint32  // what a read of the element type returns
	bytes  []byte
}

func randomImage(rng *rand.Rand, o *Object) *image {
	m := &image{o: o}
	for range o.Texels() {
		var number [4]float64
		var raw [4]uint32
		for c := range o.Channels {
			var b [4]byte
			switch o.Elem {
			case ir.F32:
				v := rng.Float32()*200 - 100
				number[c], raw[c] = float64(v), math.Float32bits(v)
				binary.LittleEndian.PutUint32(b[:], math.Float32bits(v))
			case ir.F16: // small integers, which halves hold exactly
				v := rng.IntN(16)
				number[c], raw[c] = float64(v), math.Float32bits(float32(v))
				binary.LittleEndian.PutUint16(b[:], [16]uint16{0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800, 0x4880, 0x4900, 0x4980, 0x4a00, 0x4a80, 0x4b00, 0x4b80}[v])
			case ir.U8:
				v := rng.IntN(256)
				number[c], raw[c], b[0] = float64(v)/255, uint32(v), byte(v)
			case ir.S8:
				v := rng.IntN(256) - 128
				number[c], raw[c], b[0] = math.Max(float64(v)/127, -1), uint32(int32(v)), byte(v)
			case ir.U16:
				v := rng.IntN(65536)
				number[c], raw[c] = float64(v)/65535, uint32(v)
				binary.LittleEndian.PutUint16(b[:], uint16(v))
			case ir.S16:
				v := rng.IntN(65536) - 32768
				number[c], raw[c] = math.Max(float64(v)/32767, -1), uint32(int32(v))
				binary.LittleEndian.PutUint16(b[:], uint16(v))
			default:
				v := rng.Uint32()
				raw[c] = v
				binary.LittleEndian.PutUint32(b[:], v)
			}
			m.bytes = append(m.bytes, b[:o.Elem.Size()]...)
		}
		m.number, m.raw = append(m.number, number), append(m.raw, raw)
	}
	return m
}

// fold is the texel that index i means, found by walking there step by step; false: the border.
func fold(i, n int, mode Mode) (int, bool) {
	switch mode {
	case Border:
		return i, i >= 0 && i < n
	case Clamp:
		for i < 0 {
			i++
		}
		for i >= n {
			i--
		}
	case Wrap:
		for i < 0 {
			i += n
		}
		for i >= n {
			i -= n
		}
	case Mirror:
		for i < 0 || i >= n {
			if i < 0 {
				i = -1 - i
			} else {
				i = 2*n - 1 - i
			}
		}
	}
	return i, true
}

func (m *image) at(i [3]int, layer int) ([4]float64, [4]uint32) {
	var k [3]int
	for d := range 3 {
		mode := m.o.Modes[d]
		if !m.o.Normalized && (mode == Wrap || mode == Mirror) {
			mode = Clamp
		}
		if d >= m.o.Dims {
			continue
		}
		at, ok := fold(i[d], m.o.Size[d], mode)
		if !ok {
			return [4]float64{}, [4]uint32{}
		}
		k[d] = at
	}
	n := ((layer*m.o.Size[2]+k[2])*m.o.Size[1]+k[1])*m.o.Size[0] + k[0]
	return m.number[n], m.raw[n]
}

// reference is the Programming Guide's formulas of texture fetching, as they stand there.
func (m *image) reference(at [3]float32, layer int) (number [4]float64, raw [4]uint32) {
	var x [3]float64
	for d := range m.o.Dims {
		x[d] = float64(at[d])
		if m.o.Normalized {
			x[d] *= float64(m.o.Size[d])
		}
	}
	if !m.o.Filter {
		return m.at([3]int{int(math.Floor(x[0])), int(math.Floor(x[1])), int(math.Floor(x[2]))}, layer)
	}
	var i [3]int
	var w [3]float64
	for d := range m.o.Dims {
		b := x[d] - 0.5
		i[d] = int(math.Floor(b))
		w[d] = math.Round((b-math.Floor(b))*256) / 256
	}
	for corner := range 1 << m.o.Dims {
		k, weight := i, 1.0
		for d := range m.o.Dims {
			if corner>>d&1 == 1 {
				k[d]++
				weight *= w[d]
			} else {
				weight *= 1 - w[d]
			}
		}
		if m.o.Dims == 2 { // what the GPU does beside the guide: see TestFetchesAreTheGPUs
			both := math.Round(w[0]*w[1]*256) / 256
			weight = [4]float64{1 - w[0] - w[1] + both, w[0] - both, w[1] - both, both}[corner]
		}
		v, _ := m.at(k, layer)
		for c := range v {
			number[c] += weight * v[c]
		}
	}
	return number, raw
}

// objects are textures of all kinds that Validate takes, small ones.
func objects() []Object {
	var list []Object
	for _, elem := range []ir.Type{ir.F32, ir.F16, ir.U8, ir.S8, ir.U16, ir.S16, ir.U32, ir.S32} {
		for _, channels := range []int{1, 2, 4} {
			for dims := 1; dims <= 3; dims++ {
				for flags := range 16 {
					o := Object{Elem: elem, Channels: channels, Dims: dims, Size: [3]int{1, 1, 1}, Filter: flags&1 != 0, Normalized: flags&2 != 0, ReadNormalized: flags&4 != 0}
					for d := range dims {
						o.Size[d] = 3 + 2*d
					}
					if flags&8 != 0 {
						o.Layers = 3
					}
					list = append(list, o)
				}
			}
		}
	}
	return list
}

// Fetches of every dimension, mode, filter and format give what the Programming Guide's formulas do.
func TestFetchAsGuide(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	tried := 0
	for _, o := range objects() {
		if o.Validate() != nil {
			continue
		}
		tried++
		for range 4 {
			for d := range o.Dims {
				o.Modes[d] = Mode(rng.IntN(4))
			}
			m := randomImage(rng, &o)
			for range 20 {
				m.check(t, rng)
			}
		}
	}
	if tried < 150 {
		t.Errorf("%d kinds of texture were tried", tried)
	}
}

func (m *image) check(t *testing.T, rng *rand.Rand) {
	o := m.o
	var at [3]float32
	for d := range o.Dims {
		at[d] = (rng.Float32()*5 - 2) * float32(o.Size[d]) // from two sizes before to two behind
		if o.Normalized {
			at[d] /= float32(o.Size[d])
		}
	}
	layer := 0
	if o.Layers > 0 {
		layer = rng.IntN(o.Layers)
	}
	var f Fetch
	o.Sample(&f, &at, layer, false)
	got := o.Value(&f, func(x *Texel) []byte {
		n := int(o.Index(x.X, x.Y, x.Z, f.Layer)) * o.Texel()
		return m.bytes[n : n+o.Texel()]
	})
	number, raw := m.reference(at, layer)
	for c := range o.Channels {
		if !o.Filter && !o.ReadNormalized {
			if got[c] != raw[c] {
				t.Fatalf("%+v at %v layer %d, channel %d: %#x, want %#x", *o, at, layer, c, got[c], raw[c])
			}
			continue
		}
		if v := float64(math.Float32frombits(got[c])); math.Abs(v-number[c]) > 1e-4*math.Max(1, math.Abs(number[c])) {
			t.Fatalf("%+v at %v layer %d, channel %d: %v, want %v", *o, at, layer, c, v, number[c])
		}
	}
}

// Every byte of an array has a place of its own in its tiles, within what the array takes; a sector is 16 bytes by 2 rows.
func TestPlacesAreDistinct(t *testing.T) {
	for _, o := range []Object{
		{Elem: ir.F32, Channels: 1, Dims: 2, Size: [3]int{37, 19, 1}},
		{Elem: ir.F32, Channels: 4, Dims: 2, Size: [3]int{9, 130, 1}, Layers: 2},
		{Elem: ir.U8, Channels: 1, Dims: 3, Size: [3]int{70, 9, 3}},
		{Elem: ir.U16, Channels: 2, Dims: 1, Size: [3]int{100, 1, 1}, Layers: 3},
		{Elem: ir.U8, Channels: 4, Dims: 2, Size: [3]int{16, 5, 1}, Linear: true},
	} {
		o.Address = 1 << 20
		seen := map[uint64]bool{}
		for layer := range max(o.Layers, 1) {
			for z := range o.Size[2] {
				for y := range o.Size[1] {
					for x := range o.Size[0] * o.Texel() {
						p := o.Place(x, y, z, layer)
						if seen[p] || p < o.Address || p >= o.Address+o.Bytes() {
							t.Fatalf("%+v: byte %d, %d, %d of layer %d is at %#x of %#x: taken: %v", o, x, y, z, layer, p, o.Bytes(), seen[p])
						}
						seen[p] = true
					}
				}
			}
		}
	}
	o := Object{Elem: ir.F32, Channels: 1, Dims: 2, Size: [3]int{64, 64, 1}}
	lines, sectors := map[uint64]bool{}, map[uint64]bool{}
	for y := range 4 {
		for x := range 32 { // bytes
			lines[o.Place(x, y, 0, 0)/128] = true
			if x < 16 && y < 2 {
				sectors[o.Place(x, y, 0, 0)/32] = true
			}
		}
	}
	if len(lines) != 1 || len(sectors) != 1 {
		t.Errorf("32 bytes by 4 rows lie in %d lines, 16 bytes by 2 rows in %d sectors", len(lines), len(sectors))
	}
}

// What the driver refuses is refused.
func TestValidateRefuses(t *testing.T) {
	good := Object{Elem: ir.F32, Channels: 1, Dims: 2, Size: [3]int{64, 64, 1}}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Object){
		"doubles":              func(o *Object) { o.Elem = ir.F64 },
		"three channels":       func(o *Object) { o.Channels = 3 },
		"four dimensions":      func(o *Object) { o.Dims = 4 },
		"no texels":            func(o *Object) { o.Size[0] = 0 },
		"too wide":             func(o *Object) { o.Size[0] = 131073 },
		"layers in three":      func(o *Object) { o.Dims, o.Layers = 3, 2 },
		"filtered integers":    func(o *Object) { o.Elem, o.Filter = ir.U8, true },
		"normalised floats":    func(o *Object) { o.ReadNormalized = true },
		"filtered linear 1D":   func(o *Object) { o.Dims, o.Size[1], o.Linear, o.Filter = 1, 1, true, true },
		"pitch":                func(o *Object) { o.Linear, o.Size[0] = true, 65 },
		"surface over pointer": func(o *Object) { o.Linear, o.Surface = true, true },
	} {
		o := good
		if change(&o); o.Validate() == nil {
			t.Errorf("%s: taken: %s", name, fmt.Sprint(o))
		}
	}
}
