package exec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
)

// fused is x*y + z rounded once to single precision: the sum rounds to odd first.
func fused(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	back := s - p
	if e := (p - (s - back)) + (c - back); e != 0 {
		if b := math.Float64bits(s); b&1 == 0 && !math.IsInf(s, 0) {
			if (e > 0) == (s > 0) {
				b++
			} else {
				b--
			}
			s = math.Float64frombits(b)
		}
	}
	return float32(s)
}

// inLine is the division that machine code has in line, given a reciprocal that is off
// by up to one unit.
func inLine(a, b float32, off int32) float32 {
	r := math.Float32frombits(uint32(int32(math.Float32bits(1/b)) + off))
	r = fused(r, fused(-b, r, 1), r)
	q := fused(a, r, 0)
	return fused(r, fused(-b, q, a), q)
}

// What is taken to need no slow path is divided exactly without.
func TestCodeInLineDividesWhatItIsGiven(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
	in := &ir.Instr{Op: ir.Div, Type: ir.F32}
	served := 0
	for range 300_000 {
		a, b := r.Uint32(), r.Uint32()
		if r.IntN(2) == 0 { // quotients near the ends of the range
			b = b&0x807fffff | uint32(min(max(int(a>>23&0xff)+[]int{-127, 126}[r.IntN(2)]+r.IntN(5)-2, 0), 255))<<23
		}
		if slowPath(in, uint64(a), uint64(b)) != ir.PathEntered {
			continue
		}
		served++
		x, y := math.Float32frombits(a), math.Float32frombits(b)
		if got := inLine(x, y, int32(r.IntN(3)-1)); got != x/y {
			t.Fatalf("seed %d: %g / %g is %g in line, not %g", seed, x, y, got, x/y)
		}
	}
	if served < 100_000 {
		t.Errorf("only %d of 300,000 divisions in line", served)
	}
}

func TestSlowPaths(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		op   ir.Op
		a, b float64
		want ir.Path
	}{
		{ir.Div, 3, 7, ir.PathEntered},
		{ir.Div, 0, 0, ir.PathUndefined},
		{ir.Div, inf, inf, ir.PathUndefined},
		{ir.Div, math.NaN(), 1, ir.PathUndefined},
		{ir.Div, 0, 5, ir.PathLimit},
		{ir.Div, 5, 0, ir.PathLimit},
		{ir.Div, 5, inf, ir.PathLimit},
		{ir.Rcp, 0, 0, ir.PathLimit},
		{ir.Rcp, 7, 0, ir.PathEntered},
		{ir.Sqrt, 7, 0, ir.PathEntered},
		{ir.Sqrt, 0, 0, ir.PathLimit},
		{ir.Sqrt, -1, 0, ir.PathUndefined},
	} {
		if got := slowPath(&ir.Instr{Op: c.op, Type: ir.F64}, math.Float64bits(c.a), math.Float64bits(c.b)); got != c.want {
			t.Errorf("%v of doubles %g and %g: path %d, want %d", c.op, c.a, c.b, got, c.want)
		}
		if got := slowPath(&ir.Instr{Op: c.op, Type: ir.F32}, uint64(math.Float32bits(float32(c.a))), uint64(math.Float32bits(float32(c.b)))); got != c.want {
			t.Errorf("%v of floats %g and %g: path %d, want %d", c.op, c.a, c.b, got, c.want)
		}
	}
	div := &ir.Instr{Op: ir.Div, Type: ir.F64}
	for _, c := range []struct {
		a, b float64
		want ir.Path
	}{{1.9e-292, 1, ir.PathScaled}, {2.1e-292, 1, ir.PathEntered}, {1e-290, 1e30, ir.PathTiny}} {
		if got := slowPath(div, math.Float64bits(c.a), math.Float64bits(c.b)); got != c.want {
			t.Errorf("%g / %g: path %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
