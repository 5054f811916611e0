package tensormap

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
)

// randomMap is a valid map of a small tensor.
func randomMap(r *rand.Rand) Map {
	m := Map{Address: 1<<20 + 16*r.Uint64N(1000), Elem: []Elem{U8, F16, F32, S64, BF16, TF32}[r.IntN(6)], Rank: 1 + r.IntN(MaxRank)}
	m.FillNaN = m.Elem.IsFloat() && r.IntN(2) == 0
	per := max(1, 16/m.Elem.Bytes())
	m.Swizzle = []int{0, 32, 64, 128}[r.IntN(4)]
	for i := range m.Rank {
		m.Shape[i], m.Box[i], m.ElementStrides[i] = uint32(1+r.IntN(9)), 1+r.IntN(3), 1+r.IntN(2)
	}
	m.Shape[0] = uint32(1 + r.IntN(4*per))
	m.Box[0] = per * (1 + r.IntN(2)) * m.ElementStrides[0]
	if m.Box[0] > maxBox {
		m.Box[0], m.ElementStrides[0] = per, 1
	}
	pitch := uint64(m.Shape[0]) * uint64(m.Elem.Bytes())
	for i := 1; i < m.Rank; i++ {
		pitch = (pitch+15)&^15 + 16*r.Uint64N(2)
		m.Strides[i-1] = pitch
		pitch *= uint64(m.Shape[i])
	}
	return m
}

// elements lists the elements of a box, written as the definition reads.
func elements(m *Map, at [MaxRank]int32) (addrs []uint64, inside []bool) {
	n, step := [MaxRank]int{1, 1, 1, 1, 1}, [MaxRank]int{1, 1, 1, 1, 1}
	shape := [MaxRank]int{1, 1, 1, 1, 1}
	for i := range m.Rank {
		step[i], shape[i] = m.ElementStrides[i], int(m.Shape[i])
		for n[i] = 0; n[i]*step[i] < m.Box[i]; n[i]++ {
		}
	}
	for e := range n[4] {
		for d := range n[3] {
			for c := range n[2] {
				for b := range n[1] {
					for a := range n[0] {
						x := [MaxRank]int{a, b, c, d, e}
						addr, in := m.Address, true
						for i := range m.Rank {
							x[i] = int(at[i]) + x[i]*step[i]
							in = in && x[i] >= 0 && x[i] < shape[i]
							if i == 0 {
								addr += uint64(x[i] * m.Elem.Bytes())
							} else {
								addr += uint64(x[i]) * m.Strides[i-1]
							}
						}
						addrs, inside = append(addrs, addr), append(inside, in)
					}
				}
			}
		}
	}
	return addrs, inside
}

// TestBoxes compares elements and ranges of random boxes with the definition.
func TestBoxes(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 2000 {
		m := randomMap(r)
		b := m.Encode()
		var got Map
		if err := got.Decode(b[:]); err != nil {
			t.Fatalf("%+v: %v", m, err)
		}
		if got != m {
			t.Fatalf("decoded %+v of %+v", got, m)
		}
		var at [MaxRank]int32
		for i := range m.Rank {
			at[i] = int32(r.IntN(int(m.Shape[i])+6) - 3)
		}
		addrs, inside := elements(&m, at)
		if len(addrs)*m.Elem.Bytes() != m.BoxBytes() {
			t.Fatalf("%d bytes, want %d", m.BoxBytes(), len(addrs)*m.Elem.Bytes())
		}
		covered := make([]bool, len(addrs))
		m.EachRun(&at, func(addr uint64, bytes, offset int) {
			for b := 0; b < bytes; b += m.Elem.Bytes() {
				n := (offset + b) / m.Elem.Bytes()
				if covered[n] || !inside[n] || addr+uint64(b) != addrs[n] {
					t.Fatalf("%+v at %v: element %d is run at %#x, want %#x %v", m, at, n, addr+uint64(b), addrs[n], inside[n])
				}
				covered[n] = true
			}
		})
		if !slices.Equal(covered, inside) {
			t.Fatalf("%+v at %v: runs cover %v, want %v", m, at, covered, inside)
		}
		var want, have []uint64
		for i, a := range addrs {
			if inside[i] {
				for b := range m.Elem.Bytes() {
					want = append(want, a+uint64(b))
				}
			}
		}
		ranges := m.AppendRanges(nil, &at)
		for i, x := range ranges {
			if i > 0 && ranges[i-1].Addr+uint64(ranges[i-1].Bytes) == x.Addr {
				t.Fatalf("ranges %v are not merged", ranges)
			}
			for b := range x.Bytes {
				have = append(have, x.Addr+uint64(b))
			}
		}
		if !slices.Equal(have, want) {
			t.Fatalf("%+v at %v: ranges %v", m, at, ranges)
		}
	}
}

// TestFillFieldByField makes a map of zeros and sets its fields one after the other.
func TestFillFieldByField(t *testing.T) {
	var b [Bytes]byte
	want := Map{Address: 4096, Elem: F16, Rank: 2, Shape: [5]uint32{512, 100}, Strides: [4]uint64{1024}, Box: [5]int{64, 8}, ElementStrides: [5]int{1, 1}, Swizzle: 128}
	type step struct {
		field   ir.MapField
		ordinal int
		v       uint64
	}
	steps := []step{{ir.MapAddress, 0, 4096}, {ir.MapRank, 0, 1}, {ir.MapElement, 0, 6}, {ir.MapInterleave, 0, 0}, {ir.MapSwizzle, 0, 3}, {ir.MapFill, 0, 0},
		{ir.MapShape, 0, 512}, {ir.MapShape, 1, 100}, {ir.MapStride, 0, 1024}, {ir.MapBox, 0, 64}, {ir.MapBox, 1, 8}, {ir.MapElementStride, 0, 1}, {ir.MapElementStride, 1, 1}}
	var m Map
	for _, s := range steps {
		if err := m.Decode(b[:]); err == nil {
			t.Fatalf("before field %d %d: decoded", s.field, s.ordinal)
		}
		if err := Set(b[:], s.field, s.ordinal, s.v); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Decode(b[:]); err != nil || m != want {
		t.Errorf("%+v, %v, want %+v", m, err, want)
	}
}

// TestBadMaps refuses what is no map.
func TestBadMaps(t *testing.T) {
	valid := Map{Address: 4096, Elem: F16, Rank: 1, Shape: [5]uint32{512}, Box: [5]int{64}, ElementStrides: [5]int{1}}
	for text, change := range map[string]func(*Map){
		"address":     func(m *Map) { m.Address = 8 },
		"interleave":  func(m *Map) { m.Interleave = 16 },
		"rank 0":      func(m *Map) { m.Rank = 0 },
		"boxes of 0":  func(m *Map) { m.Box[0] = 0 },
		"rows of 2":   func(m *Map) { m.Box[0] = 1 },
		"at most 32":  func(m *Map) { m.Swizzle = 32 },
		"without ele": func(m *Map) { m.Shape[0] = 0 },
		"NaN":         func(m *Map) { m.Elem, m.FillNaN = U16, true },
	} {
		m := valid
		change(&m)
		b := m.Encode()
		if err := m.Decode(b[:]); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	b := valid.Encode()
	b[0]++
	var m Map
	if m.Decode(b[:]) == nil || Set(b[:], ir.MapRank, 0, 1) == nil || m.Decode(b[:64]) == nil {
		t.Error("bytes that are no map are taken for one")
	}
	var zeros [Bytes]byte
	if m.Decode(zeros[:]) == nil {
		t.Error("a map of zeros is complete")
	}
}

// FuzzDecode checks that no bytes make decoding, boxes and their sizes panic.
func FuzzDecode(f *testing.F) {
	m := Map{Address: 4096, Elem: F16, Rank: 1, Shape: [5]uint32{512}, Box: [5]int{64}, ElementStrides: [5]int{1}}
	b := m.Encode()
	f.Add(b[:])
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Map
		if m.Decode(b) == nil && m.BoxBytes() < 1<<16 {
			m.AppendRanges(nil, &[MaxRank]int32{-1, 5, 1 << 30, 0, 0})
		}
	})
}

// TestSwizzle compares with the patterns of the PTX ISA: chunk c of line r lies at c^r.
func TestSwizzle(t *testing.T) {
	for _, s := range []struct{ bytes, lines int }{{128, 8}, {64, 4}, {32, 2}} {
		for line := range 16 { // of 128 bytes
			for chunk := range 8 {
				addr := uint32(128*line + 16*chunk)
				want := uint32(128*line + 16*(chunk^line%s.lines))
				if got := Swizzle(addr+5, s.bytes); got != want+5 {
					t.Errorf("swizzle %d of %d: %d, want %d", s.bytes, addr, got, want+5)
				}
			}
		}
	}
	if Swizzle(0x12345, 0) != 0x12345 {
		t.Error("no swizzle moves bytes")
	}
}
