package search

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// shape is a space of the kind tuners are compared on, with its published
// number of configurations.
type shape struct {
	name        string
	params      []Param
	constraints []string
	cartesian   int64
	valid       int64
}

func span(from, to, step int64) []Value {
	var vs []Value
	for i := from; i <= to; i += step {
		vs = append(vs, OfInt(i))
	}
	return vs
}

// shapes have the parameters and conditions of spaces published for
// convolution, dedispersion, GEMM and HotSpot kernels (Willemsen et al.,
// ICPP'25, and the BAT benchmark suite).
func shapes() []shape {
	on := Ints(0, 1)
	return []shape{
		{"convolution", []Param{
			{"block_x", span(16, 256, 16)}, {"block_y", Ints(1, 2, 4, 8, 16)}, {"tile_x", span(1, 4, 1)}, {"tile_y", span(1, 4, 1)},
			{"read_only", on}, {"padding", on}, {"shared", on}, {"constant", Ints(1)}, {"height", Ints(15)}, {"width", Ints(15)},
		}, []string{
			"padding==0 or block_x % 32 != 0", "block_x*block_y <= 1024", "padding==0 or shared != 0",
			"shared == 0 or (((block_x*tile_x+(width-1)))*((block_y*tile_y+(height-1)))) < 12*1024",
		}, 10240, 4362},
		{"dedispersion", []Param{
			{"block_x", Ints(1, 2, 4, 8, 16, 32)}, {"block_y", span(32, 256, 8)}, {"block_z", Ints(1)}, {"tile_x", span(1, 4, 1)},
			{"tile_y", span(1, 8, 1)}, {"stride_x", on}, {"stride_y", on}, {"unroll", Ints(0)},
		}, []string{"32 <= block_x*block_y <= 1024", "tile_x > 1 or stride_x == 0", "tile_y > 1 or stride_y == 0"}, 22272, 11130},
		{"gemm", []Param{
			{"GEMMK", Ints(0)}, {"MWG", Ints(16, 32, 64, 128)}, {"NWG", Ints(16, 32, 64, 128)}, {"KWG", Ints(16, 32)},
			{"MDIMC", Ints(8, 16, 32)}, {"NDIMC", Ints(8, 16, 32)}, {"MDIMA", Ints(8, 16, 32)}, {"NDIMB", Ints(8, 16, 32)}, {"KWI", Ints(2)},
			{"VWM", Ints(1, 2, 4, 8)}, {"VWN", Ints(1, 2, 4, 8)}, {"STRM", on}, {"STRN", on}, {"SA", on}, {"SB", on}, {"KREG", Ints(1)}, {"PRECISION", Ints(32)},
		}, []string{
			"KWG % KWI == 0", "MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0", "MWG % (MDIMA * VWM) == 0", "NWG % (NDIMB * VWN) == 0",
			"KWG % ((MDIMC * NDIMC)/MDIMA) == 0", "KWG % ((MDIMC * NDIMC)/NDIMB) == 0", "not (MWG == 128 and NWG == 128 and MDIMC == 8 and NDIMC == 8)",
		}, 663552, 116928},
		{"hotspot", []Param{
			{"width", Ints(4096)}, {"height", Ints(4096)}, {"block_x", append(Ints(1, 2, 4, 8, 16), span(32, 1024, 32)...)}, {"block_y", Ints(1, 2, 4, 8, 16, 32)},
			{"tile_x", span(1, 10, 1)}, {"tile_y", span(1, 10, 1)}, {"temporal", span(1, 10, 1)}, {"max_t", Ints(10)}, {"unroll", span(1, 10, 1)}, {"power", on},
		}, []string{
			"block_x*block_y >= 32", "temporal % unroll == 0", "block_x*block_y <= 1024",
			"(block_x*tile_x + temporal * 2) * (block_y*tile_y + temporal * 2) * (2+power) * 4 <= 49152",
		}, 4440000, 82984},
	}
}

// build is a shape's space; parsing is part of what a tuner does, so it is
// measured too.
func (s shape) build(t testing.TB) *Space {
	sp, err := New(s.params, constraints(t, s.constraints...))
	if err != nil {
		t.Fatal(err)
	}
	if sp.Size() != s.valid || sp.Cartesian() != s.cartesian {
		t.Fatalf("%s: %d of %d, want %d of %d", s.name, sp.Size(), sp.Cartesian(), s.valid, s.cartesian)
	}
	return sp
}

func TestPublishedSizes(t *testing.T) {
	for _, s := range shapes() {
		sp := s.build(t)
		nodes, edges := sp.Nodes()
		t.Logf("%s: %d configurations in %d nodes, %d edges", s.name, sp.Size(), nodes, edges)
		r := rand.New(rand.NewPCG(1, 2))
		for _, i := range sp.Sample(r, 200) {
			if err := sp.Check(sp.At(i)); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		}
	}
}

// BenchmarkIndexed builds the lazily indexed space.
func BenchmarkIndexed(b *testing.B) {
	for _, s := range shapes() {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				s.build(b)
			}
		})
	}
}

// BenchmarkMaterialised builds the space and the list of all configurations,
// as rows of value numbers.
func BenchmarkMaterialised(b *testing.B) {
	for _, s := range shapes() {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				sp := s.build(b)
				list := make([]int32, 0, sp.Size()*int64(len(s.params)))
				for _, digits := range sp.AllDigits() {
					list = append(list, digits...)
				}
			}
		})
	}
}

// BenchmarkValues is BenchmarkMaterialised with rows of values.
func BenchmarkValues(b *testing.B) {
	for _, s := range shapes() {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				sp := s.build(b)
				list := make([]Value, 0, sp.Size()*int64(len(s.params)))
				for _, c := range sp.All() {
					list = append(list, c.Values...)
				}
			}
		})
	}
}

// BenchmarkTenMillion builds a space of ten million valid configurations.
func BenchmarkTenMillion(b *testing.B) {
	var params []Param
	for i := range 10 {
		params = append(params, Param{fmt.Sprintf("p%d", i), Ints(1, 2, 3, 4, 6, 8)})
	}
	cs := constraints(b, "p0*p1*p2*p3 <= 200", "p4 % p5 == 0 or p9 > 1", "p3+p6+p9 <= 14")
	for b.Loop() {
		s, err := New(params, cs)
		if err != nil || s.Size() < 1e7 {
			b.Fatal(s.Size(), err)
		}
	}
}

func BenchmarkAt(b *testing.B) {
	s := shapes()[3].build(b)
	digits := make([]int, 0, len(s.params))
	r := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		digits = s.Digits(r.Int64N(s.size), digits[:0])
	}
}

func BenchmarkNeighbours(b *testing.B) {
	s := shapes()[3].build(b)
	for _, n := range []Neighbourhood{Hamming, Adjacent, StrictlyAdjacent} {
		b.Run(n.String(), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			found := 0
			for b.Loop() {
				for range s.Neighbours(r.Int64N(s.size), n) {
					found++
				}
			}
			b.ReportMetric(float64(found)/float64(b.N), "neighbours/op")
		})
	}
}
