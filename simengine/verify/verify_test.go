package verify

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// Corners are the CTAs at which each axis is at an end, and nothing else.
func TestCorners(t *testing.T) {
	for _, c := range []struct {
		grid [3]int
		want []int64
	}{
		{[3]int{1, 1, 1}, []int64{0}},
		{[3]int{7, 1, 1}, []int64{0, 6}},
		{[3]int{1, 3, 1}, []int64{0, 2}},
		{[3]int{4, 3, 1}, []int64{0, 3, 8, 11}},
		{[3]int{2, 2, 2}, []int64{0, 1, 2, 3, 4, 5, 6, 7}},
		{[3]int{5, 1, 2}, []int64{0, 4, 5, 9}},
	} {
		if got := Corners(c.grid); !slices.Equal(got, c.want) {
			t.Errorf("corners of %v: %v, want %v", c.grid, got, c.want)
		}
	}
}

// A place lies at the same share of each axis of any grid, and within it.
func TestPlacesAreShares(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for k := range 200 {
		fine := [3]int{1 << 20, 1 << 12, 1 << 10}
		at := axes(Place(seed, k, fine), fine)
		for _, grid := range [][3]int{{1, 1, 1}, {3, 5, 7}, {1000, 1, 64}} {
			got := axes(Place(seed, k, grid), grid)
			for axis := range 3 {
				least, most := at[axis]*grid[axis]/fine[axis], min((at[axis]+1)*grid[axis]/fine[axis], grid[axis]-1)
				if got[axis] < least || got[axis] > most {
					t.Fatalf("place %d of %v: axis %d at %d, want %d to %d", k, grid, axis, got[axis], least, most)
				}
			}
		}
	}
}

func axes(id int64, grid [3]int) (at [3]int) {
	for axis, n := range grid {
		at[axis] = int(id % int64(n))
		id /= int64(n)
	}
	return at
}

func floats(first int64, values ...float32) Run {
	r := Run{First: first}
	for _, v := range values {
		r.Bytes = binary.LittleEndian.AppendUint32(r.Bytes, math.Float32bits(v))
	}
	return r
}

// Outputs are compared on the elements that both have, each within what its type is exact to.
func TestCompare(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, c := range map[string]struct {
		a, b      []Run
		tolerance float64
		n, index  int64 // index -1: they agree
	}{
		"the same":            {[]Run{floats(3, 1, 2, 3)}, []Run{floats(3, 1, 2, 3)}, 0, 3, -1},
		"nothing in common":   {[]Run{floats(0, 1, 2)}, []Run{floats(2, 3)}, 0, 0, -1},
		"runs cut otherwise":  {[]Run{floats(0, 1, 2, 3, 4), floats(6, 7)}, []Run{floats(0, 1), floats(2, 3, 4), floats(5, 9, 7)}, 0, 4, -1},
		"one differs":         {[]Run{floats(0, 1, 2, 3)}, []Run{floats(1, 2, 4)}, 0, 2, 2},
		"rounding":            {[]Run{floats(0, 1, 1000)}, []Run{floats(0, 1, 1000.01)}, 0, 2, -1},
		"cancellation":        {[]Run{floats(0, 1, 1e-6)}, []Run{floats(0, 1, -1e-6)}, 0, 2, -1},
		"beyond rounding":     {[]Run{floats(0, 1)}, []Run{floats(0, 1.001)}, 0, 1, 0},
		"a wider tolerance":   {[]Run{floats(0, 1)}, []Run{floats(0, 1.001)}, 0.01, 1, -1},
		"NaN equals NaN":      {[]Run{floats(0, nan, 1)}, []Run{floats(0, -nan, 1)}, 0, 2, -1},
		"NaN equals no other": {[]Run{floats(0, nan)}, []Run{floats(0, 1)}, 0, 1, 0},
		"infinity":            {[]Run{floats(0, inf)}, []Run{floats(0, inf)}, 0, 1, -1},
		"of another sign":     {[]Run{floats(0, inf)}, []Run{floats(0, -inf)}, 0, 1, 0},
	} {
		for range 2 { // whichever is compared with the other
			a := Output{Name: "x", Elem: ir.F32, Runs: c.a}
			b := Output{Name: "x", Elem: ir.F32, Runs: c.b}
			n, d := a.Compare(&b, c.tolerance)
			index := int64(-1)
			if d != nil {
				index = d.Index
			}
			if n != c.n || index != c.index {
				t.Errorf("%s: %d elements, %d differs (%+v), want %d and %d", name, n, index, d, c.n, c.index)
			}
			c.a, c.b = c.b, c.a
		}
	}
	one, other := Output{Elem: ir.S32, Runs: []Run{floats(0, 1)}}, Output{Elem: ir.S32, Runs: []Run{floats(0, 1)}}
	other.Runs[0].Bytes[0]++
	if _, d := one.Compare(&other, 0); d == nil || d.Got == d.Want {
		t.Errorf("integers that differ by one are compared as %+v", d)
	}
}

// What is stored is found again, whatever its width and wherever it begins; what atomics update and what two CTAs
// store is compared only where every CTA was executed, and what chance decides never.
func TestWrites(t *testing.T) {
	device := memory.New(0)
	b := memory.Buffer{Name: "b", Elem: ir.U16, Count: 5000, Fill: memory.Generated(func(i int64) float64 { return float64(i) })}
	base, err := device.Alloc(b)
	if err != nil {
		t.Fatal(err)
	}
	w := &Writes{pages: map[uint64]*written{}}
	w.Next()
	w.note(base+6, 2, plain)
	w.note(base+8, 8, plain)
	w.note(base+9000, 2, plain)
	w.note(base+32, 4, atomic)
	w.note(base+48, 2, chance)
	w.note(base+50, 1, plain) // half an element
	w.Next()
	w.note(base+9002, 2, plain)
	w.note(base+9000, 2, plain)
	for _, whole := range []bool{false, true} {
		if got := w.Output(Buffer{"b", ir.U16, b.Count, base}, device, whole); !got.Written {
			t.Error("nothing is said to be written")
		}
		out := w.Output(Buffer{"b", ir.U16, b.Count, base}, device, whole)
		var got []int64
		for _, r := range out.Runs {
			for e := r.First; e < r.end(2); e++ {
				got = append(got, e)
				if v := r.at(e, 2); v != uint64(e) {
					t.Errorf("element %d is %d", e, v)
				}
			}
		}
		want, updated := []int64{3, 4, 5, 6, 7, 4501}, int64(3)
		if whole {
			want, updated = nil, 0
			for i := range b.Count {
				if i != 24 { // by chance
					want = append(want, i)
				}
			}
		}
		if !slices.Equal(got, want) || out.Updated != updated || out.Chance != 1 {
			t.Errorf("whole %v: elements %v, %d updated, %d by chance; want %v, %d, 1", whole, got, out.Updated, out.Chance, want, updated)
		}
	}
}
